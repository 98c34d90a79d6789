"""What sage_attention is compared with: one module a library, each telling what it lacks."""

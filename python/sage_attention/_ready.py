"""Importing this module loads the op libraries, or raises the error that says what is missing."""

from ._library import load

LIBRARIES = load()

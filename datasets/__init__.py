"""Data sets: a registry of public files with checksums, readers, and generators of twins."""

from . import generators
from .dataset import Dataset, load
from .download import DownloadError
from .registry import REGISTRY
from .splits import random_split
from .store import cache_dir

__all__ = [
    "REGISTRY",
    "Dataset",
    "DownloadError",
    "cache_dir",
    "generators",
    "load",
    "random_split",
]

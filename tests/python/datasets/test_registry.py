"""The registry: complete entries, safe paths."""

from __future__ import annotations

from pathlib import Path

from sage_attention.datasets import REGISTRY, readers


def test_registry_is_complete() -> None:
    assert list(REGISTRY) == ["cora", "citeseer", "photo", "cs", "minesweeper", "gowalla", "digits"]
    for entry in REGISTRY.values():
        assert entry.licence
        assert callable(getattr(readers, entry.reader))
        for file in entry.files:
            source = file.made_from or file
            assert source.url.startswith("https://")
            assert len(file.sha256) == len(source.sha256) == 64
            assert not Path(file.path).is_absolute()
            assert ".." not in file.path

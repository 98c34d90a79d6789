"""Reads what the tests want to know of a 64-bit little-endian ELF file, without binutils."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

LOCAL, GLOBAL, WEAK, UNIQUE = 0, 1, 2, 10  # symbol bindings
OBJECT, FUNC = 1, 2  # symbol types
_SHT_SYMTAB, _SHT_DYNAMIC, _SHT_DYNSYM = 2, 6, 11
_DT_NEEDED, _DT_RPATH, _DT_RUNPATH = 1, 15, 29


@dataclass(frozen=True)
class Section:
    name: str
    kind: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Symbol:
    name: str
    binding: int
    kind: int
    defined: bool


class ElfFile:
    """The sections of a file, and what lies in them."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is no 64-bit little-endian ELF file")
        (start,) = struct.unpack_from("<Q", self.data, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.data, 0x3A)
        if count == 0:  # more than 65279 sections: the numbers are in the first one
            (count,) = struct.unpack_from("<Q", self.data, start + 0x20)
        if names == 0xFFFF:
            (names,) = struct.unpack_from("<I", self.data, start + 0x28)
        raw = [struct.unpack_from("<IIQQQQI", self.data, start + i * size) for i in range(count)]
        table = raw[names][4]
        self.sections = [
            Section(self._string(table + name), kind, offset, length, link)
            for name, kind, _, _, offset, length, link in raw
        ]

    def needed(self) -> list[str]:
        """Names of the libraries that the file asks the loader for."""
        return self._dynamic(_DT_NEEDED)

    def search_paths(self) -> list[str]:
        """RPATH and RUNPATH."""
        return self._dynamic(_DT_RPATH) + self._dynamic(_DT_RUNPATH)

    def symbols(self, *, dynamic: bool = False) -> list[Symbol]:
        found = []
        for section in self.sections:
            if section.kind != (_SHT_DYNSYM if dynamic else _SHT_SYMTAB):
                continue
            strings = self.sections[section.link].offset
            for at in range(section.offset, section.offset + section.size, 24):
                name, info, _, index = struct.unpack_from("<IBBH", self.data, at)
                found.append(Symbol(self._string(strings + name), info >> 4, info & 15, index != 0))
        return found

    def read_only_strings(self) -> set[str]:
        """Every zero-terminated string in the constant data."""
        found: set[str] = set()
        for section in self.sections:
            if section.name.startswith(".rodata"):
                bytes_ = self.data[section.offset : section.offset + section.size]
                found.update(part.decode("latin-1") for part in bytes_.split(b"\0") if part)
        return found

    def _dynamic(self, tag: int) -> list[str]:
        found = []
        for section in self.sections:
            if section.kind != _SHT_DYNAMIC:
                continue
            strings = self.sections[section.link].offset
            for at in range(section.offset, section.offset + section.size, 16):
                key, value = struct.unpack_from("<qQ", self.data, at)
                if key == tag:
                    found.append(self._string(strings + value))
        return found

    def _string(self, offset: int) -> str:
        return self.data[offset : self.data.index(b"\0", offset)].decode("latin-1")

"""The text of the project names no machine's paths, registry hosts, tickets or unfinished work."""

from __future__ import annotations

import re
from pathlib import Path

from repo_files import CODE, FOLDERS, files, text, top_files

SUFFIXES = (*CODE, ".md", ".toml", ".json", ".txt", ".yml", ".yaml")
# Spelled in pieces, so that this file passes its own test.
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.])/(?:work|tm" + r"p|root|home)/[\w.]"),
    "a registry's host": re.compile(
        r"\b(?:pypi|pythonhosted|deb\.debian|archive\.ubuntu|registry\.npmjs)\." + r"(?:org|com)\b"
    ),
    "a ticket": re.compile(r"\bissues? (?:no\. ?)?#?\d|(?<![\w&/#])#\d{1,5}\b(?![\w-])", re.I),
    "unfinished work": re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b"),
}


def text_files() -> list[Path]:
    found = [*files(*FOLDERS), *top_files()]
    return [p for p in found if p.suffix in SUFFIXES or p.name in ("Makefile", "run", "LICENSE")]


def test_words() -> None:
    bad = [
        f"{path}:{number}: {what}: {line.strip()}"
        for path in text_files()
        for number, line in enumerate(text(path).splitlines(), 1)
        for what, pattern in FORBIDDEN.items()
        if pattern.search(line)
    ]
    assert bad == []

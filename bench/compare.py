"""Compares two result files: `python bench/compare.py A.json B.json` prints each figure's B / A."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from harness import results
from harness.timing import ratio


def rows(a: dict[str, Any], b: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """(case, what, A, B, B / A) for everything that either file has."""
    left, right = _flat(a), _flat(b)
    out = []
    for case, what in left | right:
        x, y = left.get((case, what)), right.get((case, what))
        change = ratio(y, x)
        shown = "-" if change is None else f"{change:.3f}"
        out.append((case, what, results.show_ms(x), results.show_ms(y), shown))
    return out


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """What makes the two runs unlike each other, apart from the code."""
    left, right = ({"quick": x["quick"]} | x["environment"] for x in (a, b))
    keys = [key for key in left if left[key] != right.get(key)]
    return [f"{key}: {left[key]} -> {right.get(key)}" for key in keys]


def _flat(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (case["name"], what): measurement
        for case in document["cases"]
        for what, measurement in results.measurements(case).items()
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Ratios of two result files, B / A; below 1: faster."
    )
    parser.add_argument("a", type=Path)
    parser.add_argument("b", type=Path)
    options = parser.parse_args(arguments)
    try:
        a, b = results.read(options.a), results.read(options.b)
        kinds = [f"{x['suite']} on {x['device']}" for x in (a, b)]
        if kinds[0] != kinds[1]:
            raise ValueError(f"{options.a} is of {kinds[0]}, {options.b} of {kinds[1]}")
    except (OSError, ValueError) as error:
        parser.exit(2, f"compare.py: error: {error}\n")
    print(
        f"A: {options.a} ({a['commit']}, {a['date']})\nB: {options.b} ({b['commit']}, {b['date']})"
    )
    for line in differences(a, b):
        print(f"environments differ in {line}")
    print(results.table(("case", "what", "A ms", "B ms", "B / A"), rows(a, b)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

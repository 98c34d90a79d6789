"""Result files: how they are written, read, flattened and printed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

FORMAT = 1
FIELDS = {
    "suite": str, "device": str, "quick": bool, "date": str, "commit": str, "environment": dict,
    "cases": list,
}  # fmt: skip
Document = dict[str, Any]


def write(path: Path, document: Document) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")  # an interruption leaves no half file
    part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    os.replace(part, path)


def read(path: Path) -> Document:
    """Reads a result file; ValueError names a file that is none, or one of another format."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no result file: {error}") from error
    if not isinstance(document, dict) or "format" not in document:
        raise ValueError(f"{path} is no result file of bench/run.py")
    if document["format"] != FORMAT:
        raise ValueError(f"{path}: format {document['format']!r}, this reader knows {FORMAT}")
    for field, kind in FIELDS.items():
        if not isinstance(document.get(field), kind):
            raise ValueError(f"{path} is damaged: {field} is missing or no {kind.__name__}")
    if not all(_whole(case) for case in document["cases"]):
        raise ValueError(f"{path} is damaged: a case without a name or with other than figures")
    return document


def _whole(case: Any) -> bool:
    """Whether a case has a name, and a figure or a status for everything that it measured."""
    try:
        values = [m.get("median", 0.0) for m in measurements(case).values()]
    except (AttributeError, TypeError, ValueError):
        return False
    return isinstance(case.get("name"), str) and all(isinstance(v, (int, float)) for v in values)


def default_path(directory: Path, document: Document) -> Path:
    """One file a suite and machine: a newer run replaces the older one."""
    gpu = document["environment"]["gpu"] if document["device"] == "cuda" else None
    machine = re.sub(r"[^a-z0-9]+", "-", gpu["name"].lower()).strip("-") if gpu else "cpu"
    return directory / f"{document['suite']}-{machine}.json"


def measurements(case: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every measurement of a case under one flat name, "pyg_eager.forward" for baselines."""
    flat = dict(case.get("times_ms", {}))
    for key, value in case.get("preprocessing_ms", {}).items():
        flat[f"preprocessing.{key}"] = value
    for baseline, times in case.get("baselines", {}).items():
        for key, value in times.items():
            flat[f"{baseline}.{key}"] = value
    return flat


def goals_for(goals: dict[str, Any], which: str) -> dict[str, dict[str, float]]:
    """{"at_most": {key: bound}, "at_least": ...} of one case, from tables a graph or device."""
    out: dict[str, dict[str, float]] = {}
    for kind, bounds in goals.items():
        named = {k: b.get(which) if isinstance(b, dict) else b for k, b in bounds.items()}
        out[kind] = {k: b for k, b in named.items() if b is not None}
    return out


def show_goal(case: dict[str, Any], key: str) -> str:
    """ "goal <= 1.2, met", or nothing where no goal is stated for `key`."""
    value = case["derived"].get(key)
    for kind, sign in (("at_most", "<="), ("at_least", ">=")):
        bound = case.get("goals", {}).get(kind, {}).get(key)
        if bound is not None and value is not None:
            met = value <= bound if kind == "at_most" else value >= bound
            return f"goal {sign} {bound:.3g}, {'met' if met else 'missed'}"
    return ""


def show_ms(measurement: dict[str, Any] | None) -> str:
    """ "12.3", or why there is no figure."""
    if measurement is None:
        return "-"
    value = measurement.get("median")
    if value is None:
        return str(measurement.get("status", "-"))
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with aligned columns, readable as plain text too."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    out = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |"
           for line in lines]  # fmt: skip
    out.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(out)


def print_all(document: Document) -> str:
    """Every figure of a document with its spread, the ratios, and the goals beside them."""
    rows = []
    for case in document["cases"]:
        for key, m in measurements(case).items():
            spread = f"{m['min']:.3g} .. {m['max']:.3g}" if "min" in m else ""
            rows.append((case["name"], key, show_ms(m), spread))
    text = table(("case", "what", "median ms", "min .. max"), rows)
    return "\n".join([text, "", *_remarks(document)])


def _remarks(document: Document) -> Iterable[str]:
    for case in document["cases"]:
        name = case["name"]
        if case.get("wrong"):
            yield f"{name}: WRONG RESULT: {case['wrong']}"
        checked = ", ".join(
            f"{k} {v:.1e}" if isinstance(v, float) else f"{k}: {v}"
            for k, v in case.get("numerics", {}).items()
        )
        if checked:
            yield f"{name}: checked: {checked}"
        for key, value in case.get("derived", {}).items():
            if value is not None:
                goal = show_goal(case, key)
                yield f"{name}: {key} = {value:.3g}" + (f" ({goal})" if goal else "")

"""Result files: written and read back, flattened, and printed with their goals."""

import json

import pytest

from harness import results


def test_written_files_read_back(tmp_path, document):
    path = tmp_path / "new" / "a.json"
    results.write(path, document)
    assert results.read(path) == document
    assert [file.name for file in path.parent.iterdir()] == ["a.json"]


def test_another_format_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"format": 99}))
    with pytest.raises(ValueError, match="format 99, this reader knows 1"):
        results.read(path)


def test_one_file_a_suite_and_machine(tmp_path, document):
    assert results.default_path(tmp_path, document).name == "attention-some-gpu.json"
    document["device"] = "cpu"
    assert results.default_path(tmp_path, document).name == "attention-cpu.json"


def test_measurements_are_flattened(document):
    flat = results.measurements(document["cases"][0])
    assert flat["pyg_compiled.forward"]["median"] == 6.0
    assert flat["preprocessing.csr"]["median"] == 0.5
    assert len(flat) == 3 + 1 + 4


def test_goals_depend_on_the_graph():
    goals = {"at_most": {"a": {"arxiv": 1.6, "reddit": 1.2}, "b": 4.2}, "at_least": {"c": 5}}
    assert results.goals_for(goals, "reddit") == {
        "at_most": {"a": 1.2, "b": 4.2},
        "at_least": {"c": 5},
    }
    assert results.goals_for(goals, "other")["at_most"] == {"b": 4.2}


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("at_most", 1.5, "goal <= 2, met"),
        ("at_most", 2.5, "goal <= 2, missed"),
        ("at_least", 2.5, "goal >= 2, met"),
        ("at_least", 1.5, "goal >= 2, missed"),
        ("at_most", None, ""),
    ],
)
def test_goals_are_shown_and_not_asserted(kind, value, shown):
    assert results.show_goal({"derived": {"x": value}, "goals": {kind: {"x": 2}}}, "x") == shown


def test_the_printed_table_has_figures_spread_and_reasons(document):
    text = results.print_all(document)
    assert "| attention/cuda/arxiv | forward " in text
    assert "2.9 .. 3.1" in text
    assert "out of memory" in text
    assert "forward_over_gather = 1.5 (goal <= 1.6, met)" in text
    assert "pyg_eager_over_forward" not in text


def test_table_columns_are_aligned():
    lines = results.table(("a", "bbb"), [("x", "y"), ("long", "z")]).splitlines()
    assert lines == ["| a    | bbb |", "|------|-----|", "| x    | y   |", "| long | z   |"]

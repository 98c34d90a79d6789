"""compare.py: ratios of two result files."""

import copy

import pytest

import compare
from harness import results


def test_ratios_are_b_over_a(document):
    later = copy.deepcopy(document)
    later["cases"][0]["times_ms"]["forward"]["median"] = 1.5
    del later["cases"][0]["times_ms"]["gather_ceiling"]
    rows = {what: rest for _, what, *rest in compare.rows(document, later)}
    assert rows["forward"] == ["3", "1.5", "0.500"]
    assert rows["gather_ceiling"] == ["2", "-", "-"]
    assert rows["pyg_eager.forward"] == ["out of memory", "out of memory", "-"]


def test_differing_environments_are_named(tmp_path, document, capsys):
    later = copy.deepcopy(document)
    later["environment"]["torch"] = "2.12.0"
    for name, content in (("a.json", document), ("b.json", later)):
        results.write(tmp_path / name, content)
    assert compare.main([str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    assert "environments differ in torch: 2.11.0 -> 2.12.0" in capsys.readouterr().out


def refused(capsys, a, b):
    """The one line with which compare.py refuses two files."""
    with pytest.raises(SystemExit) as stopped:
        compare.main([str(a), str(b)])
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    return line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"", "b.json is no result file"),
        (b'{"format": 1, "cases": [', "b.json is no result file"),
        (b"\xff\xfe", "b.json is no result file"),
        (b"[1, 2]", "b.json is no result file of"),
        (b"{}", "b.json is no result file of"),
        (b'{"format": 2}', "b.json: format 2, this reader knows 1"),
        (b'{"format": 1}', "b.json is damaged: suite is missing"),
    ],
)
def test_file_that_is_no_result_is_refused(tmp_path, document, capsys, content, message):
    results.write(tmp_path / "a.json", document)
    if content is not None:
        (tmp_path / "b.json").write_bytes(content)
    for pair in ("a.json", "b.json"), ("b.json", "a.json"):
        line = refused(capsys, *(tmp_path / name for name in pair))
        assert line.startswith("compare.py: error: ")
        assert message in line
    assert "Is a directory" in refused(capsys, tmp_path, tmp_path / "a.json")


@pytest.mark.parametrize(
    "case",
    [5, {}, {"name": 5}, {"name": "a", "times_ms": [1]}, {"name": "a", "times_ms": {"x": 3}},
     {"name": "a", "times_ms": {"x": {"median": "3"}}}, {"name": "a", "baselines": {"b": 3}}],
)  # fmt: skip
def test_damaged_case_is_refused(tmp_path, document, capsys, case):
    results.write(tmp_path / "a.json", document)
    results.write(tmp_path / "b.json", document | {"cases": [case]})
    line = refused(capsys, tmp_path / "a.json", tmp_path / "b.json")
    assert "b.json is damaged: a case without" in line


@pytest.mark.parametrize(("field", "value"), [("suite", "graph"), ("device", "cpu")])
def test_files_of_different_suites_are_refused(tmp_path, document, capsys, field, value):
    results.write(tmp_path / "a.json", document)
    results.write(tmp_path / "b.json", document | {field: value})
    line = refused(capsys, tmp_path / "a.json", tmp_path / "b.json")
    assert "a.json is of attention on cuda" in line
    assert f"{value}" in line


def test_a_quick_run_beside_a_full_one_is_named(document):
    assert compare.differences(document, document | {"quick": True}) == ["quick: False -> True"]

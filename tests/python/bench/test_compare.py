"""compare.py: ratios of two result files."""

import copy

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

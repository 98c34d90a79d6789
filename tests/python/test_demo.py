"""The demo: learns, prints its table, writes its picture in one step or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner, Result

from sage_attention import demo

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(demo.app, list(arguments), env={"COLUMNS": "100"})


def test_table_and_picture(tmp_path: Path) -> None:
    output = tmp_path / "demo.png"
    result = invoke("--seeds", "1", "--epochs", "2", "--device", "cpu", "--output", str(output))
    assert result.exit_code == 0, result.output
    for text in ("SageAttentionConv", "label spreading", "logistic regression", "2 epochs"):
        assert text in result.output
    assert "1 seed " in result.output
    assert "+-" not in result.output  # one run has no spread
    assert str(output) in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["demo.png"]
    picture = matplotlib.image.imread(output)
    assert picture.shape[0] > 500
    assert picture[..., :3].std() > 0.1


def test_learns() -> None:
    from sage_attention.datasets import load

    steps: list[int] = []
    data = load("digits")
    scores = demo.run(data, 1, 25, "cpu", lambda: steps.append(1))
    assert len(steps) == 25
    assert scores.attention[0] > 80
    assert scores.smoothed[0] > 80
    assert scores.spreading[0] > 80
    assert scores.regression[0] > 70
    predicted, attention, test = scores.last
    assert len(test) == 1797 - 50
    assert int(scores.confusion.sum()) == len(test)
    assert scores.smoothed[0] == pytest.approx(100 * scores.confusion.trace() / len(test))
    assert scores.confusion.sum(0).tolist() == [(predicted[test] == c).sum() for c in range(10)]
    row_sums = torch.segment_reduce(
        torch.from_numpy(attention), "sum", offsets=data.graph.indptr, axis=0
    )
    assert bool((row_sums < 1).all())  # the rest is the self loop's
    assert bool((row_sums > 0.5).all())


def test_spread_of_several_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    from rich import print as show

    show(demo._table(demo.Scores([90.0, 92.0, 97.0], [1.0] * 3, [2.0] * 3, [3.0] * 3)))
    out = capsys.readouterr().out
    assert "3 seeds" in out
    assert "93.0 +- 3.6" in out  # sqrt((9 + 1 + 16) / 2)


def test_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    from matplotlib.figure import Figure

    monkeypatch.setattr(Figure, "savefig", fail)
    arguments = ("--seeds", "1", "--epochs", "1", "--device", "cpu")
    result = invoke(*arguments, "--output", str(tmp_path / "demo.png"))
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: the picture cannot be written: ")
    assert list(tmp_path.iterdir()) == []


def test_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    for step in ("_require", "run"):
        with monkeypatch.context() as patch:
            patch.setattr(demo, step, interrupt)
            result = invoke("--output", str(tmp_path / "demo.png"))
        assert result.exit_code == 130
        assert result.stderr == "Interrupted; no picture was written.\n"
    from matplotlib.figure import Figure

    save = Figure.savefig

    def half(self: Figure, path: Path, **options: Any) -> None:
        save(self, path, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Figure, "savefig", half)
    arguments = ("--seeds", "1", "--epochs", "1", "--device", "cpu")
    result = invoke(*arguments, "--output", str(tmp_path / "demo.png"))
    assert result.exit_code == 130
    assert list(tmp_path.iterdir()) == []


def test_missing_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_importable", lambda name: name != "matplotlib")
    result = invoke()
    assert result.exit_code == 2
    assert "needs matplotlib," in result.stderr
    assert 'pip install "sage-graph-attention[demo]"' in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_incomplete_installation_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ImportError("a library is missing")

    monkeypatch.setattr(demo, "_run", fail)
    result = invoke()
    assert (result.exit_code, result.stderr) == (2, "Error: a library is missing\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "picture.docx"], "must end in one of"),
        (["--output", "no/such/folder/picture.png"], "there is no folder"),
        (["--output", "."], "is a folder"),
        (["--output", "folder.png"], "is a folder"),
        (["--output", "read_only.png"], "is read-only"),
        (["--output", "locked/picture.png"], "cannot write into locked"),
        (["--device", "banana"], "not available"),
        (["--device", "meta"], "not available"),  # torch knows it, but nothing can be trained there
        (["--device", ""], "not available"),
        (["--seeds", "0"], "--seeds"),
        (["--epochs", "-1"], "--epochs"),
    ],
)
def test_bad_options_are_refused_before_the_training(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def access(path: Any, mode: int) -> bool:  # as for a user who is not root
        return mode != os.W_OK or Path(path).name != "read_only.png"

    def temporary(dir: Path) -> Any:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "folder.png").mkdir()
    (tmp_path / "locked").mkdir()
    (tmp_path / "read_only.png").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", access)
    if "locked" in message:
        monkeypatch.setattr(demo.tempfile, "TemporaryFile", temporary)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(demo, "run", lambda *_: pytest.fail("trained"))
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr.splitlines()[-1]
    assert sorted(tmp_path.rglob("*")) == before

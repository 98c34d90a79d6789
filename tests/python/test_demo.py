"""The demo: learns, prints its table, writes its picture in one step or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import typer
from typer.testing import CliRunner, Result

from sage_attention import demo

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(demo.main)
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "100"})


def test_table_and_picture(tmp_path: Path) -> None:
    output = tmp_path / "demo.png"
    result = invoke("--seeds", "1", "--epochs", "2", "--device", "cpu", "--output", str(output))
    assert result.exit_code == 0, result.output
    for text in ("SageAttentionConv", "label spreading", "logistic regression", "2 epochs"):
        assert text in result.output
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


def test_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(demo, "run", interrupt)
        result = invoke("--output", str(tmp_path / "demo.png"))
    assert result.exit_code == 130
    assert "no picture was written" in result.output
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
    assert "needs matplotlib," in result.output
    assert 'pip install "sage-graph-attention[demo]"' in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "picture.docx"], "must end in one of"),
        (["--output", "no/such/folder/picture.png"], "there is no folder"),
        (["--device", "nonsense"], "not available"),
        (["--seeds", "0"], "--seeds"),
    ],
)
def test_bad_options_are_refused_before_the_training(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "run", lambda *_: pytest.fail("trained"))
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.output

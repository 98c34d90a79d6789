"""The demo: two attention layers learn handwritten digits from five labels a class.

`python -m sage_attention.demo` trains on a graph that joins each picture to its nearest neighbours,
prints the accuracy beside label spreading on the same graph and logistic regression without one,
and draws the attention.
"""

from __future__ import annotations

import importlib
import os
import statistics
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .datasets import Dataset

LABELS_PER_CLASS = 5
HEADS, HEAD_DIM = 8, 8
EPOCHS = 60
LEARNING_RATE, WEIGHT_DECAY, DROPOUT = 0.01, 5e-4, 0.5
SMOOTHING_STEPS, RESTART = 20, 0.1
SPREADING_ALPHA = 0.2
FORMATS = (".jpg", ".pdf", ".png", ".svg")
RECIPE = (
    f"2 layers of SageAttentionConv (score gat, {HEADS} x {HEAD_DIM}, then 1 head), ELU, centred "
    f"pixels, dropout {DROPOUT} on inputs and attention; Adam, lr {LEARNING_RATE}, weight decay "
    f"{WEIGHT_DECAY}, {{epochs}}. Smoothing: {SMOOTHING_STEPS} steps along the last layer's "
    f"attention, restart {RESTART}. The same for all seeds; test labels only give the scores"
)


@dataclass
class Scores:
    """Test accuracies in percent, one a seed, and what the picture shows."""

    attention: list[float] = field(default_factory=list)
    smoothed: list[float] = field(default_factory=list)
    spreading: list[float] = field(default_factory=list)
    regression: list[float] = field(default_factory=list)
    confusion: Any = None  # [10, 10] counts of (true, predicted) over all seeds
    last: Any = None  # (predictions [N], attention [E], test ids) of the last seed


app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def main(
    seeds: Annotated[int, typer.Option(min=1, help="Runs, each with other labels.")] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Training steps of each run.")] = EPOCHS,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, ...; auto: a GPU if any.")] = (
        "auto"
    ),
    output: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path(
        "sage_attention_demo.png"
    ),
) -> None:
    """Trains graph attention on handwritten digits and draws what it attends to."""
    try:
        _require("matplotlib", "sklearn")
        _run(seeds, epochs, device, output)
    except KeyboardInterrupt:
        typer.echo("Interrupted; no picture was written.", err=True)
        raise typer.Exit(130) from None
    except ImportError as error:  # no PyTorch, or an incomplete installation
        _refuse(str(error))


def _require(*modules: str) -> None:
    """Ends the program, naming the command that helps, if the demo's extra is missing."""
    missing = [name for name in modules if not _importable(name)]
    if missing:
        _refuse(
            f"the demo needs {' and '.join(missing)}, which this environment lacks; install with: "
            'pip install "sage-graph-attention[demo]"'
        )


def _refuse(message: str) -> NoReturn:
    """Ends the program with one line."""
    typer.echo(f"Error: {message}", err=True)
    raise typer.Exit(2)


def _importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _run(seeds: int, epochs: int, device: str, output: Path) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from ._demo_picture import draw
    from .datasets import load

    console = Console()
    where = _device(device)
    _check_output(output)
    data = load("digits")
    nodes = data.graph.num_dst
    labels = LABELS_PER_CLASS * data.num_classes
    console.print(
        f"scikit-learn's digits: {nodes} pictures, {data.graph.num_edges} edges to nearest "
        f"neighbours, {labels} labels for training, {nodes - labels} pictures for the test"
    )
    console.print(RECIPE.format(epochs=_counted(epochs, "epoch")), style="dim", highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(f"Training on {where}", total=seeds * epochs)
        scores = run(data, seeds, epochs, where, lambda: progress.advance(bar))
    console.print(_table(scores))
    partial = output.with_name(f".{uuid.uuid4().hex[:12]}{output.suffix}")
    try:
        draw(partial, data, scores.confusion, *scores.last)
        os.replace(partial, output)
    except OSError as error:  # such as a full disk
        _refuse(f"the picture cannot be written: {error}")
    finally:
        partial.unlink(missing_ok=True)
    console.print(f"Picture: {output.resolve()}", highlight=False, soft_wrap=True)


def _device(name: str) -> str:
    from ._library import require_torch

    torch = require_torch("the demo")
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        usable = torch.empty(1, device=name).device.type in ("cpu", "cuda")
    except (RuntimeError, AssertionError):  # no device's name, or none that this machine has
        usable = False
    if not usable:
        _refuse(f"--device {name!r} is not available here; use cpu or auto")
    return name


def _check_output(output: Path) -> None:
    """What cannot be written is refused before the training, not after it."""
    if output.is_dir():
        _refuse(f"--output {output} is a folder; name a file, as in {output / 'demo.png'}")
    if output.suffix.lower() not in FORMATS:
        _refuse(f"--output {output} must end in one of {', '.join(FORMATS)}")
    if not output.parent.is_dir():
        _refuse(f"--output {output}: there is no folder {output.parent}")
    if output.exists() and not os.access(output, os.W_OK):
        _refuse(f"--output {output} is read-only")
    try:
        tempfile.TemporaryFile(dir=output.parent).close()
    except OSError as error:
        _refuse(f"--output {output}: cannot write into {output.parent}: {error.strerror}")


def run(
    data: Dataset, seeds: int, epochs: int, device: str, advance: Callable[[], object]
) -> Scores:
    """Accuracies of the three methods for each seed; `advance` is called after each epoch."""
    import numpy as np
    import torch

    from .datasets import random_split

    assert data.x is not None
    assert data.y is not None
    truth = data.y.numpy()
    scores = Scores(confusion=np.zeros((data.num_classes, data.num_classes), np.int64))
    graph, y = data.graph.to(device), data.y.to(device)
    x = (data.x - data.x.mean(0)).to(device)
    for seed in range(seeds):
        torch.manual_seed(seed)
        split = random_split(truth, LABELS_PER_CLASS, seed=seed)
        train, test = split["train"], split["test"]
        net = _network(x.shape[1], data.num_classes).to(device)
        _train(net, graph, x, y, torch.from_numpy(train).to(device), epochs, advance)
        with torch.no_grad():
            logits, alpha = net(x, graph, return_attention=True)
            smooth = _smooth(logits, graph, alpha).argmax(1).cpu().numpy()
        np.add.at(scores.confusion, (truth[test], smooth[test]), 1)
        scores.last = (smooth, alpha[: graph.num_edges, 0].cpu().numpy(), test)
        for values, guess in (
            (scores.attention, logits.argmax(1).cpu().numpy()),
            (scores.smoothed, smooth),
            (scores.spreading, _label_spreading(data, train)),
            (scores.regression, _logistic_regression(data, train)),
        ):
            values.append(100.0 * float((guess[test] == truth[test]).mean()))
    return scores


def _network(num_features: int, num_classes: int) -> nn.Module:
    import torch
    from torch.nn.functional import dropout, elu

    from .nn import SageAttentionConv

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            options: dict[str, Any] = {"score": "gat", "dropout": DROPOUT}
            self.first = SageAttentionConv(num_features, HEAD_DIM, HEADS, **options)
            self.second = SageAttentionConv(HEADS * HEAD_DIM, num_classes, **options)

        def forward(self, x: Tensor, graph: Any, return_attention: bool = False) -> Any:
            x = elu(self.first(dropout(x, DROPOUT, self.training), graph))
            x = dropout(x, DROPOUT, self.training)
            return self.second(x, graph, return_attention=return_attention)

    return Net()


def _train(
    net: nn.Module,
    graph: Any,
    x: Tensor,
    y: Tensor,
    train: Tensor,
    epochs: int,
    advance: Callable[[], object],
) -> None:
    import torch
    from torch.nn.functional import cross_entropy

    optimizer = torch.optim.Adam(net.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    net.train()
    for _ in range(epochs):
        optimizer.zero_grad()
        cross_entropy(net(x, graph)[train], y[train]).backward()
        optimizer.step()
        advance()
    net.eval()


def _smooth(logits: Tensor, graph: Any, alpha: Tensor) -> Tensor:
    """Class probabilities after a random walk with restart along alpha [E + N, 1], loops last."""
    from . import ops

    start = logits.softmax(1)
    edges, loops = alpha[: graph.num_edges], alpha[graph.num_edges :]
    out = start
    for _ in range(SMOOTHING_STEPS):
        step = ops.aggregate(graph, out, edge_weight=edges) + loops * out
        out = (1 - RESTART) * step + RESTART * start
    return out


def _label_spreading(data: Dataset, train: Any) -> Any:
    """Zhou et al. 2004 on the same graph, by scikit-learn; labels of all nodes, [N]."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.semi_supervised import LabelSpreading

    assert data.y is not None
    indptr, indices = data.graph.indptr.numpy(), data.graph.indices.numpy()
    joined = csr_matrix((np.ones(len(indices)), indices, indptr))
    known = np.full(len(data.y), -1)
    known[train] = data.y.numpy()[train]
    model = LabelSpreading(kernel=lambda *_: joined, alpha=SPREADING_ALPHA, max_iter=1000)
    return model.fit(data.x, known).transduction_


def _logistic_regression(data: Dataset, train: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    assert data.x is not None
    assert data.y is not None
    x = data.x.numpy()
    return LogisticRegression(max_iter=1000).fit(x[train], data.y.numpy()[train]).predict(x)


def _table(scores: Scores) -> Any:
    from rich.table import Table

    seeds = len(scores.attention)
    table = Table(title=f"Test accuracy, {_counted(seeds, 'seed')}", title_justify="left")
    table.add_column("method")
    table.add_column("uses the graph")
    table.add_column("mean +- std, %" if seeds > 1 else "%", justify="right")
    for name, graph, values in (
        ("SageAttentionConv, 2 layers", "yes", scores.attention),
        ("the same, smoothed along its attention", "yes", scores.smoothed),
        (f"label spreading, alpha {SPREADING_ALPHA}", "yes", scores.spreading),
        ("logistic regression", "no", scores.regression),
    ):
        spread = f" +- {statistics.stdev(values):.1f}" if seeds > 1 else ""
        table.add_row(name, graph, f"{statistics.fmean(values):.1f}{spread}")
    return table


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


if __name__ == "__main__":
    app()

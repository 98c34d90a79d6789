"""The demo's picture: a confusion matrix, and some digits with the neighbours they attend to."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .datasets import Dataset

SHOWN = 6
MAX_NEIGHBOURS = 12
SAME, OTHER, INK = "#2a78b8", "#d9762b", "#222222"


def draw(
    path: Path, data: Dataset, confusion: Any, predicted: Any, attention: Any, test: Any
) -> None:
    """Writes the picture. predicted [N], attention [E] in CSR order, test: ids of test nodes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16, 8.2), layout="constrained", facecolor="white")
    halves: Any = figure.subfigures(1, 2, width_ratios=[1.0, 1.45])
    left, right = halves
    _draw_confusion(left, confusion)
    grid = right.subplots(2, SHOWN // 2)
    right.suptitle(
        "Attention of the last layer over the neighbours of six test digits\n"
        "line width: attention; blue: neighbour of the same class, orange: of another",
        fontsize=11,
    )
    for axes, node in zip(grid.flat, _most_mixed(data, test), strict=True):
        _draw_node(axes, data, node, predicted, attention)
    figure.savefig(path, dpi=110)


def _draw_confusion(figure: Any, confusion: Any) -> None:
    axes = figure.subplots()
    share = 100.0 * confusion / np.maximum(confusion.sum(1, keepdims=True), 1)
    axes.imshow(share, cmap="Blues", vmin=0, vmax=100)
    for true, guess in np.ndindex(*share.shape):
        if confusion[true, guess]:
            value = share[true, guess]
            colour = "white" if value > 55 else INK
            text = f"{value:.0f}" if value >= 1 else "<1"
            axes.text(guess, true, text, ha="center", va="center", color=colour, fontsize=9)
    axes.set(xticks=range(len(share)), yticks=range(len(share)), xlabel="predicted", ylabel="true")
    axes.set_title("Test digits of each class, % (all seeds)", fontsize=11)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _most_mixed(data: Dataset, test: Any) -> list[int]:
    """The test digits whose neighbours are of the most mixed classes, one a class."""
    assert data.y is not None
    indptr, indices, y = (t.numpy() for t in (data.graph.indptr, data.graph.indices, data.y))
    entropy = {}
    for node in test.tolist():
        degree = indptr[node + 1] - indptr[node]
        share = np.bincount(y[indices[indptr[node] : indptr[node + 1]]]) / degree
        same = share[y[node]] if y[node] < len(share) else 0.0
        if degree <= MAX_NEIGHBOURS and 0.25 <= same < 1.0:
            share = share[share > 0]
            entropy[node] = float(-(share * np.log(share)).sum())
    chosen: dict[int, int] = {}
    for node in sorted(entropy, key=lambda n: (-entropy[n], n)):
        chosen.setdefault(int(y[node]), node)
    return list(chosen.values())[:SHOWN]


def _draw_node(axes: Any, data: Dataset, node: int, predicted: Any, attention: Any) -> None:
    assert data.y is not None
    begin, end = data.graph.indptr[node : node + 2].tolist()
    neighbours = data.graph.indices[begin:end].tolist()
    weights = attention[begin:end]
    y = data.y.tolist()
    order = np.argsort(weights)[::-1]
    for place, which in enumerate(order):
        angle = math.pi / 2 - 2 * math.pi * place / len(order)
        x_pos, y_pos = math.cos(angle), math.sin(angle)
        neighbour, weight = neighbours[which], float(weights[which])
        colour = SAME if y[neighbour] == y[node] else OTHER
        relative = weight / float(weights.max())
        axes.plot(
            [0, x_pos],
            [0, y_pos],
            color=colour,
            linewidth=1 + 9 * relative,
            alpha=0.35 + 0.5 * relative,
            solid_capstyle="round",
            zorder=1,
        )
        _picture(axes, data, neighbour, x_pos, y_pos, 0.17, colour, 2)
        clear = min(0.34 / max(abs(x_pos), 1e-6), 0.26 / max(abs(y_pos), 1e-6))  # of the frame
        label_x, label_y = (1 + clear) * x_pos, (1 + clear) * y_pos
        axes.text(label_x, label_y, f"{weight:.2f}", ha="center", va="center", fontsize=8)
    _picture(axes, data, node, 0, 0, 0.26, INK, 3)
    right = predicted[node] == y[node]
    verdict = "right" if right else f"wrong, is {y[node]}"
    axes.set_title(
        f"taken for {predicted[node]}: {verdict}   (itself {max(0.0, 1 - weights.sum()):.2f})",
        fontsize=9,
        color=INK if right else OTHER,
    )
    axes.set(xlim=(-1.6, 1.6), ylim=(-1.5, 1.5), aspect="equal")
    axes.axis("off")


def _picture(
    axes: Any, data: Dataset, node: int, x: float, y: float, half: float, colour: str, layer: int
) -> None:
    """The 8 x 8 picture of a node in a frame, centred at (x, y)."""
    from matplotlib.patches import Rectangle

    assert data.x is not None
    axes.imshow(
        data.x[node].reshape(8, 8).numpy(),
        cmap="gray_r",
        extent=(x - half, x + half, y - half, y + half),
        zorder=layer,
    )
    corner = (x - half, y - half)
    frame = Rectangle(corner, 2 * half, 2 * half, fill=False, edgecolor=colour, linewidth=1.8)
    frame.set_zorder(layer + 0.5)
    axes.add_patch(frame)

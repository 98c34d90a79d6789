"""The data sets that are known by name: their files, where they come from, and what they hold."""

from __future__ import annotations

from dataclasses import dataclass

_RAW = "https://raw.githubusercontent.com"
PLANETOID = f"{_RAW}/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data"
GNN_DATASETS = f"{_RAW}/CrawlScript/gnn_datasets/482d7152d60e429763ca256dd0906fa9badaae0c"
HETEROPHILOUS = (
    f"{_RAW}/yandex-research/heterophilous-graphs/a431395582e929d88271309716bea4fe24ce6318/data"
)
LIGHTGCN = f"{_RAW}/gusye1234/LightGCN-PyTorch/947ca2b3b1d2d3545b114145710cb06c4e57b3d2/data"


@dataclass(frozen=True)
class File:
    """One file of a data set; either it has a url, or it is computed from another file."""

    path: str  # below the data folder, with forward slashes
    size: int  # bytes
    sha256: str
    url: str = ""
    made_from: File | None = None


@dataclass(frozen=True)
class Entry:
    """What is known of a data set before it is read."""

    name: str
    title: str
    reader: str  # a function of readers.py
    files: tuple[File, ...]
    licence: str  # as its source states it
    source: str


def _planetoid(name: str, title: str, sizes_and_sums: dict[str, tuple[int, str]]) -> Entry:
    files = tuple(
        File(f"planetoid/ind.{name}.{part}", size, sha256, f"{PLANETOID}/ind.{name}.{part}")
        for part, (size, sha256) in sizes_and_sums.items()
    )
    return Entry(name, title, "planetoid", files, "MIT", "https://github.com/kimiyoung/planetoid")


_ENTRIES = (
    _planetoid(
        "cora",
        "Cora: citations between machine learning papers",
        {
            "x": (
                22119,
                "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
            ),
            "y": (
                4054,
                "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
            ),
            "tx": (
                148025,
                "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
            ),
            "ty": (
                28135,
                "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
            ),
            "allx": (
                257305,
                "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
            ),
            "ally": (
                47959,
                "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
            ),
            "graph": (
                59847,
                "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
            ),
            "test.index": (
                5000,
                "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
            ),
        },
    ),
    _planetoid(
        "citeseer",
        "CiteSeer: citations between computer science papers",
        {
            "x": (
                31087,
                "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
            ),
            "y": (
                3014,
                "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
            ),
            "tx": (
                260321,
                "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
            ),
            "ty": (
                24135,
                "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
            ),
            "allx": (
                595021,
                "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
            ),
            "ally": (
                55623,
                "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
            ),
            "graph": (
                61987,
                "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
            ),
            "test.index": (
                5000,
                "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
            ),
        },
    ),
    Entry(
        "photo",
        "Amazon Photo: goods bought together",
        "npz_graph",
        (
            File(
                "amazon_photo/amazon-photo.zip",
                1778261,
                "9a1a31380c0480c87d4174f3e76e51956720da6e01ad5332b437e3dc99f11724",
                f"{GNN_DATASETS}/AmazonElectronics/amazon-photo.zip",
            ),
        ),
        "GPL-3.0",
        "https://github.com/CrawlScript/gnn_datasets",
    ),
    Entry(
        "cs",
        "Coauthor CS: authors who wrote together",
        "npz_graph",
        (
            File(
                "coauthor_cs/coauthor-cs.zip",
                2812812,
                "a69e43a2a3418c44e7660f1405c4298ac270ac57884a4318d1deb8861c6ec935",
                f"{GNN_DATASETS}/Coauthor/coauthor-cs.zip",
            ),
        ),
        "GPL-3.0",
        "https://github.com/CrawlScript/gnn_datasets",
    ),
    Entry(
        "minesweeper",
        "Minesweeper: a grid where the mines are to be found; the metric is ROC AUC",
        "heterophilous",
        (
            File(
                "heterophilous/minesweeper.npz",
                135045,
                "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3",
                f"{HETEROPHILOUS}/minesweeper.npz",
            ),
        ),
        "MIT",
        "https://github.com/yandex-research/heterophilous-graphs",
    ),
    Entry(
        "gowalla",
        "Gowalla: places that users visited, with the split of LightGCN",
        "user_items",
        (
            File(
                "recsys/gowalla_train.txt",
                4633414,
                "0f086326b28a56c2e6dcb81d86ee72d4ccb7eed3a8d26788392356d8f51111cc",
                made_from=File(
                    "recsys/gowalla_adjacency.npz",
                    3635865,
                    "6ab3ab7aa1278da3717054c60258d88d2d2d78914fa62db2b13da9321e397cab",
                    f"{LIGHTGCN}/gowalla/s_adj_mat.npz",
                ),
            ),
            File(
                "recsys/gowalla_test.txt",
                1372559,
                "099a2a73924e4b754dc6efd730d764f492321b53c38eb93298850c83acf57be3",
                f"{LIGHTGCN}/gowalla/test.txt",
            ),
        ),
        "none stated",
        "https://github.com/gusye1234/LightGCN-PyTorch",
    ),
    Entry(
        "digits",
        "Digits: 8 x 8 pictures of handwritten digits, joined to their 10 nearest neighbours",
        "digits",
        (),
        "BSD-3-Clause",
        "https://scikit-learn.org/stable/datasets/toy_dataset.html",
    ),
)

REGISTRY: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}


def entry(name: str) -> Entry:
    """The entry of a data set; ValueError names the known ones."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a data set must be a string, got {name!r}")
    if name not in REGISTRY:
        raise ValueError(f"no data set is named {name!r}; choose from {', '.join(REGISTRY)}")
    return REGISTRY[name]

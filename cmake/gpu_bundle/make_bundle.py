"""Makes a folder that runs the tests and benches on a GPU machine without network.

    python cmake/gpu_bundle/make_bundle.py build/dev dist/gpu-bundle

It holds the staged package, the static GoogleTest binary of the CUDA kernels, the Python tests,
benches and examples, pure-Python dependencies, and what it takes to build _core for another Python.
SAGE_BUNDLE_DATA=planetoid,... adds folders of SAGE_DATA_DIR. See run.sh for what it does there.
A bundle over the size limit is an error.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_MB = 60
FOLDERS = ("tests/python", "bench", "examples", "docs")
FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "Makefile")
CORE_SOURCES = ("kernels", "sampling", "csrc/python")
# Used there only where the machine's Python lacks them.
PURE_PYTHON = (
    "typer", "click", "shellingham", "rich", "markdown_it", "mdurl", "pygments", "annotated_doc",
    "pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "hypothesis", "sortedcontainers",
    "pybind11",
)  # fmt: skip
# Of the 4 MB of Pygments' lexers, pytest and rich need these.
LEXERS = {"__init__.py", "_mapping.py", "diff.py", "python.py", "special.py"}
SKIPPED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*_cache", ".hypothesis")


def ignored(folder: str, names: list[str]) -> Iterable[str]:
    """What of a folder is not copied."""
    lexers = Path(folder).parts[-2:] == ("pygments", "lexers")
    return SKIPPED(folder, names) | (set(names) - LEXERS if lexers else set())


def copy(source: Path, target: Path) -> None:
    """Copies a file or folder, with links followed; what does not exist is left out."""
    if source.is_dir():
        shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
    elif source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def strip(path: Path, *flags: str) -> None:
    if shutil.which("strip"):
        subprocess.run(["strip", *flags, str(path)], check=True)


def copy_binaries(build: Path, out: Path) -> None:
    package, tests, kernels = (
        build / name for name in ("package", "tests/sage_cuda_tests", "libsage_kernels.a")
    )
    for needed in (package, tests, kernels):
        if not needed.exists():
            sys.exit(f"{needed} is missing: the bundle needs a build with CUDA and tests")
    copy(package, out / "package")
    for library in (out / "package").rglob("*.so"):
        strip(library, "--strip-unneeded")
    copy(tests, out / "bin" / tests.name)
    strip(out / "bin" / tests.name)
    copy(kernels, out / "lib" / kernels.name)
    strip(out / "lib" / kernels.name, "--strip-debug")


def copy_sources(out: Path) -> None:
    for folder in FOLDERS:
        copy(ROOT / folder, out / folder)
    for name in FILES:
        copy(ROOT / name, out / name)
    for folder in CORE_SOURCES:
        for header in (ROOT / folder).rglob("*"):
            if header.suffix == ".h" or (folder == "csrc/python" and header.suffix == ".cpp"):
                copy(header, out / "src" / header.relative_to(ROOT))
    copy(Path(__file__).with_name("run.sh"), out / "run.sh")


def copy_pure_python(out: Path) -> None:
    for name in PURE_PYTHON:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            origin = Path(spec.origin)
            is_package = origin.name == "__init__.py"
            source = origin.parent if is_package else origin
            copy(source, out / "site" / source.name)
    for compiled in (out / "site").rglob("*.so"):  # would be for another Python
        compiled.unlink()


def copy_data(out: Path) -> None:
    names = [name for name in os.environ.get("SAGE_BUNDLE_DATA", "").split(",") if name]
    root = os.environ.get("SAGE_DATA_DIR")
    if names and not root:
        sys.exit("SAGE_BUNDLE_DATA needs SAGE_DATA_DIR: the folder that has these data sets")
    for name in names:
        if not (Path(str(root)) / name).exists():
            sys.exit(f"SAGE_BUNDLE_DATA: {name} is not in {root}")
        copy(Path(str(root)) / name, out / "data" / name)


def commit() -> str:
    """SAGE_COMMIT, else git's HEAD, with a + when files were modified."""
    if os.environ.get("SAGE_COMMIT"):
        return os.environ["SAGE_COMMIT"]
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    if head.returncode != 0:
        return "unknown"
    status = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True)
    return head.stdout.strip() + ("+" if status.stdout.strip() else "")


def start(out: Path) -> None:
    """An empty folder at `out`; of what is there, only an older bundle is removed."""
    if (out / "COMMIT").is_file():
        shutil.rmtree(out)
    elif out.exists() and (not out.is_dir() or any(out.iterdir())):
        sys.exit(f"{out} is there and is no bundle; remove it, or name another folder")
    out.mkdir(parents=True, exist_ok=True)
    (out / "COMMIT").write_text(commit() + "\n", encoding="utf-8")


def check_size(out: Path) -> None:
    """Prints the size; over the limit, names what takes most of it and fails."""
    sizes = {path: path.stat().st_size / 1e6 for path in out.rglob("*") if path.is_file()}
    megabytes = sum(sizes.values())
    print(f"{out}: {megabytes:.1f} MB, commit {commit()}")
    if megabytes >= LIMIT_MB:
        largest = sorted(sizes, key=lambda path: -sizes[path])[:5]
        listed = ", ".join(f"{path.relative_to(out)} {sizes[path]:.1f}" for path in largest)
        sys.exit(f"the bundle must stay under {LIMIT_MB} MB; largest files, in MB: {listed}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes a folder for tests on a GPU machine.")
    parser.add_argument("build", type=Path, help="CMake's build folder, with CUDA")
    parser.add_argument("out", type=Path, help="the bundle; an older one is replaced")
    options = parser.parse_args()
    start(options.out)
    copy_binaries(options.build, options.out)
    copy_sources(options.out)
    copy_pure_python(options.out)
    copy_data(options.out)
    check_size(options.out)


if __name__ == "__main__":
    main()

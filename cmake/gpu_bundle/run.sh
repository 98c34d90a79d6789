#!/usr/bin/env bash
# Runs a bundle's tests and benches on this machine's GPU, without network.
#   ./run.sh [gtest] [memcheck] [racecheck] [pytest] [bench SUITE ARGUMENTS...]
# Default: gtest pytest. Everything after `bench` goes to bench/run.py. GTEST_FILTER narrows the
# GoogleTests (also under the sanitizers), PYTEST_ARGS is added to pytest's arguments. Reports go to
# $OUT, else ./out. The exit status is 0 only if every step passed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here="$PWD"
out="${OUT:-$here/out}"
mkdir -p "$out"
python="${PYTHON:-python3}"
export SAGE_COMMIT="${SAGE_COMMIT:-$(cat COMMIT)}"
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PYTHONPATH="$here/package:$here/site-used"
if [ -d data ]; then export SAGE_DATA_DIR="$here/data"; fi
failed=()

step() { printf '\n== %s\n' "$*"; }

# Modules that this machine's Python lacks come from the bundle; its own ones are never shadowed.
use_missing_modules() {
  rm -rf site-used && mkdir site-used
  for path in site/*; do
    name="$(basename "$path" .py)"
    "$python" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$name') is None)" ||
      ln -s "../$path" site-used/
  done
}

# _core is for one CPython: built here where the bundle's is for another.
build_core() {
  "$python" -c 'import sage_attention._core' 2>/dev/null && return 0
  step "building _core for $("$python" -V)"
  rm -f package/sage_attention/_core*
  local suffix includes
  suffix="$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"
  includes="$("$python" -m pybind11 --includes)" || return 1
  # shellcheck disable=SC2086
  "${CXX:-g++}" -std=c++20 -O2 -fPIC -fvisibility=hidden -shared -pthread $includes -Isrc \
    src/csrc/python/*.cpp lib/libsage_kernels.a -o "package/sage_attention/_core$suffix" &&
    "$python" -c 'import sage_attention._core'
}

sanitizer() {
  local tool="$1" program
  program="$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)"
  if [ -z "$program" ]; then
    echo "compute-sanitizer is not on this machine"
    return 1
  fi
  "$program" --tool "$tool" --error-exitcode 9 bin/sage_cuda_tests --gtest_brief=1 \
    2>&1 | tee "$out/$tool.log" | tail -n 15
}

run() {
  step "$1"
  case "$1" in
    gtest) bin/sage_cuda_tests --gtest_brief=1 "--gtest_output=xml:$out/gtest.xml" ;;
    memcheck | racecheck | synccheck | initcheck) sanitizer "$1" ;;
    # shellcheck disable=SC2086
    pytest) "$python" -m pytest -q -p no:cacheprovider tests/python ${PYTEST_ARGS:-} ;;
    *) echo "unknown step: $1"; return 2 ;;
  esac
}

"$python" -c 'import torch; print("torch", torch.__version__, "on", torch.cuda.get_device_name())' ||
  exit 1
echo "commit $SAGE_COMMIT"
use_missing_modules
build_core || failed+=(_core)
if [ $# -eq 0 ]; then set -- gtest pytest; fi
while [ $# -gt 0 ]; do
  if [ "$1" = bench ]; then
    shift
    step "bench $*"
    "$python" bench/run.py "$@" --output "$out/bench-${1:-}.json" || failed+=(bench)
    break
  fi
  run "$1" || failed+=("$1")
  shift
done
echo
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}"
  exit 1
fi
echo "all steps passed"

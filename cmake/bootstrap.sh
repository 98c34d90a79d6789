#!/usr/bin/env bash
# Makes .venv and installs what the build and the tests need, where the machine lacks it.
# Usage: cmake/bootstrap.sh build|test|demo|lint
set -euo pipefail
cd "$(dirname "$0")/.."
what="$1"
venv=.venv
python="$venv/bin/python"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_WARN_SCRIPT_LOCATION=1

if ! "$python" -m pip --version >/dev/null 2>&1; then
  echo "making $venv"
  if ! ${PYTHON:-python3} -m venv --clear "$venv" >/dev/null 2>&1; then
    echo "error: '${PYTHON:-python3} -m venv' does not work here. On Debian and Ubuntu run:" >&2
    echo "  apt-get install python3-venv python3-dev" >&2
    exit 1
  fi
fi

echo "installing requirements/$what.txt into $venv"
"$python" -m pip install -qq --progress-bar off -r "requirements/$what.txt"

# at_least WANTED FOUND: whether version FOUND is WANTED or newer.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

cmake_found="$( (PATH="$venv/bin:$PATH" cmake --version 2>/dev/null || true) | sed -n '1s/[^0-9]*//p')"
if ! at_least 3.28 "${cmake_found:-0}"; then
  echo "installing CMake into $venv (found: ${cmake_found:-none})"
  "$python" -m pip install -qq --progress-bar off "cmake>=3.28,<5"
fi
if ! PATH="$venv/bin:$PATH" ninja --version >/dev/null 2>&1; then
  "$python" -m pip install -qq --progress-bar off "ninja>=1.11"
fi

# GoogleTest: the system's packages where we may install them; else CMake fetches it.
if [ "$what" != demo ] && [ "$what" != lint ] && [ "$(id -u)" = 0 ] &&
  command -v apt-get >/dev/null && ! dpkg -s libgtest-dev libgmock-dev >/dev/null 2>&1; then
  echo "installing GoogleTest from the system's packages"
  log="$(mktemp)"
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y libgtest-dev libgmock-dev; } >"$log" 2>&1; then
    echo "apt-get could not (last line: $(tail -n 1 "$log")); CMake will fetch GoogleTest"
  fi
  rm -f "$log"
fi

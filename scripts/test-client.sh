#!/usr/bin/env bash
# Tries docs/client.md: the Python client of the wheel, the notebook with the
# paper's figures, and pushes to a stand-in for the Hugging Face hub, which the
# real huggingface_hub, datasets, pandas and DuckDB write and read.
#
#   scripts/test-client.sh [PYTEST OPTION…]
#
# A fresh Python environment, and a server on a temporary data folder with the
# demo split, its human baseline and a run of a stand-in for a model. CLIENT_VENV
# names a folder to keep the environment in.
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
cd "$ROOT"
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
# shellcheck source=scripts/lib/dist.sh
source scripts/lib/dist.sh
# shellcheck source=scripts/lib/demo-server.sh
source scripts/lib/demo-server.sh

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    die client "$(python3 --version) is too old: the generated types need Python 3.11 or later"
venv=${CLIENT_VENV:-$work/venv}

# The wheel without the program, from the same sources.
install() {
    [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
    wheel_sources "$work/wheel" 0.0.0 "$program"
    cp README.md LICENSE-* "$work/wheel/"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$work/wheel[pandas,hub]" \
        datasets duckdb ipykernel matplotlib mypy nbclient nbformat pytest
    "$venv/bin/python" -m pip list --disable-pip-version-check 2>/dev/null |
        grep -iE '^(datasets|duckdb|huggingface.hub|mypy|nbclient|pandas|pyarrow) ' |
        while read -r name version; do say client "$name $version"; done
}

install
export SWE_CI_CODE_STYLE=yes
serve_demo reader
await_runs 1
say client "the human baseline is finished"
submit_conversation all
await_runs 2
"$venv/bin/python" -m mypy --config-file integrations/python/pyproject.toml --cache-dir "$work/mypy" -p swe_ci
SWE_CI_TEST_SERVER=$address SWE_CI_TEST_PROGRAM=$program SWE_CI_TEST_DATA=$work/data \
    "$venv/bin/python" -m pytest -p no:cacheprovider "$ROOT/integrations/python/tests" "$@"

#!/usr/bin/env bash
# Tries docs/inspect.md with the real inspect_ai and inspect_scout of the package
# index: both read what `swe-ci-inspect` writes, Scout scans it, and Inspect starts and
# follows runs.
#
#   scripts/test-inspect.sh
#
# A fresh Python environment, and a server on a temporary data folder with the
# demo split and its human baseline. INSPECT_VENV names a folder to keep the
# environment in: a later start then installs only what has changed.
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
cd "$ROOT"
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
# shellcheck source=scripts/lib/demo-server.sh
source scripts/lib/demo-server.sh

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    die inspect "$(python3 --version) is too old: the package needs Python 3.11 or later"
venv=${INSPECT_VENV:-$work/venv}

install() {
    [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check pytest inspect_scout "$ROOT/integrations/inspect"
    "$venv/bin/python" -m pip list --disable-pip-version-check 2>/dev/null | grep -iE '^(inspect.(ai|scout)|swe.ci.inspect|httpx) ' |
        while read -r name version; do say inspect "$name $version"; done
}

install
serve_demo submitter
await_runs 1
say inspect "the human baseline is finished"
submit_conversation quickest
await_runs 2
"$venv/bin/swe-ci-inspect" "${finished[@]}" --server "$address" --output "$work/logs"
# Inspect and Scout keep caches and traces where XDG_DATA_HOME says.
SWE_CI_TEST_SERVER=$address SWE_CI_TEST_LOGS=$work/logs XDG_DATA_HOME=$work/share \
    "$venv/bin/python" -m pytest -p no:cacheprovider "$ROOT/integrations/inspect/tests"

#!/usr/bin/env bash
# `make test-cluster`: a cluster of its own, and what may happen to its machines.
# Words of the tests' names choose some of them; the default is all.
#
#   scripts/test-cluster.sh                 all, about half an hour
#   scripts/test-cluster.sh killed drained  those whose names have such a word
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh

# Beside a cluster that somebody tries things on.
export SWE_CI_CLUSTER=/tmp/swe-ci-test-cluster SWE_CI_CLUSTER_SUBNET=10.79.0 SWE_CI_CLUSTER_PORT=7230

scripts/cluster.sh down >/dev/null 2>&1 || true
trap 'scripts/cluster.sh down' EXIT
scripts/cluster.sh up
# One after the other, and with what they measured.
cargo test --workspace --exclude xtask --test cluster -- --ignored --test-threads 1 --nocapture "$@"

#!/usr/bin/env bash
# The Helm chart on a real Kubernetes, with faults: each case submits the human
# baseline of the demo split, does something to the cluster in the middle of it,
# and expects the rows that a run of one undisturbed worker has.
#
#   scripts/test-kubernetes.sh [kill|cut|drain|scale|roll]…   all by default
#
#   SWE_CI_DIST    the folder with swe-ci (and site), dist by default
#   SWE_CI_SPLIT   another split, which the cluster's database has; demo by default
#
# Uses the cluster of scripts/kubernetes.sh if it is up with 4 nodes or more; else
# starts one and removes it. A case takes some minutes.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export SWE_CI_CLUSTER_NODES=${SWE_CI_CLUSTER_NODES:-4} # one for the server, three for workers
# shellcheck source=scripts/lib/common.sh
source "$ROOT/scripts/lib/common.sh"
# shellcheck source=scripts/lib/cluster-settings.sh
source "$ROOT/scripts/lib/cluster-settings.sh"
# shellcheck source=scripts/lib/cluster-services.sh
source "$ROOT/scripts/lib/cluster-services.sh"
# shellcheck source=scripts/lib/cluster-nodes.sh
source "$ROOT/scripts/lib/cluster-nodes.sh"
# shellcheck source=scripts/lib/kubernetes-cases.sh
source "$ROOT/scripts/lib/kubernetes-cases.sh"

DIST=$(realpath "${SWE_CI_DIST:-$ROOT/dist}")
SPLIT=${SWE_CI_SPLIT:-demo}
CASES=("$@")
if (($# == 0)); then CASES=(kill cut drain scale roll); fi
for case in "${CASES[@]}"; do
    [[ $case =~ ^(kill|cut|drain|scale|roll)$ ]] ||
        die kubernetes "unknown: $case (kill, cut, drain, scale, roll)"
done
[[ -x $DIST/swe-ci ]] || die kubernetes "$DIST/swe-ci is not there: make release, or name its folder in SWE_CI_DIST"

if [[ ! -e $CLUSTER/kubernetes/env ]]; then
    trap '"$ROOT/scripts/kubernetes.sh" down' EXIT
    "$ROOT/scripts/kubernetes.sh" up
fi
# shellcheck disable=SC1091 # made by scripts/kubernetes.sh
source "$CLUSTER/kubernetes/env"
export SWE_CI_DATA=$CLUSTER/operator

install_chart
import_split
run_reference
for case in "${CASES[@]}"; do
    started=$SECONDS
    prepare_case
    "case_$case"
    check_end "$RUN"
    say "$case" "ok: ended once, rows and scores as of one worker, nothing left ($((SECONDS - started)) s)"
done
echo "${#CASES[@]} passed, 0 failed"

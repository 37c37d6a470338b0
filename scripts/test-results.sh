#!/usr/bin/env bash
# Tries docs/submissions.md and docs/training.md: a run goes from one site to
# another, which checks it, an administrator publishes it, and a forged copy is
# refused; `verifiers` of the package index rolls out eight evolutions at once, twice
# with the same rewards; and recorded runs become data for training.
# scripts/test-client.sh tries docs/hub.md.
#
#   scripts/test-results.sh
#
# A fresh Python environment, and two servers on temporary data folders. RESULTS_VENV
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
    die results "$(python3 --version) is too old: verifiers needs Python 3.11 or later"
venv=${RESULTS_VENV:-$work/venv}

install() {
    [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
    wheel_sources "$work/wheel" 0.0.0 "$program"
    cp README.md LICENSE-* "$work/wheel/"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$work/wheel[verifiers]"
    "$venv/bin/python" -m pip list --disable-pip-version-check 2>/dev/null | grep -E '^verifiers ' |
        while read -r name version; do say results "$name $version"; done
}

# What the API says of the submitted run, until it is no longer being checked.
await_checks() {
    local state
    for _ in $(seq 240); do
        state=$(ask "submissions/$1" | field state)
        [[ $state == checking ]] || break
        sleep 5
    done
    say results "the submitted run is $state"
    [[ $state == "$2" ]] || die results "and not $2: $(ask "submissions/$1")"
}

install
serve_demo submitter
await_runs 1
submit_conversation quickest
await_runs 2
theirs=$work/data
run=${finished[0]}
"$program" dataset export demo "$work/dataset" --data "$theirs"
"$program" dataset export demo "$work/tasks" --as harbor --data "$theirs"
"$program" export trajectories --for sft "$conversation" --above -2 --data "$theirs" >"$work/sft.jsonl"
python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert {row["about"]["role"] for row in rows} == {"architect", "programmer"}, rows
assert all(row["messages"][-1]["role"] in ("assistant", "tool") for row in rows)' <"$work/sft.jsonl"
say results "$(wc -l <"$work/sft.jsonl") conversations for training"
stop_demo

say results "the other site has the same split"
"$program" dataset import --from "$work/dataset" --split demo --data "$work/ours" 2>"$work/imported" ||
    die results "it is not imported: $(tail -n 3 "$work/imported")"
SWE_CI_CODE_STYLE=no "$program" serve --listen 127.0.0.1:0 --workers 2 --data "$work/ours" >"$work/log" 2>&1 &
server=$!
link=''
for _ in $(seq 120); do
    link=$(grep -o 'http://127.0.0.1:[0-9]*/invitation/[^ "]*' "$work/log" | head -n 1) && break
    sleep 0.5
done
[[ -n $link ]] || die results "it does not start: $(tail -n 5 "$work/log")"
address=${link%/invitation/*}
unset SWE_CI_TOKEN
sign_up "$link" admin
submitted=$("$program" submit "$run" --to "$address" --data "$theirs")
await_checks "$submitted" in-review
ask "submissions/$submitted/publish" --request POST >/dev/null
ask 'leaderboard?split=demo' | grep -q '"mark": *"verified"' || die results "the published run has no mark"
say results "it is published and verified"
if "$program" submit "$run" --to "$address" --data "$theirs" 2>"$work/again"; then
    die results "a run is submitted twice"
fi
grep -q 'submitted before' "$work/again" || die results "$(<"$work/again")"
"$program" submit "$conversation" --account ada --file "$work/run.tar.zst" --data "$theirs"
python3 scripts/lib/forge.py "$work/run.tar.zst" "$work/forged.tar.zst"
if ask submissions --header 'Content-Type: application/zstd' --data-binary "@$work/forged.tar.zst" >"$work/refused"; then
    die results "a forged run is taken"
fi
say results "a forged run is refused: $(field detail <"$work/refused")"
stop_demo

for attempt in first second; do
    "$venv/bin/python" integrations/python/examples/rollouts.py "$work/tasks/evolution" --iterations 2 >"$work/$attempt"
done
cat "$work/first"
cmp "$work/first" "$work/second" || die results "the same policy has other rewards"
[[ $(grep -cE '(= |[+])1.000' "$work/first") == 8 ]] || die results "a replayed target does not close the gap"
say results "eight evolutions at once, twice the same"

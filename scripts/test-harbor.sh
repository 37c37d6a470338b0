#!/usr/bin/env bash
# Tries docs/harbor.md with the real harbor of the package index: exports the
# demo split, lets Harbor's oracle and its agent that does nothing (nop) work on
# it, and terminus-2, an agent of Harbor that calls a model, on one task. Imports
# what they came to. Harbor's validator reads trajectories of both sides.
#
#   scripts/test-harbor.sh [TASK…]
#
# Harbor needs Python 3.12 and Docker Compose, so it runs in a container of Debian
# 13 that speaks to this machine's engine. TASK names tasks of the demo split for
# the oracle and nop; all when absent. HARBOR_FOLDER names a folder to keep Harbor
# and its jobs in.
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
cd "$ROOT"
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
# shellcheck source=scripts/lib/demo-server.sh
source scripts/lib/demo-server.sh

HARBOR=0.26.0
HARBOR_IMAGE=swe-ci/harbor:1
ITERATIONS=3
# The task that scripts/lib/models/terminus_2.py knows, and what one test of five is worth.
MODEL_TASK=tinydb-4.7.1-4.8.2
MODEL_REWARD=0.2
folder=${HARBOR_FOLDER:-$work/harbor}
mkdir -p "$folder"
# Files of containers may belong to others.
leave() {
    stop_demo
    [[ -n ${HARBOR_FOLDER:-} ]] || inside find "$folder" -mindepth 1 -delete || true
    rm -rf "$work"
}
trap leave EXIT

# The certificates of this machine, for a package index behind a proxy.
certificates=()
for bundle in "${PIP_CERT:-}" "${SSL_CERT_FILE:-}"; do
    if [[ -f $bundle ]]; then
        certificates=(--volume "$bundle:/host-ca.crt:ro" --env PIP_CERT=/host-ca.crt --env SSL_CERT_FILE=/host-ca.crt)
        break
    fi
done

# inside COMMAND…: in the container, with this machine's engine, at the same path.
# Nothing is told to Harbor's makers, and no list of prices is fetched.
inside() {
    docker run --rm --network host --workdir "$folder" --volume "$folder:$folder" \
        --volume /var/run/docker.sock:/var/run/docker.sock "${certificates[@]}" \
        --env PIP_INDEX_URL --env HTTPS_PROXY --env HTTP_PROXY --env NO_PROXY \
        --env HARBOR_TELEMETRY=off --env LITELLM_LOCAL_MODEL_COST_MAP=True \
        "$HARBOR_IMAGE" "$@"
}

install() {
    docker image inspect swe-ci/base:py313 >/dev/null 2>&1 || scripts/setup.sh pythons
    docker image inspect "$HARBOR_IMAGE" >/dev/null 2>&1 ||
        docker build --network host --quiet --tag "$HARBOR_IMAGE" - >/dev/null <<'DOCKERFILE'
FROM swe-ci/base:py313
RUN apt-get update && apt-get install --yes --no-install-recommends docker-cli docker-compose && rm -rf /var/lib/apt/lists/*
DOCKERFILE
    inside sh -c "test -x venv/bin/harbor || { python3 -m venv venv && venv/bin/pip install --quiet harbor==$HARBOR; }"
    say harbor "harbor $(inside venv/bin/harbor --version)"
}

# trial KIND AGENT REWARD [OPTION…]: all chosen tasks of a kind come to this reward.
# The job is then in the folder jobs/KIND-AGENT.
trial() {
    inside rm -rf "jobs/$1-$2"
    inside venv/bin/harbor run --path "tasks/$1" --agent "$2" --jobs-dir jobs --job-name "$1-$2" \
        --n-concurrent 1 --yes --quiet "${@:4}" >"$folder/$1-$2.log" 2>&1 || die harbor "$1, $2: $(tail -n 20 "$folder/$1-$2.log")"
    python3 - "$folder/jobs/$1-$2" "$3" <<'PYTHON'
import glob, json, math, sys

job, expect = sys.argv[1], float(sys.argv[2])
trials = sorted(glob.glob(job + "/*/result.json"))
assert trials, "no trial in " + job
for path in trials:
    with open(path) as file:
        trial = json.load(file)
    assert trial["exception_info"] is None, (path, trial["exception_info"]["exception_message"])
    rewards = trial["verifier_result"]["rewards"]
    print("         ", trial["task_name"], trial["agent_info"]["name"], rewards)
    # A mean over iterations is not exact.
    assert math.isclose(rewards["reward"], expect, abs_tol=1e-9), (path, rewards, expect)
PYTHON
}

# converse KIND ITERATIONS: terminus-2 calls a model from Harbor's process, and types
# what it answers into a terminal of the task's container, where it installs tmux.
# Each iteration has a trajectory.
converse() {
    trial "$1" terminus-2 "$MODEL_REWARD" --include-task-name "$MODEL_TASK" \
        --model openai/stand-in --base-url "$model_address" --agent-env OPENAI_API_KEY=of-nobody \
        --agent-kwarg record_terminal_session=false
    local found=() file
    mapfile -t found < <(cd "$folder" && find "jobs/$1-terminus-2" -path '*/agent/trajectory.json' | sort)
    ((${#found[@]} == $2)) || die harbor "the job $1-terminus-2 has ${#found[@]} trajectories, not $2"
    for file in "${found[@]}"; do
        valid "$file"
        say harbor "$file is valid"
    done
}

# valid FILE
valid() {
    inside venv/bin/python -m harbor.utils.trajectory_validator "$1" >"$folder/validator.log" 2>&1 ||
        die harbor "Harbor's validator refuses $1: $(tail -n 20 "$folder/validator.log")"
}

# imported KIND AGENT SCORE: the job tells how many iterations it has.
imported() {
    local score
    score=$("$program" score "$folder/jobs/$1-$2" --from harbor --metadata "$folder/tasks/metadata/demo.csv" \
        --convention paper --json 2>/dev/null |
        python3 -c 'import json, sys; print(round(float(json.load(sys.stdin)["evoscore"]), 9))')
    [[ $score == "$3" ]] || die harbor "the job $1-$2 scores $score, not $3"
    run=$("$program" import-results --from harbor "$folder/jobs/$1-$2" --metadata "$folder/tasks/metadata/demo.csv" \
        --model "$2" --data "$work/data" 2>/dev/null)
    say harbor "the job $1-$2 is imported: EvoScore $score"
}

# shown KIND ITERATIONS: the site has the transcript of each iteration of the imported
# run, and its file as Harbor wrote it.
shown() {
    local evolution iteration file answers
    evolution=$(ask "runs/$run/tasks/$MODEL_TASK" | field evolution_id)
    for iteration in $(seq "$2"); do
        file=$(find "$folder/jobs/$1-terminus-2" -path '*/agent/trajectory.json' | sort | sed -n "${iteration}p")
        ask "evolutions/$evolution/iterations/$iteration/programmer/trajectory?format=atif" | cmp - "$file" ||
            die harbor "the trajectory of iteration $iteration is not the file $file"
        answers=$(ask "evolutions/$evolution/iterations/$iteration/programmer/messages" |
            python3 -c 'import json, sys
print(sum(message.get("answered") is not None for message in json.load(sys.stdin)["items"]))')
        [[ $answers == "$(grep -c '"source": "agent"' "$file")" ]] ||
            die harbor "the transcript of iteration $iteration has $answers answers, and $file others"
        say harbor "the transcript of iteration $iteration has $answers answers"
    done
}

# What the gateway recorded of a run's agents is a trajectory to Harbor too.
validate() {
    local evolution role
    evolution=$(ask "runs/$conversation" | field evolution_list.0.evolution_id)
    for role in architect programmer; do
        ask "evolutions/$evolution/iterations/1/$role/trajectory?format=atif" >"$folder/$role.json"
        valid "$role.json"
        say harbor "the trajectory of the $role is valid"
    done
}

chosen=()
for task in "$@"; do chosen+=(--include-task-name "$task"); done
serve_demo submitter
install
await_runs 1
submit_conversation quickest
await_runs 2
validate
rm -rf "$folder/tasks"
"$program" dataset export demo "$folder/tasks" --as harbor --iterations "$ITERATIONS" --data "$work/data"
start_model terminus_2
for kind in step:1 evolution:$ITERATIONS; do
    for agent in oracle:1.0 nop:0.0; do
        say harbor "${kind%:*}, ${agent%:*}"
        trial "${kind%:*}" "${agent%:*}" "${agent#*:}" "${chosen[@]}"
        imported "${kind%:*}" "${agent%:*}" "${agent#*:}"
    done
    say harbor "${kind%:*}, terminus-2"
    converse "${kind%:*}" "${kind#*:}"
    imported "${kind%:*}" terminus-2 "$MODEL_REWARD"
    shown "${kind%:*}" "${kind#*:}"
done

# shellcheck shell=bash
# A server on a temporary data folder, with the demo split and its human
# baseline, for scripts that try other programs on it. `serve_demo` sets
# `address` and SWE_CI_TOKEN. All of it is in the folder `work`, and gone at the end.

program=$ROOT/${CARGO_TARGET_DIR:-target}/debug/swe-ci
work=$(mktemp -d)
server='' address='' conversation='' model_address=''
models=()
finished=()
trap 'stop_demo; rm -rf "$work"' EXIT

# serve_demo SCOPE: and a first account, which has a token of this scope.
serve_demo() {
    [[ -x $program ]] || die server "$program is not there: make build-server"
    "$ROOT/scripts/plain-site.sh"
    SWE_CI_CODE_STYLE=${SWE_CI_CODE_STYLE:-no} SWE_CI_AUDIT=${SWE_CI_AUDIT:-no} "$program" serve --demo --listen 127.0.0.1:0 --workers 2 --data "$work/data" >"$work/log" 2>&1 &
    server=$!
    local link
    for _ in $(seq 240); do
        link=$(grep -o 'http://127.0.0.1:[0-9]*/invitation/[^ "]*' "$work/log" | head -n 1) && break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.5
    done
    [[ -n ${link:-} ]] || die server "it does not start: $(tail -n 5 "$work/log")"
    address=${link%/invitation/*}
    sign_up "$link" "$1"
    say server "$address"
}

stop_demo() {
    local process
    for process in $server "${models[@]}"; do { kill "$process" && wait "$process"; } 2>/dev/null || true; done
}

# sign_up LINK SCOPE
sign_up() {
    local secret new
    secret=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
    curl --silent --show-error --fail --output /dev/null --cookie-jar "$work/cookies" --header "Origin: $address" \
        --data "name=ada" --data "password=$secret" --data "again=$secret" "$1"
    new=$(ask tokens --cookie "$work/cookies" --header "Origin: $address" --header 'Content-Type: application/json' \
        --data "{\"name\": \"of a script\", \"scope\": \"$2\", \"days\": 1}")
    SWE_CI_TOKEN=$(field text <<<"$new")
    export SWE_CI_TOKEN
}

# ask PATH [CURL OPTION…]: the API, with the token once there is one.
ask() {
    # The token goes in by a descriptor: others on the machine see command lines.
    curl --silent --show-error --fail-with-body --max-time 60 --header @/dev/fd/3 "${@:2}" \
        "$address/api/v1/$1" 3<<<"${SWE_CI_TOKEN:+Authorization: Bearer $SWE_CI_TOKEN}"
}

# field NAME: of the JSON on stdin, such as `items.0.task_id`.
field() {
    python3 -c 'import json, sys
value = json.load(sys.stdin)
for name in sys.argv[1].split("."):
    value = value[int(name) if isinstance(value, list) else name]
print(value)' "$1"
}

# start_model NAME: a stand-in for a model, of the folder models; its address is then
# in `model_address`.
start_model() {
    local said process
    said=$(mktemp "$work/model.XXXXXX")
    python3 "$ROOT/scripts/lib/models/$1.py" >"$said" &
    process=$!
    models+=("$process")
    until [[ -s $said ]]; do
        kill -0 "$process" 2>/dev/null || die server "the stand-in for a model does not start: $1"
        sleep 0.2
    done
    model_address=$(<"$said")
}

# submit_conversation quickest|all: a run whose agents call a stand-in for a model,
# one iteration of the task with the fastest tests, or of all tasks. Its id is then
# in `conversation`.
submit_conversation() {
    local tasks=
    start_model builtin
    if [[ $1 == quickest ]]; then
        tasks=$(ask 'tasks?split=demo&state=ready&sort=suite&limit=1' | field items.0.task_id)
        tasks="\"tasks\": [\"$tasks\"],"
    fi
    printf '{"model": "stand-in", "kind": "measured", "split": "demo", "harness": {"name": "builtin"}, %s
        "endpoint": {"url": "%s", "model": "stand-in"}, "plan": {"max_iterations": 1, "max_attempts": 1}}' \
        "$tasks" "$model_address" >"$work/run.json"
    conversation=$("$program" run submit "$work/run.json" --data "$work/data" 2>"$work/submitted") ||
        die server "the run is not submitted: $(<"$work/submitted")"
    say server "the agents of run $conversation call a model"
}

# await_runs NUMBER: until so many runs are finished, for half an hour; their ids
# are then in `finished`. The first one is the human baseline.
await_runs() {
    local runs
    for _ in $(seq 360); do
        kill -0 "$server" 2>/dev/null || die server "it has stopped: $(tail -n 5 "$work/log")"
        runs=$("$program" read runs --json --data "$work/data" | finished_runs)
        read -ra finished <<<"$runs"
        ((${#finished[@]} < $1)) || return 0
        sleep 5
    done
    die server "not $1 runs are finished after half an hour: $(tail -n 5 "$work/log")"
}

finished_runs() {
    python3 -c 'import json, sys
print(*[run["run_id"] for run in json.load(sys.stdin)["items"] if run["progress"] == "finished"])'
}

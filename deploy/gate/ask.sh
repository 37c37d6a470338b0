#!/usr/bin/env bash
# Asks a server for the decision of a gate, and hands it to the pipeline:
#
#   SERVER=https://bench.example.org BASELINE=RUN CANDIDATE=RUN deploy/gate/ask.sh
#
# Exit codes: 0 pass, 1 fail, 2 the gate cannot tell (yet), or the server does not
# answer. docs/gate.md lists the variables.
set -euo pipefail

# need NAME WHAT: `${NAME:?}` would end with the code of a gate that fails.
need() {
    [[ -n ${!1:-} ]] || {
        printf '%s is missing: %s\n' "$1" "$2" >&2
        exit 2
    }
}
need SERVER "the site, such as https://bench.example.org"
need BASELINE "the id of the run to compare with"
need CANDIDATE "the id of the run that wants to pass"

# ask ADDRESS: with the rules that are set.
ask() {
    local rules=(--data-urlencode "baseline=$BASELINE" --data-urlencode "candidate=$CANDIDATE") header=()
    [[ -z ${MIN_EVOSCORE_DELTA:-} ]] || rules+=(--data-urlencode "min_evoscore_delta=$MIN_EVOSCORE_DELTA")
    [[ -z ${MAX_ZERO_REGRESSION_DROP:-} ]] || rules+=(--data-urlencode "max_zero_regression_drop=$MAX_ZERO_REGRESSION_DROP")
    [[ -z ${ALPHA:-} ]] || rules+=(--data-urlencode "alpha=$ALPHA")
    [[ -z ${EARLY:-} ]] || rules+=(--data-urlencode "early=$EARLY")
    # The token goes in by a descriptor: others on the machine see command lines.
    [[ -z ${TOKEN:-} ]] || header=(--header @/dev/fd/3)
    curl --silent --show-error --fail-with-body --max-time 60 --retry 3 --get \
        "${header[@]}" "${rules[@]}" "${SERVER%/}/api/v1/$1" 3<<<"Authorization: Bearer ${TOKEN:-}"
}

# words NAME: the values of the fields of this name, that of the gate before those
# of its bounds.
words() { grep -o "\"$1\":\"[a-z]*\"" <<<"$answer" | cut -d '"' -f 4; }

deadline=$((SECONDS + ${WAIT_MINUTES:-0} * 60))
while true; do
    answer=$(ask gate) || {
        printf '%s\n' "$answer" >&2
        exit 2
    }
    read -r decision < <(words decision)
    # Waiting helps only while a run goes on.
    if [[ $decision != open ]] || ((SECONDS >= deadline)) || ! words progress | grep -qE 'queued|running'; then
        break
    fi
    sleep 60
done

summary=$(ask gate.md) || exit 2
if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then printf '%s\n' "$summary" >>"$GITHUB_STEP_SUMMARY"; fi
printf '%s\n' "$summary"
if [[ -n ${JUNIT:-} ]]; then ask gate.xml >"$JUNIT" || exit 2; fi
if [[ -n ${GITHUB_OUTPUT:-} ]]; then
    printf 'decision=%s\njunit=%s\n' "$decision" "${JUNIT:-}" >>"$GITHUB_OUTPUT"
fi
case $decision in
    pass) exit 0 ;;
    fail) exit 1 ;;
    *) exit 2 ;;
esac

#!/usr/bin/env bash
# Measures, and compares the figures. A slow one fails nothing.
#
#   scripts/bench.sh run              beside the baseline of this kind of machine
#   scripts/bench.sh store            makes the figures of the last run that baseline
#   scripts/bench.sh compare COMMIT   the commit and this tree in turns, then ratios
#
# BENCHES names some of the benchmarks, ROUNDS says how often each runs (1; compare
# 3): then medians count. `first-page` builds a fresh clone, which takes ten minutes,
# so it runs only by its name.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh

mkdir -p "${CARGO_TARGET_DIR:-target}/bench"
FOLDER=$(cd "${CARGO_TARGET_DIR:-target}/bench" && pwd)
BASELINE=docs/bench/baseline.jsonl
read -ra NAMES <<<"${BENCHES:-*}"

# The kind of this machine: baselines of others say nothing about it.
machine() {
    local model
    model=$(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo 2>/dev/null)
    [[ -n $model ]] || model=$(sysctl -n machdep.cpu.brand_string 2>/dev/null || uname -m)
    printf '%s, %s cores' "$model" "$(getconf _NPROCESSORS_ONLN)"
}

# measure TREE FILE: adds the figures of a working tree to a file.
measure() (
    local name benches=()
    cd "$1"
    for name in "${NAMES[@]}"; do
        if [[ $name == first-page ]]; then first_page "$2"; else benches+=(--bench "$name"); fi
    done
    ((${#benches[@]})) || return 0
    SWE_CI_BENCH_OUTPUT=$2 scripts/with-postgres.sh cargo bench --no-fail-fast --profile "${BENCH_PROFILE:-dev}" \
        --workspace --exclude xtask "${benches[@]}"
)

# first_page FILE: from a fresh clone to the first page of `make run`, with Docker set
# up and what cargo downloads already there.
first_page() {
    local clone server
    clone=$(mktemp -d)
    git clone --quiet . "$clone/swe-ci"
    SECONDS=0
    set -m # a process group that ends as a whole
    (
        cd "$clone/swe-ci"
        unset CARGO_TARGET_DIR
        SWE_CI_LISTEN=127.0.0.1:3199 exec scripts/run.sh
    ) >"$clone/log" 2>&1 &
    server=$!
    set +m
    until curl --silent --fail --output /dev/null http://127.0.0.1:3199; do
        kill -0 "$server" 2>/dev/null || die bench "the clone shows no page: $clone/log"
        sleep 0.5
    done
    printf '{"lower_is_better":true,"name":"first page: from a fresh clone","unit":"s","value":%s}\n' \
        "$SECONDS" | tee -a "$1"
    kill -- "-$server"
    wait "$server" || true
    rm -rf "$clone"
}

# table OLD NEW HEAD: medians of the figures in NEW, with those in OLD and the ratio.
table() {
    awk -F '"' -v machine="$(machine)" -v head="$3" '
        function median(file, name,    all, n, i, j, swap) {
            n = split(values[file, name], all, " ")
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && all[j] + 0 < all[j - 1] + 0; j--) {
                    swap = all[j]; all[j] = all[j - 1]; all[j - 1] = swap
                }
            return all[int(n / 2) + 1]
        }
        NF > 13 && $16 != machine { next }
        { values[file, $6] = values[file, $6] " " substr($13, 2) + 0 }
        file == "new" && !($6 in unit) {
            names[++count] = $6
            unit[$6] = $10 ($3 ~ /false/ ? ", more is better" : "")
        }
        END {
            printf "\n%-58s %12s %12s %6s\n", "figure", "today", head, "ratio"
            for (at = 1; at <= count; at++) {
                name = names[at]; new = median("new", name); old = median("old", name)
                ratio = old + 0 ? sprintf("%.2f", new / old) : "-"
                printf "%-58s %12.5g %12s %6s  %s\n", name, new, old == "" ? "-" : sprintf("%.5g", old), ratio, unit[name]
            }
        }' file=old "$1" file=new "$2"
}

run() {
    local round
    rm -f "$FOLDER/today.jsonl"
    for ((round = 0; round < ${ROUNDS:-1}; round++)); do measure . "$FOLDER/today.jsonl"; done
    table "$BASELINE" "$FOLDER/today.jsonl" baseline
    grep -qsF "\"$(machine)\"" "$BASELINE" ||
        say bench "$BASELINE has no figures of this machine ($(machine)); \`make bench-store\` stores these"
}

store() {
    [[ -s $FOLDER/today.jsonl ]] || die bench "there are no figures: \`make bench\` first"
    awk -F '"' -v machine="$(machine)" '
        file == "new" { new[$6]; sub(/}$/, ",\"machine\":\"" machine "\"}"); lines = lines $0 "\n"; next }
        !($16 == machine && $6 in new)
        END { printf "%s", lines }' file=new "$FOLDER/today.jsonl" file=old "$BASELINE" >"$FOLDER/baseline.jsonl"
    mv "$FOLDER/baseline.jsonl" "$BASELINE"
    say bench "stored in $BASELINE as figures of: $(machine)"
}

compare() {
    local round tree=$FOLDER/base
    [[ -n ${1:-} ]] || die bench "which commit? make bench-compare BASE=COMMIT"
    if [[ -e $tree ]]; then
        git -C "$tree" checkout --quiet --detach "$(git rev-parse "$1^{commit}")"
    else
        git worktree add --quiet --detach "$tree" "$1"
    fi
    rm -f "$FOLDER"/{old,new}.jsonl
    touch "$FOLDER"/{old,new}.jsonl
    # The browser's benchmark starts the server.
    for round in "$tree" .; do (in_tree "$round" cargo build --workspace --exclude xtask --bins); done
    for ((round = 0; round < ${ROUNDS:-3}; round++)); do
        (in_tree "$tree" measure . "$FOLDER/old.jsonl")
        measure . "$FOLDER/new.jsonl"
    done
    [[ -s $FOLDER/old.jsonl ]] || die bench "the benchmarks of $1 do not write figures yet"
    table "$FOLDER/old.jsonl" "$FOLDER/new.jsonl" "${1:0:12}"
}

# in_tree TREE COMMAND…: what the other commit builds stays apart from ours.
in_tree() {
    cd "$1"
    [[ $1 == . ]] || export CARGO_TARGET_DIR=$1/target
    "${@:2}"
}

case ${1:-} in
    run | store | compare) "$@" ;;
    *) die bench "run, store or compare" ;;
esac

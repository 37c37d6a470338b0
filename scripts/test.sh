#!/usr/bin/env bash
# The tiers of tests. Everything is compiled and linted in one pass, beside what
# set-up fetches; then all tests run at once.
#
#   scripts/test.sh          `make test`: all but slow tests whose paths did not change
#   scripts/test.sh changed  `make test-changed`: the tests of the crates that changed
#   scripts/test.sh all      `make test-all`: every test, the whole cluster, the fuzzers
#
# What changed: the working tree, and the commits since SWE_CI_BASE; by default those
# that origin/main does not have, or the latest one if it has all.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh

tier=${1:-test}
started=$SECONDS
# Of made-up inputs each property sees 256, and by night more.
[[ $tier != all ]] || export PROPTEST_CASES=2000
log=$(mktemp -d)
setup=
clean() {
    [[ -z $setup ]] || wait "$setup" 2>/dev/null || true
    rm -rf "$log"
    # Layers and images of data folders that are gone: gigabytes in a week.
    scripts/clean-docker.sh tests >/dev/null 2>&1 || true
}
trap clean EXIT

# Clippy's driver compiles like rustc and lints on the way. `cargo clippy` would
# check every crate a second time, and all dependencies with them.
export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__

# As in the Makefile: another choice of packages is another choice of features.
native=(--workspace --exclude xtask)

# The files that changed; every file where git cannot tell.
changed_files() {
    local base=${SWE_CI_BASE:-}
    [[ -n $base ]] || base=$(git merge-base HEAD origin/main 2>/dev/null || true)
    if [[ -z $base || $base == "$(git rev-parse HEAD 2>/dev/null)" ]]; then base=HEAD^; fi
    {
        git diff --name-only "$base" -- 2>/dev/null || git ls-files 2>/dev/null || find . -path ./target -prune -o -type f -print | cut -c 3-
        git ls-files --others --exclude-standard 2>/dev/null
    } | sort -u
}

# The beginnings of the names of the slow tests to leave out: no file changed that they
# try, or so many did that they would take longer than a quarter of an hour together.
left_out() {
    local name seconds paths left=900
    while read -r name seconds paths; do
        [[ -n $name && $name != '#'* ]] || continue
        [[ $tier != all ]] || continue
        if ((seconds <= left)) && grep -qE "$paths" "$log/changed"; then
            left=$((left - seconds))
        else
            echo "$name"
        fi
    done <scripts/slow-tests.txt
}

# tests PACKAGE…: the command that runs their tests. Those of tests/cluster need a
# cluster; test-cluster.sh runs them.
tests() {
    local name filter='not binary(cluster)' skipped=(--skip cases:: --skip slurm::)
    for name in $(left_out); do
        filter+=" - test(/^$name/)"
        skipped+=(--skip "$name")
    done
    if cargo nextest --version >/dev/null 2>&1; then
        command=(cargo nextest run --no-fail-fast --no-tests pass --hide-progress-bar "$@" --run-ignored all -E "$filter")
    else
        # One test binary after the other: the same tests in more time.
        say test "cargo-nextest is missing; tests wait less with it: cargo install --locked cargo-nextest"
        command=(cargo test --no-fail-fast --lib --bins --tests "$@" -- --include-ignored "${skipped[@]}")
    fi
}

# The packages of files that changed.
changed_packages() {
    local folder
    sed -nE 's#^((crates/[^/]+)|app|server|e2e|xtask)/.*#\1#p' "$log/changed" | sort -u | while read -r folder; do
        [[ ! -e $folder/Cargo.toml ]] || sed -n 's/^name = "\(.*\)"/--package=\1/p' "$folder/Cargo.toml" | head -n 1
    done
}

# phase WHAT: says what begins, and after how long.
phase() { say test "$(printf '%d:%02d' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60))) $*"; }

# part COMMAND…: runs it, keeps what it prints, and goes on when it fails.
failed=
part() { "$@" 2>&1 | tee -a "$log/output" || failed=yes; }

build_site() { cargo run --quiet --package xtask -- site; }

changed_files >"$log/changed"
for name in $(left_out); do
    say slow "$name waits for make test-all (scripts/slow-tests.txt)"
done

if [[ $tier == changed ]]; then
    mapfile -t packages < <(changed_packages)
    scripts/setup.sh build docker image postgres
    if [[ " ${packages[*]} " == *" --package=e2e "* ]]; then
        scripts/setup.sh browser axe
        cargo build --quiet "${native[@]}" --bins
        build_site
    fi
    tests "${packages[@]}"
    ((${#packages[@]} == 0)) || part scripts/with-postgres.sh "${command[@]}"
    # Its tests read all of the tree: texts, layers, scripts.
    part cargo test --quiet --package xtask
else
    # A cold run was seen to use 7.3 GB; tasks are only imported where 1 GB more is free.
    target=${CARGO_TARGET_DIR:-target}
    mkdir -p "$target"
    room=$((9 - $(du -sk "$target" | cut -f 1) / 1024 / 1024))
    need_room test $((room > 4 ? room : 4)) "$target"

    scripts/setup.sh build
    scripts/setup.sh docker image python postgres browser axe >"$log/setup" 2>&1 &
    setup=$!
    # What the night measures with is compiled then.
    targets=(--lib --bins --tests)
    [[ $tier != all ]] || targets=(--all-targets)
    phase "compiling the native half with tests; installing what they need beside it"
    cargo build --quiet "${native[@]}" "${targets[@]}"
    phase "compiling the browser half"
    build_site
    wait "$setup" || failed=yes
    setup=
    cat "$log/setup"
    [[ -z $failed ]] || exit 1
    phase "running the tests"
    part cargo test --quiet --package xtask
    tests "${native[@]}"
    part scripts/with-postgres.sh "${command[@]}"

    cases=(in_short)
    [[ $tier != all ]] || cases=()
    if [[ $(left_out) == *cases::in_short* ]]; then
        say cluster "left out: nothing it tries has changed"
    elif is_root && [[ $(uname) == Linux ]]; then
        phase "machines that fail"
        part scripts/test-cluster.sh "${cases[@]}"
    else
        say cluster "left out: nodes with networks of their own need root and Linux"
    fi
    if [[ $tier == all ]]; then
        phase "made-up bytes"
        part scripts/fuzz.sh
    fi
fi

phase "the ten slowest tests, in seconds"
sed -nE 's/^ +(PASS|FAIL|TIMEOUT|SLOW|LEAK) \[ *([0-9.]+)s\] +(.*)/\2 \3/p' "$log/output" |
    sort -rn | awk '!seen[$2 $3 $4]++ && ++rows <= 10 { printf "%9.1f  %s\n", $1, substr($0, index($0, " ") + 1) }'
# The runners' own words, together and last.
grep -E '^ +Summary \[|^ +(FAIL|TIMEOUT) \[|^test result: ' "$log/output" | sort -u
[[ -z $failed ]]

#!/usr/bin/env bash
# What `make test` runs after set-up and the checks of texts: everything is
# compiled and linted once, then the tests in containers and those in a browser
# run side by side, because both mostly wait.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh

# Clippy's driver compiles like rustc and lints on the way. `cargo clippy` would
# check every crate a second time, and all dependencies with them.
export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__

# As in the Makefile: another choice of packages is another choice of features.
native=(--workspace --exclude xtask)

# One agent program of those that `make test-harnesses` tries, by the commit.
harnesses=(opencode mini_swe_agent qwen_code codex claude_code gemini_cli aider)
commit=$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0)
harness=${harnesses[$((16#$commit % ${#harnesses[@]}))]}
# Also by the commit, a third of the attacks that `make cheats` tries.
export SWE_CI_CHEATS_PART=$((16#$commit % 3))

if cargo nextest --version >/dev/null 2>&1; then
    nextest() { cargo nextest run --no-fail-fast --hide-progress-bar "${native[@]}" "$@"; }
    but_browser() { nextest -E 'not package(e2e)'; }
    one_harness() { nextest --run-ignored only -E "test(=programs::$harness)"; }
    in_browser() { nextest -E 'package(e2e)'; }
else
    # One test binary after the other: the same tests in more time.
    say test "cargo-nextest is missing; tests wait less with it: cargo install --locked cargo-nextest"
    tests() { cargo test --no-fail-fast "${native[@]}" "$@"; }
    but_browser() { tests --exclude e2e --lib --bins --tests; }
    one_harness() { tests --test it -- --ignored --exact "programs::$harness"; }
    in_browser() { cargo test --no-fail-fast --package e2e; }
fi

# A cold run was seen to use 7.3 GB; tasks are only imported where 1 GB more is free.
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
room=$((9 - $(du -sk "$target" | cut -f 1) / 1024 / 1024))
need_room test $((room > 4 ? room : 4)) "$target"

say build "native half, tests and benchmarks"
cargo build --quiet "${native[@]}" --all-targets

log=$(mktemp)
clean() {
    rm -f "$log"
    # Layers and images of data folders that are gone: gigabytes in a week.
    scripts/clean-docker.sh tests >/dev/null
}
trap clean EXIT
say test "in containers and databases (their output follows below), beside the browser half"
{
    # They mostly wait; the browser half is what the tests in a browser wait for.
    renice -n 10 -p "$BASHPID" >/dev/null
    but_browser
    say test "agent program of this commit: $harness"
    one_harness
} >"$log" 2>&1 &
others=$!

failed=
{
    cargo run --quiet --package xtask -- site &&
        cargo test --quiet --package xtask
} || failed=yes
in_browser || failed=yes

# Machines that fail, in short; `make test-cluster` tries all of it.
if is_root && [[ $(uname) == Linux ]]; then
    scripts/test-cluster.sh in_short || failed=yes
else
    say cluster "left out: nodes with networks of their own need root and Linux"
fi

wait "$others" || failed=yes
cat "$log"
[[ -z $failed ]]

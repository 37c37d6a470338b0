#!/usr/bin/env bash
# `make test-engines`: the isolation tests on Docker, rootless Podman and bubblewrap,
# and the demo's human baseline on the latter two, as an ordinary user.
#
#   scripts/test-engines.sh                 all
#   scripts/test-engines.sh podman          one of docker, podman, bubblewrap
#
# SWE_CI_BINARIES is a folder with the program `swe-ci` and the sandbox's tests as
# `sandbox-tests`; they are built when it is absent.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh

BASE=swe-ci/base:py311
USER_NAME=swe-ci-test
engines=("$@")
((${#engines[@]})) || engines=(docker podman bubblewrap)

have podman && have bwrap && have newuidmap || {
    need_leave engines "Podman, bubblewrap or uidmap is missing."
    apt_install podman crun runc uidmap fuse-overlayfs slirp4netns bubblewrap
}
id "$USER_NAME" >/dev/null 2>&1 || as_root useradd --create-home --shell /bin/bash "$USER_NAME"

# What an ordinary user can read, and nobody else's tests.
work=$(mktemp -d /tmp/swe-ci-engines.XXXXXX)
chmod 755 "$work"
service=
finish() {
    [[ -z $service ]] || as_root kill "$service" 2>/dev/null || true
    as_root rm -rf "$work"
}
trap finish EXIT

if [[ -n ${SWE_CI_BINARIES:-} ]]; then
    cp "$SWE_CI_BINARIES"/{swe-ci,sandbox-tests} "$work"
else
    tests=$(cargo test --workspace --exclude xtask --test it --no-run --message-format json |
        sed -nE '/"package_id":"[^"]*swe-ci-sandbox[@#][^"]*"/ s/.*"executable":"([^"]+)".*/\1/p' | tail -1)
    cargo build --workspace --exclude xtask --bins
    cp "$tests" "$work/sandbox-tests"
    cp "${CARGO_TARGET_DIR:-target}/debug/swe-ci" "$work"
fi
docker save "$BASE" --output "$work/base.tar"
as_root install -d -m 700 -o "$USER_NAME" "$work/run" "$work/data" "$work/tmp"
chmod 644 "$work/base.tar"

# as_user COMMAND…: with an environment of its own, as a login would have.
as_user() {
    as_root runuser --user "$USER_NAME" -- env --chdir="$work/tmp" --ignore-environment \
        PATH="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" HOME="/home/$USER_NAME" USER="$USER_NAME" \
        TMPDIR="$work/tmp" XDG_RUNTIME_DIR="$work/run" SWE_CI_TEST_IMAGE="$work/base.tar" \
        SWE_CI_ENGINE="$engine" SWE_CI_DATA="$work/data/$engine" \
        ${PIP_INDEX_URL:+PIP_INDEX_URL=$PIP_INDEX_URL} \
        ${http_proxy:+http_proxy=$http_proxy} ${https_proxy:+https_proxy=$https_proxy} \
        ${no_proxy:+no_proxy=$no_proxy} ${SSL_CERT_FILE:+SSL_CERT_FILE=$SSL_CERT_FILE} "$@"
}

# crun wants control groups of one version.
runtime=
start_podman() {
    [[ ! -d /sys/fs/cgroup/unified ]] || runtime=runc
    as_user mkdir -p "/home/$USER_NAME/.config/containers" "$work/run/podman"
    as_user sh -c 'printf "[storage]\ndriver = \"overlay\"\n" > ~/.config/containers/storage.conf'
    as_user sh -c "podman --log-level=error ${runtime:+--runtime $runtime} system service --time=0 \
        unix://$work/run/podman/podman.sock & echo \$! > $work/run/pid; wait" &
    local tries=100
    until [[ -S $work/run/podman/podman.sock ]]; do
        ((tries--)) || die engines "Podman's service does not start"
        sleep 0.1
    done
    service=$(as_root cat "$work/run/pid")
    as_user podman load --quiet --input "$work/base.tar"
}

# human_baseline: every task of the demo is solved, on this engine and no other.
human_baseline() {
    local run server shown="$work/run.json"
    as_user "$work/swe-ci" serve --listen 127.0.0.1:0 >"$work/$engine.log" 2>&1 &
    server=$!
    run=$(as_user "$work/swe-ci" run submit --human)
    for _ in $(seq 240); do
        as_user "$work/swe-ci" run show "$run" --json >"$shown"
        if grep -q '"progress": *"finished"' <(tr -d '\n' <"$shown" | grep -o '"summary": *{.*'); then break; fi
        sleep 2
    done
    as_root kill "$server"
    python3 - "$shown" "$engine" <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
endings = [evolution["ending"] for evolution in run["evolution_list"]]
engines = run["provenance"].get("engines", [])
print(*endings, "|", *engines)
assert endings and set(endings) == {"solved"}, endings
assert engines and all(engine.lower().startswith(sys.argv[2]) for engine in engines), engines
PYTHON
}

failed=()
for engine in "${engines[@]}"; do
    say engines "$engine: isolation"
    case $engine in
        docker) "$work/sandbox-tests" --test-threads 2 || failed+=("$engine") ;;
        podman)
            start_podman
            as_user "$work/sandbox-tests" --test-threads 2 || failed+=("$engine")
            say engines "$engine: the demo"
            as_user "$work/swe-ci" dataset demo
            human_baseline || failed+=("$engine demo")
            as_user "$work/swe-ci" dataset export demo "$work/data/demo"
            ;;
        bubblewrap)
            as_user "$work/sandbox-tests" --test-threads 2 || failed+=("$engine")
            if as_root test -d "$work/data/demo"; then
                say engines "$engine: the demo"
                as_user "$work/swe-ci" dataset import --from "$work/data/demo" --split demo
                human_baseline || failed+=("$engine demo")
            fi
            ;;
        *) die engines "unknown: $engine (docker, podman, bubblewrap)" ;;
    esac
done
((${#failed[@]} == 0)) || die engines "failed: ${failed[*]}"
say engines "all passed: ${engines[*]}"

#!/usr/bin/env bash
# `make run`: the server, with everything it needs. Setting up Docker waits for
# the network and building for the processor, so the two go on at once.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
# shellcheck source=scripts/lib/progress.sh
source scripts/lib/progress.sh

server=${CARGO_TARGET_DIR:-target}/debug/swe-ci
[[ -x $server ]] || say build "the first build takes about seven minutes on two cores, later ones seconds"
scripts/setup.sh build

# Each half in a process group of its own, so that it can be stopped with all it
# has started; the terminal's Ctrl-C reaches only us, and we pass it on.
set -m
build='' engine=''
stop() {
    trap - INT TERM HUP USR1
    kill -- ${build:+"-$build"} ${engine:+"-$engine"} 2>/dev/null || true
    { wait; } 2>/dev/null # the shell would report each job it has killed
    exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM HUP
trap 'say run "stopped: swe-ci needs Docker, see above"; stop 1' USR1

with_progress "the server" make --no-print-directory build-server </dev/null &
build=$!
# A server without Docker is of no use: USR1 says so at once, not after the build.
(scripts/setup.sh docker image </dev/null || kill -USR1 $$) &
engine=$!

# A build that fails lets the set-up finish: apt does not like to be killed.
wait "$build" || {
    wait "$engine" || true
    exit 1
}
wait "$engine"

# The server does not wait for the browser half: pages are documents without it,
# and get their scripts as soon as they are built.
set +m
scripts/plain-site.sh
if [[ -t 2 ]]; then
    # Its lines would push away what the server says.
    make --no-print-directory build-site </dev/null >"${CARGO_TARGET_DIR:-target}/site.log" 2>&1 &
else
    make --no-print-directory build-site </dev/null &
fi

# In our place: make, systemd or a terminal then talk to the server itself.
exec "$server" serve --demo "$@"

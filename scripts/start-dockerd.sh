#!/usr/bin/env bash
# Starts dockerd on a machine without systemd (a container, a CI runner) and
# returns when it answers. Run as root. Once: whoever comes second waits for
# the first and finds the engine running.
#
#   pid  /var/run/docker.pid (dockerd's own)
#   log  /var/log/swe-ci-dockerd.log
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
source "$ROOT/scripts/lib/common.sh"

LOG=/var/log/swe-ci-dockerd.log
SECONDS_TO_START=60
SOCKET=/var/run/docker.sock

answers() { timeout 10 docker --host "unix://$SOCKET" version >/dev/null 2>&1; }

# A pid file outlives its process after a crash or a restored disk, and the
# number may belong to somebody else by now, or to a zombie; dockerd then refuses
# to start, or waits for a containerd that is none. Believe it only when that
# process runs the right program (a zombie's `exe` leads nowhere).
forget_stale_pid() {
    local file=$1 name=$2 pid
    [[ -e $file ]] || return 0
    pid=$(<"$file")
    [[ $(readlink "/proc/$pid/exe") == */"$name"* ]] || rm -f "$file"
}

# dockerd takes a system containerd for running when its socket merely exists.
forget_stale_containerd_socket() {
    local socket=/run/containerd/containerd.sock
    grep -qsF " $socket" /proc/net/unix || rm -f "$socket"
}

start() {
    if answers; then return; fi
    forget_stale_pid /var/run/docker.pid dockerd
    forget_stale_pid /var/run/docker/containerd/containerd.pid containerd
    forget_stale_containerd_socket
    # One that is just starting, or hangs: wait for it rather than add another.
    local ours=
    if [[ ! -e /var/run/docker.pid ]]; then
        # A session of its own, and no descriptor of ours: it outlives `make`,
        # a closing terminal does not end it, and no pipe of a CI runner waits
        # for it. 9 is the lock.
        setsid nohup dockerd --host "unix://$SOCKET" </dev/null >>"$LOG" 2>&1 9>&- &
        ours=$!
    fi
    local deadline=$((SECONDS + SECONDS_TO_START))
    until answers; do
        if ((SECONDS >= deadline)) || { [[ -n $ours ]] && ! kill -0 "$ours" 2>/dev/null; }; then
            tail -n 20 "$LOG" >&2 || true
            die docker "dockerd does not answer; the lines above are the end of $LOG"
        fi
        sleep 0.2
    done
}

is_root || die docker "start-dockerd.sh must run as root"
with_lock dockerd start

#!/usr/bin/env bash
# Runs a command with a PostgreSQL that exists for it alone:
#
#   scripts/with-postgres.sh cargo test --workspace
#
# The command finds it in DATABASE_URL_POSTGRES. Nothing outlives the command,
# and no port is taken: the database answers on a Unix socket. When
# DATABASE_URL_POSTGRES is set already, that database is used instead.
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
source "$ROOT/scripts/lib/common.sh"
# shellcheck source=scripts/lib/postgres.sh
source "$ROOT/scripts/lib/postgres.sh"

[[ -z ${DATABASE_URL_POSTGRES:-} ]] || exec "$@"

BIN=$(postgres_bin)
[[ -n $BIN ]] || die postgres "PostgreSQL is missing: scripts/setup.sh postgres"

# Not under target/: PostgreSQL refuses to run as root, and whoever it runs as
# may not see into root's clone; a socket's path is short, too (107 bytes).
dir=$(mktemp -d /tmp/swe-ci-postgres.XXXXXX)
server=

stop() {
    trap - EXIT INT TERM HUP
    if [[ -n $server ]]; then
        kill -INT "$server" 2>/dev/null || true # "fast": drops its clients
        wait "$server" || true
    fi
    rm -rf "$dir"
}
trap stop EXIT
trap 'stop; exit 130' INT
trap 'stop; exit 143' TERM HUP

# As an unprivileged user when we are root; and ending with us, even when we
# are killed in a way that no trap sees.
unprivileged=()
if have setpriv; then unprivileged=(setpriv --pdeathsig INT); fi
if is_root; then
    user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    chown "$user" "$dir"
    unprivileged+=(--reuid "$user" --regid "$(id -g "$user")" --clear-groups)
fi

start() {
    cd "$dir" # where that user may be; a clone below /root is not such a place
    "${unprivileged[@]}" "$BIN/initdb" --pgdata "$dir/data" --username swe_ci \
        --auth trust --encoding UTF8 --no-locale --no-sync >"$dir/log" 2>&1 ||
        return
    # Nobody will miss this data: no waiting for the disk.
    "${unprivileged[@]}" "$BIN/postgres" -D "$dir/data" -k "$dir" -h '' \
        -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
        -c max_connections=200 >>"$dir/log" 2>&1 </dev/null &
    server=$!
    cd "$OLDPWD"
    until grep -qs '^ready' "$dir/data/postmaster.pid"; do
        kill -0 "$server" 2>/dev/null || return
        ((SECONDS < 60)) || return
        sleep 0.1
    done
}

if ! start; then
    tail -n 20 "$dir/log" >&2
    die postgres "the throwaway cluster did not start; the lines above say why"
fi

DATABASE_URL_POSTGRES="postgres://swe_ci@localhost/postgres?host=$dir" "$@"

# shellcheck shell=bash
# PostgreSQL's programs, for the throwaway cluster of scripts/with-postgres.sh.

setup_postgres() {
    # Somebody brings a database of their own: nothing to install.
    if [[ -n ${DATABASE_URL_POSTGRES:-} ]]; then
        say postgres "DATABASE_URL_POSTGRES is set"
        return
    fi
    if [[ -z $(postgres_bin) ]]; then
        need_leave postgres "PostgreSQL is missing. Install it (Debian: apt install postgresql), or set DATABASE_URL_POSTGRES."
        apt_install postgresql
    fi
    say postgres "$("$(postgres_bin)/postgres" --version)"
}

# The folder of initdb and postgres. Debian keeps each version in a folder of
# its own, outside PATH: the newest, then.
postgres_bin() {
    local initdb
    initdb=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)
    [[ -x $initdb ]] || initdb=$(command -v initdb) || return 0
    dirname "$(readlink -f "$initdb")"
}

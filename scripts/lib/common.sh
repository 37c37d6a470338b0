# shellcheck shell=bash
# What every set-up script shares: plain messages, leave to install, apt and
# locks. Sourced, never run.

say() { printf '\r\033[K\033[2m%-9s\033[0m %s\n' "$1" "${*:2}"; } # in place of a line of progress
die() {
    printf '\033[31m%-9s\033[0m %s\n' "$1" "${*:2}" >&2
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# Escape codes belong on a terminal, not in a CI log.
if [[ ! -t 1 || -n ${NO_COLOR:-} ]]; then
    say() { printf '%-9s %s\n' "$1" "${*:2}"; }
    die() {
        printf '%-9s %s\n' "$1" "${*:2}" >&2
        exit 1
    }
fi

is_root() { [[ $(id -u) == 0 ]]; }
as_root() { if is_root; then "$@"; else sudo "$@"; fi; }

is_debian() {
    have apt-get && grep -qsE '^ID(_LIKE)?=.*debian' /etc/os-release
}

# Installing packages changes somebody's machine, so it takes leave: being root
# on Debian (a container, a CI runner, a lab server set up for this), or
# SWE_CI_SETUP=yes, which may use sudo. SWE_CI_SETUP=no forbids it to root too.
may_install() {
    is_debian || return 1
    case ${SWE_CI_SETUP:-} in
        yes) is_root || have sudo ;;
        no) return 1 ;;
        *) is_root ;;
    esac
}

# need_leave CONCERN HINT: stop with what to do, unless we may do it ourselves.
need_leave() {
    may_install && return
    if is_debian; then
        die "$1" "$2 Or let set-up do it: run as root, or with SWE_CI_SETUP=yes (uses sudo)."
    fi
    die "$1" "$2"
}

# with_lock NAME COMMAND…: one at a time, for this user on this machine. The
# descriptor belongs to the command's subshell; a daemon started below it must
# close it (9>&-), or the lock lives as long as the daemon.
with_lock() {
    local folder=${XDG_RUNTIME_DIR:-/tmp}
    if is_root; then folder=/run; fi
    have flock || {
        "${@:2}"
        return
    }
    (
        flock 9
        "${@:2}"
    ) 9>"$folder/swe-ci-$(id -u)-$1.lock"
}

# need_room CONCERN GIB FOLDER: stops unless the folder's disk has that much free.
# Whatever a full disk fails later names something else.
need_room() {
    local free
    free=$(df -Pk "$3" | awk 'NR == 2 { printf "%d", $4 / 1024 / 1024 }')
    ((free >= $2)) || die "$1" "the disk of $3 has $free GiB free, and this takes up to $2:" \
        "\`make clean\` removes what was built, \`scripts/clean-docker.sh tests\` what tests have left in Docker"
}

# limit SECONDS COMMAND…: macOS has no `timeout`; there the command may take long.
limit() { if have timeout; then timeout "$@"; else "${@:2}"; fi; }

# apt_install PACKAGE…: tries the package lists as they are and refreshes them
# only when that fails, so that most installs save the download. Apt waits for
# dpkg's lock but not for its other locks: hence ours around everything.
apt_install() {
    say apt "installing $*"
    with_lock apt apt_install_locked "$@"
}

apt_install_locked() {
    local log
    log=$(mktemp)
    if apt_get "$log" install "$@" ||
        { apt_get "$log" update && apt_get "$log" install "$@"; }; then
        rm -f "$log"
        return
    fi
    tail -n 30 "$log" >&2
    die apt "could not install $*; the whole log: $log"
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq --yes \
        -o DPkg::Lock::Timeout=300 --no-install-recommends "${@:2}" \
        >>"$1" 2>&1 </dev/null 9>&-
}

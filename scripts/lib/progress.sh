# shellcheck shell=bash
# What somebody at a terminal sees of a build: one line that says how far it is.

# with_progress WHAT COMMAND…: a cargo command. Without a terminal cargo says itself
# what it does. Other lines than those of its progress are shown as they are.
with_progress() {
    local what=$1
    shift
    if [[ ! -t 2 ]]; then
        "$@"
        return
    fi
    CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=100 CARGO_TERM_COLOR=never "$@" 2>&1 |
        awk -v RS='[\r\n]+' -v what="$what" '
            function show(text) { printf "\r\033[K%-9s %s", "build", text; fflush() }
            { gsub(/\033\[K/, "") }
            match($0, /^ *Building \[[=> ]*\] [0-9]+\/[0-9]+/) {
                split(substr($0, RSTART, RLENGTH), parts, /\] /)
                show(what ": " parts[2] " parts")
                next
            }
            /^ *(Compiling|Checking|Downloaded|Downloading|Updating|Locking|Blocking|Building|Finished|Running|Fresh|Dirty|Adding) / || /^ *$/ { next }
            { printf "\r\033[K%s\n", $0; fflush() }
            END { printf "\r\033[K"; fflush() }' >&2
}

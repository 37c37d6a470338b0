#!/usr/bin/env bash
# Removes what swe-ci has left in Docker: containers, networks, volumes (the
# layers of agent programs) and images with its label. The base image has no label
# and stays.
#
#   clean-docker.sh        of all installations: a running server's are among them
#   clean-docker.sh tests  of installations that tests made; what is in use stays
set -euo pipefail

OF=${1:-all}
[[ $OF == all || $OF == tests ]] || {
    echo "clean-docker.sh: unknown: $OF (tests, or nothing for all)" >&2
    exit 2
}
LABEL=swe-ci.instance

each() { # each COMMAND… : with the ids on stdin, when there are any
    local ids
    mapfile -t ids
    ((${#ids[@]} == 0)) || "$@" "${ids[@]}"
}

# ours KIND ID LABELS [OPTION…] : the ids of that kind; ID and LABELS are where
# `docker KIND inspect` has them.
ours() {
    local kind=$1 id=$2 labels=$3
    docker "$kind" ls --quiet --filter "label=$LABEL" "${@:4}" | sort -u |
        each docker "$kind" inspect --format "{{$id}} {{index $labels \"$LABEL\"}}" |
        awk -v of="$OF" 'of == "all" || $2 ~ /^test-/ { print $1 }'
}

if [[ $OF == all ]]; then
    ours container .Id .Config.Labels --all | each docker rm --force --volumes
    ours network .Id .Labels | each docker network rm
fi
ours volume .Name .Labels | each docker volume rm || true

# An image goes only after those built on it.
before=
while left=$(ours image .Id .Config.Labels) && [[ -n $left && $left != "$before" ]]; do
    each docker rmi --force <<<"$left" 2>/dev/null || true
    before=$left
done

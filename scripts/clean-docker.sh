#!/usr/bin/env bash
# Removes what swe-ci has left in Docker: containers, networks, volumes (the
# layers of agent programs) and images with its label. A running server's are
# among them. The base image has no label and stays.
set -euo pipefail

each() { # each REMOVE… : for the ids on stdin, when there are any
    local ids
    mapfile -t ids
    ((${#ids[@]} == 0)) || "$@" "${ids[@]}"
}

label=label=swe-ci.instance
docker ps --all --quiet --filter "$label" | each docker rm --force --volumes
docker network ls --quiet --filter "$label" | each docker network rm
docker volume ls --quiet --filter "$label" | each docker volume rm --force
docker images --quiet --filter "$label" | sort -u | each docker rmi --force

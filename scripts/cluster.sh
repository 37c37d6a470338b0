#!/usr/bin/env bash
# A cluster on this machine, to try swe-ci on many: PostgreSQL, an S3 store, an
# image registry, and nodes. Each node has a network, a host name, /run,
# /var/lib/swe-ci and a Docker engine of its own; the engines are one Swarm.
#
#   scripts/cluster.sh up                 start it, and print what to source
#   scripts/cluster.sh env                print that again
#   scripts/cluster.sh check              try store, registry, database and Swarm
#   scripts/cluster.sh on NODE COMMAND…   run a command as on that node
#   scripts/cluster.sh kill WHAT          kill -9 of postgres, store, registry or a node's engine
#   scripts/cluster.sh start WHAT         start it again, with the data it left
#   scripts/cluster.sh cut NODE           take the cable out of a node
#   scripts/cluster.sh join NODE          put it back
#   scripts/cluster.sh power-off NODE     end all that runs on a node, at once
#   scripts/cluster.sh power-on NODE      start its engine, and Slurm if that is up
#   scripts/cluster.sh slurm              start Slurm on the nodes
#   scripts/cluster.sh down               stop it and remove everything
#
#   SWE_CI_CLUSTER         folder; its name is the cluster's  /tmp/swe-ci-cluster
#   SWE_CI_CLUSTER_NODES   number of nodes, 1 to 9            3
#   SWE_CI_CLUSTER_SUBNET  three bytes of the network         10.77.0
#   SWE_CI_CLUSTER_PORT    first of ten ports                 7030
#
# Root on Linux. It is for trials: nothing is replicated, and data is not synced
# to the disk.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
source "$ROOT/scripts/lib/common.sh"
# shellcheck source=scripts/lib/cluster-settings.sh
source "$ROOT/scripts/lib/cluster-settings.sh"
# shellcheck source=scripts/lib/docker.sh
source "$ROOT/scripts/lib/docker.sh"
# shellcheck source=scripts/lib/postgres.sh
source "$ROOT/scripts/lib/postgres.sh"
# shellcheck source=scripts/lib/cluster-services.sh
source "$ROOT/scripts/lib/cluster-services.sh"
# shellcheck source=scripts/lib/cluster-nodes.sh
source "$ROOT/scripts/lib/cluster-nodes.sh"
# shellcheck source=scripts/lib/cluster-slurm.sh
source "$ROOT/scripts/lib/cluster-slurm.sh"

setup() {
    setup_docker
    setup_postgres
    setup_services
    if ! have ip && may_install; then apt_install iproute2; fi
    local program
    for program in ip nsenter unshare iptables; do
        have "$program" || die cluster "$program is missing (Debian: apt install iproute2 util-linux iptables)."
    done
}

up() {
    if [[ -e $CLUSTER/env ]]; then
        say cluster "is up already; scripts/cluster.sh down removes it"
        return
    fi
    [[ ! -e $CLUSTER ]] || die cluster "$CLUSTER is left from another time: scripts/cluster.sh down removes it."
    setup
    mkdir -m 755 "$CLUSTER"
    # Whatever came up must not stay when the rest does not.
    trap 'down >&2' EXIT
    make_network
    start_postgres
    start_store
    start_registry
    start_nodes
    load_base_image
    write_env
    trap - EXIT
}

write_env() {
    # Renamed at the end: a cluster with this file is whole.
    umask 077
    cat >"$CLUSTER/env.new" <<END
# of scripts/cluster.sh; every process also needs a SWE_CI_DATA of its own
export SWE_CI_DATABASE_URL=$(postgres_url)
export SWE_CI_ARTIFACTS=s3://$BUCKET/artifacts
export AWS_ENDPOINT_URL=$(store_url)
export AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=$(<"$CLUSTER/store.id")
export AWS_SECRET_ACCESS_KEY=$(<"$CLUSTER/store.secret")
export SWE_CI_REGISTRY=$(registry_address)/swe-ci
export SWE_CI_SECRET=$(openssl rand -base64 32)
# the engine of the first node, for the server and the command line
export DOCKER_HOST=$(node_engine n1)
END
    mv "$CLUSTER/env.new" "$CLUSTER/env"
}

down() {
    stop_slurm
    stop_nodes
    stop_services
    remove_network
    rm -rf "$CLUSTER"
    say cluster "is gone"
}

# serve PART: starts it on the data it has.
serve() {
    case $1 in
        postgres) serve_postgres ;;
        store) serve_store ;;
        registry) serve_registry ;;
        */engine) serve_engine "${1%/engine}" ;;
    esac
}

need_up() { [[ -e $CLUSTER/env ]] || die cluster "is not up: scripts/cluster.sh up"; }

case ${1:-} in
    up)
        up
        say cluster "$(describe_nodes)"
        say cluster "source $CLUSTER/env"
        ;;
    env)
        need_up
        cat "$CLUSTER/env"
        ;;
    check)
        need_up
        check_postgres
        check_store
        check_registry
        check_swarm
        ;;
    on)
        need_up
        (($# > 2)) || die cluster "which node and which command? scripts/cluster.sh on n2 docker ps"
        on_node "$2" "${@:3}"
        ;;
    kill | start)
        need_up
        case ${2:-} in
            postgres | store | registry) part=$2 ;;
            n[1-9])
                need_node "$2"
                part=$2/engine
                ;;
            *) die cluster "what? postgres, store, registry or a node" ;;
        esac
        case $1-$part in
            start-*) serve "$part" ;;
            # As much of a crash as -9, and its children die with it.
            kill-postgres) end postgres QUIT ;;
            kill-*) end "$part" KILL ;;
        esac
        ;;
    cut | join)
        need_up
        need_node "${2:-}"
        state=up
        if [[ $1 == cut ]]; then state=down; fi
        ip link set "$(cable "$2")" "$state"
        ;;
    replica)
        need_up
        start_replica
        ;;
    fail-over)
        need_up
        fail_over
        ;;
    slurm)
        need_up
        start_slurm
        ;;
    power-off)
        need_up
        need_node "${2:-}"
        power_off "$2"
        ;;
    power-on)
        need_up
        need_node "${2:-}"
        serve_engine "$2"
        if slurm_is_up; then serve_slurmd "$2"; fi
        ;;
    clock)
        setup_clock
        clock
        ;;
    down) down ;;
    *) die cluster "unknown: ${1:-nothing} (up, env, check, on, kill, start, cut, join, replica, fail-over, slurm, power-off, power-on, clock, down)" ;;
esac

#!/usr/bin/env bash
# A cluster on this machine, to try swe-ci on many: PostgreSQL, an S3 store, an
# image registry, and nodes. Each node has a network, a host name, /run,
# /var/lib/swe-ci and a Docker engine of its own; the engines are one Swarm.
#
#   scripts/cluster.sh up                 start it, and print what to source
#   scripts/cluster.sh env                print that again
#   scripts/cluster.sh check              try store, registry, database and Swarm
#   scripts/cluster.sh on NODE COMMAND…   run a command as on that node
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
# shellcheck source=scripts/lib/docker.sh
source "$ROOT/scripts/lib/docker.sh"
# shellcheck source=scripts/lib/postgres.sh
source "$ROOT/scripts/lib/postgres.sh"
# shellcheck source=scripts/lib/cluster-services.sh
source "$ROOT/scripts/lib/cluster-services.sh"
# shellcheck source=scripts/lib/cluster-nodes.sh
source "$ROOT/scripts/lib/cluster-nodes.sh"

CLUSTER=${SWE_CI_CLUSTER:-/tmp/swe-ci-cluster}
NODES=${SWE_CI_CLUSTER_NODES:-3}
SUBNET=${SWE_CI_CLUSTER_SUBNET:-10.77.0}
PORT=${SWE_CI_CLUSTER_PORT:-7030}
HOST=$SUBNET.1 # this machine, as the nodes see it

is_root || die cluster "Network namespaces and engines need root."
[[ $CLUSTER =~ ^(/[A-Za-z0-9._-]+)*/[a-z][a-z0-9-]{0,30}$ ]] ||
    die cluster "SWE_CI_CLUSTER is $CLUSTER: give an absolute path whose last part is at most 31 of a-z, 0-9 and -."
[[ $NODES =~ ^[1-9]$ ]] || die cluster "SWE_CI_CLUSTER_NODES is $NODES: give 1 to 9."
[[ $SUBNET =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
    die cluster "SWE_CI_CLUSTER_SUBNET is $SUBNET: give three bytes, such as 10.77.0."

setup() {
    setup_docker
    setup_postgres
    setup_services
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
    stop_nodes
    stop_services
    remove_network
    rm -rf "$CLUSTER"
    say cluster "is gone"
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
    down) down ;;
    *) die cluster "unknown: ${1:-nothing} (up, env, check, on, down)" ;;
esac

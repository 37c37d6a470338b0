# shellcheck shell=bash
# The settings of scripts/cluster.sh, checked, for every script that uses its
# cluster.
# shellcheck disable=SC2034 # for those that source this

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

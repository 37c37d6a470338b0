#!/usr/bin/env bash
# Kubernetes on the nodes of scripts/cluster.sh, to try the Helm chart: etcd and
# the control plane on this machine, a kubelet and a kube-proxy on each node,
# which starts pods by the node's own Docker engine.
#
#   scripts/kubernetes.sh build    build its programs, once (minutes)
#   scripts/kubernetes.sh up       start it, with the cluster, and print what to source
#   scripts/kubernetes.sh env      print that again
#   scripts/kubernetes.sh down     stop and remove it, with the cluster
#
#   SWE_CI_CLUSTER…            as for scripts/cluster.sh; at most 8 nodes
#   SWE_CI_KUBERNETES_CACHE    folder of the built programs
#
# Root on Debian 12. It is for trials: one control plane, no roles, no TLS between
# its parts beyond the API server's, and network policies are not enforced.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
source "$ROOT/scripts/lib/common.sh"
# shellcheck source=scripts/lib/cluster-settings.sh
source "$ROOT/scripts/lib/cluster-settings.sh"
# shellcheck source=scripts/lib/cluster-services.sh
source "$ROOT/scripts/lib/cluster-services.sh"
# shellcheck source=scripts/lib/cluster-nodes.sh
source "$ROOT/scripts/lib/cluster-nodes.sh"
# shellcheck source=scripts/lib/kubernetes-build.sh
source "$ROOT/scripts/lib/kubernetes-build.sh"
# shellcheck source=scripts/lib/kubernetes-parts.sh
source "$ROOT/scripts/lib/kubernetes-parts.sh"

((NODES <= 8)) || die kubernetes "SWE_CI_CLUSTER_NODES is $NODES: give 1 to 8."

up() {
    if [[ -e $KUBERNETES/env ]]; then
        say kubernetes "is up already; scripts/kubernetes.sh down removes it"
        return
    fi
    setup_kubernetes
    "$ROOT/scripts/cluster.sh" up
    mkdir "$KUBERNETES"
    # Whatever came up must not stay when the rest does not.
    trap 'down >&2' EXIT
    start_control_plane
    push_pause_image
    local node
    for node in $(node_names); do
        join_pods "$node"
        start_kubelet "$node"
    done
    for node in $(node_names); do await "$node/kubelet" kube get node "$node"; done
    kube wait --for condition=Ready node --all --timeout 60s >/dev/null
    write_env
    trap - EXIT
}

write_env() {
    cat >"$KUBERNETES/env" <<END
. $CLUSTER/env
export KUBECONFIG=$KUBERNETES/kubeconfig
export PATH=$CACHE/bin:\$PATH
END
}

down() {
    stop_kubernetes
    "$ROOT/scripts/cluster.sh" down
}

need_up() { [[ -e $KUBERNETES/env ]] || die kubernetes "is not up: scripts/kubernetes.sh up"; }

case ${1:-} in
    build) setup_kubernetes ;;
    up)
        up
        say kubernetes "$(kube get nodes --no-headers | awk '{ printf "%s ", $1 }')with version $KUBERNETES_VERSION"
        say kubernetes "source $KUBERNETES/env"
        ;;
    env)
        need_up
        cat "$KUBERNETES/env"
        ;;
    down) down ;;
    *) die kubernetes "unknown: ${1:-nothing} (build, up, env, down)" ;;
esac

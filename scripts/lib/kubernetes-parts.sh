# shellcheck shell=bash
# The processes of scripts/kubernetes.sh. All addresses are in the cluster's
# subnet, so that nodes and database take pods for their own:
#
#   .1          this machine     .11 to .18   nodes
#   .64/26      services         .128/25      pods, 16 addresses for each node

KUBERNETES=$CLUSTER/kubernetes

kube() { "$(program kubectl)" --kubeconfig "$KUBERNETES/kubeconfig" "$@"; }
etcd_url() { printf 'http://127.0.0.1:%s' "$((PORT + 6))"; }
api_port() { printf '%s' "$((PORT + 8))"; }
pods_of() { printf '%s.%s/28' "$SUBNET" "$((112 + 16 * ${1#n}))"; }

start_control_plane() {
    start_etcd
    start_api_server
    write_kubeconfig
    await kubernetes/api kube get --raw /readyz
    local part
    for part in controller-manager scheduler; do
        local options=()
        # It signs the tokens that the API server's admission asks for.
        if [[ $part == controller-manager ]]; then
            options=(--service-account-private-key-file "$KUBERNETES/accounts.key")
        fi
        launch "kubernetes/$part" "$(program "kube-$part")" --kubeconfig "$KUBERNETES/kubeconfig" \
            --leader-elect=false --port 0 --secure-port 0 "${options[@]}"
    done
    await kubernetes/controller-manager kube --namespace default get serviceaccount default
    say kubernetes "API server at https://$HOST:$(api_port)"
}

start_etcd() {
    local peer
    peer=http://127.0.0.1:$((PORT + 7))
    launch kubernetes/etcd etcd --data-dir "$KUBERNETES/etcd" \
        --listen-client-urls "$(etcd_url)" --advertise-client-urls "$(etcd_url)" \
        --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer"
    await kubernetes/etcd curl --silent --fail "$(etcd_url)/health"
}

start_api_server() {
    secret kubernetes/token
    openssl genrsa -out "$KUBERNETES/accounts.key" 2048 2>/dev/null
    (
        umask 077
        echo "$(<"$KUBERNETES/token"),admin,admin,system:masters" >"$KUBERNETES/tokens.csv"
    )
    launch kubernetes/api "$(program kube-apiserver)" --etcd-servers "$(etcd_url)" \
        --bind-address "$HOST" --secure-port "$(api_port)" --cert-dir "$KUBERNETES/certificates" \
        --token-auth-file "$KUBERNETES/tokens.csv" --anonymous-auth=false --authorization-mode AlwaysAllow \
        --service-account-issuer https://kubernetes.default.svc \
        --service-account-key-file "$KUBERNETES/accounts.key" \
        --service-account-signing-key-file "$KUBERNETES/accounts.key" \
        --service-cluster-ip-range "$SUBNET.64/26" --allow-privileged \
        --kubelet-preferred-address-types InternalIP
}

write_kubeconfig() { (
    umask 077
    cat >"$KUBERNETES/kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{ name: trial, cluster: { server: "https://$HOST:$(api_port)", insecure-skip-tls-verify: true } }]
users: [{ name: admin, user: { token: "$(<"$KUBERNETES/token")" } }]
contexts: [{ name: trial, context: { cluster: trial, user: admin } }]
current-context: trial
END
); }

# Each pod has a container that only holds its network: of any image that waits.
push_pause_image() {
    DOCKER_BUILDKIT=0 engine_of n1 build --quiet --tag "$(pause_image)" - >/dev/null 2>&1 <<END
FROM ${SWE_CI_BASE_IMAGE:-swe-ci/base:py311}
STOPSIGNAL SIGKILL
CMD ["sleep", "infinity"]
END
    engine_of n1 push --quiet "$(pause_image)" >/dev/null
}

pause_image() { printf '%s/pause:1' "$(registry_address)"; }

# Pods of all nodes reach each other: every node, and this machine, knows which
# node has which addresses.
join_pods() {
    local node=$1 other
    ip route add "$(pods_of "$node")" via "$(node_address "$node")" dev "$(bridge)"
    for other in $(node_names); do
        [[ $other == "$node" ]] || ip -netns "$(node_namespace "$node")" route add "$(pods_of "$other")" \
            via "$(node_address "$other")"
    done
    # Docker has a node drop what it forwards and does not know.
    in_node "$node" iptables --policy FORWARD ACCEPT
    mkdir -p "$CLUSTER/$node/cni/conf"
    cat >"$CLUSTER/$node/cni/conf/10-pods.conf" <<END
{ "cniVersion": "0.3.1", "name": "pods", "type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
  "ipam": { "type": "host-local", "dataDir": "$CLUSTER/$node/cni/addresses",
            "ranges": [[{ "subnet": "$(pods_of "$node")" }]], "routes": [{ "dst": "0.0.0.0/0" }] } }
END
}

in_node() { nsenter --target "$(<"$CLUSTER/$1/engine.pid")" --mount --uts --net "${@:2}"; }

start_kubelet() {
    local node=$1 folder=$CLUSTER/$1/kubelet
    mkdir -p "$folder/log"
    cat >"$folder/config.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $(node_address "$node")
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
# All nodes share one machine's control groups and disk: each would count the others.
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
evictionHard: {}
imageGCHighThresholdPercent: 100
failSwapOn: false
oomScoreAdj: 0
END
    # /var/log has the pods' logs, which every kubelet tidies.
    # shellcheck disable=SC2016 # the inner shell's variables
    launch "$node/kubelet" nsenter --target "$(<"$CLUSTER/$node/engine.pid")" --mount --uts --net \
        bash -c 'mount --bind "$1/log" /var/log && exec "${@:2}"' node "$folder" \
        "$(program kubelet)" --kubeconfig "$KUBERNETES/kubeconfig" --config "$folder/config.yaml" \
        --root-dir "$folder/root" --cert-dir "$folder/certificates" --node-ip "$(node_address "$node")" \
        --container-runtime docker --docker-endpoint unix:///run/docker.sock \
        --experimental-dockershim-root-directory "$folder/dockershim" \
        --network-plugin cni --cni-bin-dir "$CNI_PLUGINS" --cni-conf-dir "$CLUSTER/$node/cni/conf" \
        --cni-cache-dir "$CLUSTER/$node/cni/cache" --pod-infra-container-image "$(pause_image)"
    launch "$node/proxy" nsenter --target "$(<"$CLUSTER/$node/engine.pid")" --mount --uts --net \
        "$(program kube-proxy)" --kubeconfig "$KUBERNETES/kubeconfig" --proxy-mode iptables \
        --cluster-cidr "$SUBNET.128/25" --conntrack-max-per-core 0 \
        --conntrack-tcp-timeout-established 0 --conntrack-tcp-timeout-close-wait 0
}

# Before the engines: kubelets would start again what ends.
stop_kubernetes() {
    local node part
    for node in $(started_nodes); do
        end "$node/proxy"
        end "$node/kubelet"
    done
    for part in scheduler controller-manager api etcd; do end "kubernetes/$part"; done
}

# shellcheck shell=bash
# The nodes of scripts/cluster.sh: a network namespace with a cable to one
# bridge, and a Docker engine that sees a host name, /run and /var/lib/swe-ci
# that are the node's own. All other files are this machine's.

NODE_SEES=/var/lib/swe-ci

node_names() { seq --format 'n%g' "$NODES"; }
started_nodes() { find "$CLUSTER" -maxdepth 2 -path '*/n[1-9]/run' -printf '%h\n' 2>/dev/null | xargs -r -n 1 basename | sort; }
node_namespace() { printf '%s-%s' "$(basename "$CLUSTER")" "$1"; }
node_address() { printf '%s.%s' "$SUBNET" "$((10 + ${1#n}))"; }
node_engine() { printf 'unix://%s/%s/run/docker.sock' "$CLUSTER" "$1"; }
engine_of() { docker --host "$(node_engine "$1")" "${@:2}"; }

# Names of interfaces have at most 15 bytes: a few of the cluster's name's digest.
bridge() { printf 'swe%s' "$(printf '%s' "$CLUSTER" | cksum | cut -c 1-6)"; }

cable() { printf '%s%s' "$(bridge)" "$1"; }

need_node() {
    [[ -d $CLUSTER/$1/run ]] || die cluster "there is no node $1: $(started_nodes | xargs)"
}

# The rules let the nodes reach each other, this machine, and what it reaches.
# Docker has FORWARD drop what it does not know, also inside a bridge.
rules() {
    local chain=FORWARD
    if iptables --numeric --list DOCKER-USER >/dev/null 2>&1; then chain=DOCKER-USER; fi
    printf '%s\n' "filter $chain --in-interface $(bridge) --jump ACCEPT" \
        "filter $chain --out-interface $(bridge) --jump ACCEPT" \
        "nat POSTROUTING --source $SUBNET.0/24 ! --destination $SUBNET.0/24 --jump MASQUERADE"
}

make_network() {
    ip link add "$(bridge)" type bridge
    ip address add "$HOST/24" dev "$(bridge)"
    ip link set "$(bridge)" up
    sysctl --quiet --write net.ipv4.ip_forward=1
    local table rule
    while read -r table rule; do
        # shellcheck disable=SC2086 # words of a rule
        iptables --wait --table "$table" --insert $rule
    done < <(rules)
}

remove_network() {
    ip link show "$(bridge)" >/dev/null 2>&1 || return 0
    local table rule
    while read -r table rule; do
        # shellcheck disable=SC2086
        iptables --wait --table "$table" --delete $rule 2>/dev/null || true
    done < <(rules)
    ip link delete "$(bridge)"
}

start_nodes() {
    mkdir -p "$NODE_SEES"
    local node token
    for node in $(node_names); do start_node "$node"; done
    engine_of n1 swarm init --advertise-addr "$(node_address n1)" >/dev/null
    token=$(engine_of n1 swarm join-token --quiet worker)
    for node in $(node_names | tail -n +2); do
        engine_of "$node" swarm join --token "$token" --advertise-addr "$(node_address "$node")" \
            "$(node_address n1):2377" >/dev/null
    done
}

start_node() {
    local node=$1 folder=$CLUSTER/$1 namespace cable
    namespace=$(node_namespace "$node")
    cable=$(cable "$node")
    mkdir -p "$folder/run" "$folder/data" "$folder/docker"
    ip netns add "$namespace"
    ip link add "$cable" type veth peer name eth0 netns "$namespace"
    ip link set "$cable" master "$(bridge)" up
    ip -netns "$namespace" link set lo up
    ip -netns "$namespace" address add "$(node_address "$node")/24" dev eth0
    ip -netns "$namespace" link set eth0 up
    ip -netns "$namespace" route add default via "$HOST"
    serve_engine "$node"
}

serve_engine() {
    local node=$1 folder=$CLUSTER/$1 namespace
    namespace=$(node_namespace "$node")
    # Of killed ones: they would take themselves for running.
    rm -f "$folder/run/docker.pid" "$folder/run/docker/containerd/containerd.pid"
    # Not `ip netns exec`: it mounts /sys anew, and cgroups of version 1 are gone.
    # shellcheck disable=SC2016 # the inner shell's variables
    launch "$node/engine" nsenter --net="/run/netns/$namespace" unshare --mount --uts bash -c '
        hostname "$1"
        mount --bind "$2/data" "$3"
        mount --bind "$2/run" /run
        exec dockerd --host unix:///run/docker.sock --data-root "$2/docker" \
            --exec-opt native.cgroupdriver=cgroupfs --insecure-registry "$4"' \
        node "$node" "$folder" "$NODE_SEES" "$SUBNET.0/24"
    await "$node/engine" engine_of "$node" version
}

# As when the power fails: no process of the node is left, those of containers
# included, which are in other namespaces.
power_off() {
    local containers
    # A container that just ended has the number 0, which would be this very script.
    containers=$(engine_of "$1" ps --quiet |
        xargs -r docker --host "$(node_engine "$1")" inspect --format '{{.State.Pid}}' | grep -v '^0$' || true)
    { ip netns pids "$(node_namespace "$1")" && printf '%s\n' "$containers"; } | xargs -r kill -KILL || true
    rm -f "$CLUSTER/$1"/*.pid
}

# Where a node's engine is, its programs are.
on_node() {
    local pid=$CLUSTER/$1/engine.pid
    need_node "$1"
    [[ -e $pid ]] || die cluster "$1 has no engine: scripts/cluster.sh start $1"
    exec nsenter --target "$(<"$pid")" --mount --uts --net --wd="$PWD" \
        env --unset=DOCKER_HOST "${@:2}"
}

# The base image is where tasks are prepared. Other nodes pull what they need.
load_base_image() {
    local image=${SWE_CI_BASE_IMAGE:-swe-ci/base:py311}
    if docker image inspect "$image" >/dev/null 2>&1; then
        docker save "$image" | engine_of n1 load --quiet >/dev/null
    else
        say cluster "no image $image here: scripts/setup.sh image makes it, for the demo split"
    fi
}

describe_nodes() {
    engine_of n1 node ls --format '{{.Hostname}}' | sort | xargs printf '%s ' nodes:
    printf 'in one Swarm'
}

check_registry() {
    local node image name
    image=$(engine_of n1 images --quiet --filter reference="${SWE_CI_BASE_IMAGE:-swe-ci/base:py311}")
    [[ -n $image ]] || die cluster "the base image is not in n1's engine"
    name=$(registry_address)/check/base:1
    engine_of n1 tag "$image" "$name"
    engine_of n1 push --quiet "$name" >/dev/null
    for node in $(started_nodes); do
        engine_of "$node" pull --quiet "$name" >/dev/null
        engine_of "$node" run --rm --network none "$name" true
    done
    say cluster "every node pulls from the registry"
}

check_swarm() {
    local name=check-$$ image deadline=$((SECONDS + 60)) count
    image=$(registry_address)/check/base:1
    count=$(started_nodes | wc -l)
    engine_of n1 service create --quiet --detach --name "$name" --mode global --network host \
        --restart-condition none --mount "type=bind,source=$NODE_SEES,target=$NODE_SEES" \
        "$image" sh -c "hostname >$NODE_SEES/$name; sleep 60" >/dev/null
    until [[ $(cat "$CLUSTER"/n*/data/"$name" 2>/dev/null | sort -u | wc -l) == "$count" ]]; do
        if ((SECONDS >= deadline)); then
            engine_of n1 service ps --no-trunc "$name" >&2
            die cluster "the service does not run on every node"
        fi
        sleep 0.3
    done
    engine_of n1 service rm "$name" >/dev/null
    rm -f "$CLUSTER"/n*/data/"$name"
    say cluster "a global service ran on $count nodes, each with its own name and folder"
}

stop_nodes() {
    local node
    for node in $(started_nodes); do stop_node "$node" & done
    wait
    # NODE_SEES stays: removing it would unmount it in the nodes of another cluster.
}

stop_node() {
    local namespace
    namespace=$(node_namespace "$1")
    # Services would come back while their containers are removed.
    engine_of "$1" swarm leave --force >/dev/null 2>&1 || true
    engine_of "$1" ps --all --quiet 2>/dev/null |
        xargs -r docker --host "$(node_engine "$1")" rm --force --volumes >/dev/null 2>&1 || true
    end "$1/engine"
    ip netns pids "$namespace" 2>/dev/null | xargs -r kill -KILL || true
    ip netns delete "$namespace" 2>/dev/null || true
}

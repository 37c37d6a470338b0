# shellcheck shell=bash
# The cases of scripts/test-kubernetes.sh, and what they check.

WORKERS=(n2 n3 n4) # n1 is the server's
MINUTE=60

in_space() { kubectl --namespace swe-ci "$@"; }
swe_ci() { "$DIST/swe-ci" "$@"; }
sql() { psql "$SWE_CI_DATABASE_URL" --no-psqlrc --tuples-only --no-align --command "$1"; }

# until_true SECONDS WHAT COMMAND…: `WHAT` says what did not come.
until_true() {
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        if ((SECONDS >= deadline)); then
            in_space get pods --output wide >&2 || true
            swe_ci read workers >&2 || true
            die kubernetes "$what did not come; the cluster's state is above, logs are in $CLUSTER"
        fi
        sleep 1
    done
}

# ── What is deployed ──

chart() {
    helm upgrade --install swe-ci "$ROOT/deploy/helm/swe-ci" --namespace swe-ci --wait --timeout 10m \
        --set image.repository="$(registry_address)/trial/swe-ci" --set existingSecret=swe-ci-env \
        --set env.SWE_CI_ARTIFACTS="$SWE_CI_ARTIFACTS" --set env.SWE_CI_REGISTRY="$SWE_CI_REGISTRY" \
        --set env.AWS_ENDPOINT_URL="$AWS_ENDPOINT_URL" --set engine.kind=node \
        --set server.replicas=2 --set worker.slots=1 --set worker.env.SWE_CI_CODE_STYLE=no --set worker.env.SWE_CI_AUDIT=no "$@" >/dev/null
}

# Two names of one image: a rolling update from one to the other replaces all pods.
install_chart() {
    local tag
    for tag in one two; do
        "$ROOT/scripts/image.sh" "$(registry_address)/trial/swe-ci:$tag"
        docker push --quiet "$(registry_address)/trial/swe-ci:$tag" >/dev/null
    done
    kubectl label --overwrite node "${WORKERS[@]}" swe-ci=worker >/dev/null
    kubectl taint --overwrite node "${WORKERS[@]}" swe-ci=worker:NoSchedule >/dev/null
    kubectl create namespace swe-ci --dry-run=client --output yaml | kubectl apply --filename - >/dev/null
    in_space create secret generic swe-ci-env --dry-run=client --output yaml --from-env-file /dev/stdin \
        < <(sed -nE 's/^export ((SWE_CI_DATABASE_URL|SWE_CI_SECRET|AWS_ACCESS_KEY_ID|AWS_SECRET_ACCESS_KEY)=)/\1/p' "$CLUSTER/env") |
        kubectl apply --filename - >/dev/null
    chart --set image.tag=one --set worker.replicas=0
    say kubernetes "chart installed: $(in_space get pods --no-headers | awk '{ print $1 }' | xargs)"
}

import_split() {
    if swe_ci read splits --json | grep -q "\"$SPLIT\""; then return; fi
    [[ $SPLIT == demo ]] || die kubernetes "There is no split $SPLIT: import it first, or leave SWE_CI_SPLIT out."
    swe_ci dataset demo
}

# On this machine, by one worker with one slot and no fault.
run_reference() {
    if [[ ! -e $CLUSTER/reference ]]; then
        local run
        run=$(swe_ci run submit --human --split "$SPLIT")
        swe_ci work --until-idle --slots 1 --code-style no --audit no
        echo "$run" >"$CLUSTER/reference"
    fi
    say kubernetes "reference: $(score "$(<"$CLUSTER/reference")")"
}

prepare_case() {
    chart --set image.tag=one --set worker.replicas=3
    in_space rollout status statefulset/swe-ci-worker --timeout 5m >/dev/null
    RUN=$(swe_ci run submit --human --split "$SPLIT")
}

# ── The state ──

ended() { [[ $(sql "SELECT progress FROM runs WHERE id = '$1'") == finished ]]; }
pod_on() { in_space get pods --selector app.kubernetes.io/component=worker --field-selector "spec.nodeName=$1" --output name | cut -d / -f 2; }
ours_on() { engine_of "$1" "${@:2}" --quiet --filter label=swe-ci.instance; }
ready() { [[ $(in_space get pod "$1" --output 'jsonpath={.status.containerStatuses[0].ready}' 2>/dev/null) == true ]]; }
node_ready() { [[ $(kubectl get node "$1" --output 'jsonpath={.status.conditions[?(@.type=="Ready")].status}') == "$2" ]]; }

# held_by POD: how many evolutions of the run its worker works on, under a lease.
held_by() {
    sql "SELECT count(*) FROM evolutions e JOIN workers w ON e.worker LIKE w.id || '/%'
         WHERE e.run_id = '$RUN' AND e.progress = 'running' AND w.name = '$1'
           AND e.lease_until > (extract(epoch FROM now()) * 1000)::bigint"
}

# A step is under way there, and others were recorded before.
in_mid_step() {
    [[ -n $(ours_on "$1" ps) && $(held_by "$(pod_on "$1")") != 0 ]] &&
        [[ $(sql "SELECT count(*) FROM steps s JOIN evolutions e ON e.id = s.evolution_id
                  JOIN workers w ON e.worker LIKE w.id || '/%'
                  WHERE e.run_id = '$RUN' AND w.name = '$(pod_on "$1")'") != 0 ]]
}

# Sets NODE to a node of a worker in mid-step, and POD to that worker.
await_busy_node() {
    until_true $((5 * MINUTE)) "a worker in mid-step" find_busy_node
    POD=$(pod_on "$NODE")
}
find_busy_node() {
    for NODE in "${WORKERS[@]}"; do if in_mid_step "$NODE"; then return; fi; done
    return 1
}

# ── The cases ──

# A worker is killed: Kubernetes starts it again, on the remains of its predecessor.
case_kill() {
    await_busy_node
    local container
    container=$(engine_of "$NODE" ps --quiet --filter "label=io.kubernetes.pod.name=$POD" \
        --filter label=io.kubernetes.container.name=worker)
    kill -KILL "$(engine_of "$NODE" inspect --format '{{.State.Pid}}' "$container")"
    until_true $((2 * MINUTE)) "the killed worker" restarted
}
restarted() {
    ready "$POD" &&
        (($(in_space get pod "$POD" --output 'jsonpath={.status.containerStatuses[0].restartCount}') > 0))
}

# A node loses its network for longer than a lease, and gets it back.
case_cut() {
    await_busy_node
    ip link set "$(bridge)$NODE" down
    until_true $((3 * MINUTE)) "the end of the cut worker's lease" held_by_none
    until_true $((3 * MINUTE)) "the loss of node $NODE" node_ready "$NODE" Unknown
    ip link set "$(bridge)$NODE" up
    until_true $((2 * MINUTE)) "node $NODE" node_ready "$NODE" True
}
held_by_none() { [[ $(held_by "$POD") == 0 ]]; }

# A node is emptied for maintenance, and comes back when the run is over.
case_drain() {
    await_busy_node
    kubectl drain "$NODE" --ignore-daemonsets --delete-emptydir-data --timeout 3m >/dev/null 2>&1
    [[ $(held_by "$POD") == 0 ]] || die drain "the drained worker still holds evolutions"
    [[ -z $(ours_on "$NODE" ps --all) ]] || die drain "containers are left on the drained node"
    until_true $((20 * MINUTE)) "the end of the run on the other nodes" ended "$RUN"
    kubectl uncordon "$NODE" >/dev/null
    until_true $((2 * MINUTE)) "the worker on $NODE" ready "$POD"
}

# All workers leave in mid-step, and three come again.
case_scale() {
    await_busy_node
    in_space scale statefulset/swe-ci-worker --replicas 0 >/dev/null
    in_space wait pod --for delete --selector app.kubernetes.io/component=worker --timeout 3m >/dev/null
    [[ $(sql "SELECT count(*) FROM evolutions WHERE run_id = '$RUN' AND progress = 'running'") == 0 ]] ||
        die scale "evolutions are not back in the queue"
    local node
    for node in "${WORKERS[@]}"; do
        [[ -z $(ours_on "$node" ps --all) ]] || die scale "containers are left on $node"
    done
    in_space scale statefulset/swe-ci-worker --replicas 3 >/dev/null
}

# Server and workers are replaced while both are at work.
case_roll() {
    await_busy_node
    local site requests
    site=http://$(in_space get service swe-ci-server --output 'jsonpath={.spec.clusterIP}')
    request_pages "$site" &
    requests=$!
    chart --set image.tag=two --set worker.replicas=3
    in_space rollout status deployment/swe-ci-server --timeout 5m >/dev/null
    in_space rollout status statefulset/swe-ci-worker --timeout 10m >/dev/null
    touch "$CLUSTER/enough-pages"
    wait "$requests" || die roll "the site failed to answer during the update: $(sort "$CLUSTER/pages" | uniq -c | xargs)"
    rm "$CLUSTER/enough-pages"
    say roll "$(wc -l <"$CLUSTER/pages") pages answered during the update"
    [[ $(in_space get pods --output 'jsonpath={.items[*].spec.containers[0].image}' | xargs -n 1 | sort -u) == *:two ]] ||
        die roll "pods of the old image are left"
}

# About three a second, from a node that is no server's, until told: at most for ten minutes.
request_pages() {
    local deadline=$((SECONDS + 10 * MINUTE)) namespace
    namespace=/run/netns/$(node_namespace n2)
    : >"$CLUSTER/pages"
    while [[ ! -e $CLUSTER/enough-pages ]] && ((SECONDS < deadline)); do
        nsenter --net="$namespace" curl --silent --output /dev/null --max-time 20 --write-out '%{http_code}\n' \
            "$1/" >>"$CLUSTER/pages" || true
        sleep 0.3
    done
    ! grep --invert-match --quiet '^200$' "$CLUSTER/pages"
}

# ── What holds after each ──

check_end() {
    until_true $((20 * MINUTE)) "the end of the run" ended "$1"
    diff <(rows "$(<"$CLUSTER/reference")") <(rows "$1") >&2 ||
        die kubernetes "the rows of run $1 differ from those of one worker, see above"
    [[ $(score "$1") == "$(score "$(<"$CLUSTER/reference")")" ]] || die kubernetes "the scores differ: $(score "$1")"
    until_true $((3 * MINUTE)) "the end of the last container, volume and socket" nothing_left
}

# What a run found, without times and names of workers. Each step is there once,
# at the next number; an evolution has one ending.
rows() {
    sql "SELECT t.id, e.sample, e.progress, e.ending, e.reason FROM evolutions e JOIN tasks t ON t.id = e.task_id
         WHERE e.run_id = '$1' ORDER BY t.id, e.sample;
         SELECT e.task_id, s.seq, s.iteration, s.role, s.attempt, s.outcome FROM evolutions e
         JOIN steps s ON s.evolution_id = e.id WHERE e.run_id = '$1' ORDER BY e.task_id, s.seq;
         SELECT e.task_id, i.iteration, i.verdict, i.in_target, i.passed, i.lost, i.gained, i.outcomes, i.collapse
         FROM evolutions e JOIN iterations i ON i.evolution_id = e.id WHERE e.run_id = '$1'
         ORDER BY e.task_id, i.iteration"
}

score() {
    swe_ci leaderboard --split "$SPLIT" --json | python3 -c '
import json, sys

row = next(row for row in json.load(sys.stdin) if row["run_id"] == sys.argv[1])
names = ("tasks", "solved_rate", "evoscore", "zero_regression_rate", "average_turns")
print(*(f"{name} {row[name]}" for name in names), sep=", ")' "$1"
}

nothing_left() {
    local node
    for node in "${WORKERS[@]}"; do
        [[ -z $(ours_on "$node" ps --all) && -z $(ours_on "$node" volume ls) ]] || return 1
    done
    [[ -z $(find "$CLUSTER"/n*/data -type s) ]]
}

# shellcheck shell=bash
# Slurm on the nodes of scripts/cluster.sh: a controller on this machine, and a
# slurmd on each node, where jobs see what the node's engine sees.

slurm_folder() { printf '%s' "$CLUSTER/slurm"; }
slurm_conf() { printf '%s' "$CLUSTER/slurm/slurm.conf"; }

setup_slurm() {
    if have slurmctld && have slurmd && have sbatch && have munged; then return; fi
    need_leave cluster "Slurm is missing (Debian: apt install slurmctld slurmd slurm-client munge)."
    apt_install slurmctld slurmd slurm-client munge
}

# A node that does not answer for 15 s is down, and its jobs are queued again. The
# machine has fewer processors than its nodes say: nobody counts.
write_slurm_conf() {
    local folder
    folder=$(slurm_folder)
    cat >"$(slurm_conf)" <<END
ClusterName=$(basename "$CLUSTER")
SlurmctldHost=$(hostname)($HOST)
SlurmctldPort=$((PORT + 7))
SlurmdPort=$((PORT + 8))
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.number
SlurmdPidFile=$folder/slurmd-%n.number
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=15
SlurmdParameters=config_overrides
NodeName=DEFAULT CPUs=2 RealMemory=1000 State=UNKNOWN
$(for node in $(node_names); do printf 'NodeName=%s NodeAddr=%s\n' "$node" "$(node_address "$node")"; done)
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

start_slurm() {
    local folder node
    folder=$(slurm_folder)
    setup_slurm
    ! slurm_is_up || die cluster "Slurm runs already: export SLURM_CONF=$(slurm_conf)"
    install -d -m 755 "$folder" "$folder/state"
    write_slurm_conf
    (umask 077 && head --bytes 128 /dev/urandom >"$folder/munge.key")
    launch munge munged --foreground --force --key-file "$folder/munge.key" --socket "$folder/munge.socket" \
        --pid-file "$folder/munge.number" --log-file "$CLUSTER/munge.log" --seed-file "$folder/munge.seed"
    await munge munge --no-input --socket "$folder/munge.socket"
    launch slurmctld slurmctld -D -c -f "$(slurm_conf)"
    await slurmctld slurm scontrol ping
    for node in $(started_nodes); do serve_slurmd "$node"; done
    await slurmctld slurm_nodes_are_idle
    say cluster "Slurm has $(started_nodes | wc -l) nodes: export SLURM_CONF=$(slurm_conf)"
}

slurm_is_up() { [[ -e $(slurm_folder) ]]; }
slurm() { SLURM_CONF=$(slurm_conf) "$@"; }

slurm_nodes_are_idle() {
    [[ $(slurm sinfo --noheader --Node --states idle --format %N | wc -l) == $(started_nodes | wc -l) ]]
}

serve_slurmd() {
    # Not `on_node`: that takes the place of the process that calls it.
    launch "$1/slurmd" "$ROOT/scripts/cluster.sh" on "$1" slurmd -D -N "$1" -f "$(slurm_conf)"
}

stop_slurm() {
    local node
    slurm_is_up || return 0
    slurm scancel --user root 2>/dev/null || true
    for node in $(started_nodes); do end "$node/slurmd"; done
    end slurmctld
    end munge
}

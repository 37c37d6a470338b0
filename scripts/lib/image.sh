# shellcheck shell=bash
# The base image of every container that runs Python: three ways to get it, the
# cheapest first. All give `python3` 3.11 with pip and venv.

OUR_BASE_IMAGE=swe-ci/base:py311
BASE_IMAGE=${SWE_CI_BASE_IMAGE:-$OUR_BASE_IMAGE}
SECONDS_TO_PULL=120

setup_image() {
    image_present || with_lock image make_image
    say image "$BASE_IMAGE"
}

image_present() { docker image inspect "$BASE_IMAGE" >/dev/null 2>&1; }

make_image() {
    if image_present; then return; fi # made while we waited for the lock
    engine_answers || die image "needs a Docker engine: run scripts/setup.sh docker first."
    if [[ $BASE_IMAGE != "$OUR_BASE_IMAGE" ]]; then
        pull "$BASE_IMAGE" || die image "SWE_CI_BASE_IMAGE is $BASE_IMAGE, which is neither here nor to be pulled."
        return
    fi
    # The name is given last and only to an image that works: a run that is
    # killed half-way leaves nothing that a later one would take for the base.
    local id
    id=$(pull_base || bootstrap_base)
    docker run --rm --network none "$id" python3 -c 'import ensurepip, pip, venv' >/dev/null ||
        die image "The image $id has no python3 with pip and venv."
    docker tag "$id" "$BASE_IMAGE"
}

pull() {
    say image "pulling $1" >&2
    limit "$SECONDS_TO_PULL" docker pull --quiet "$1" </dev/null >/dev/null 2>&1
}

# Messages go to stderr: stdout is the image's id.
pull_base() {
    pull python:3.11-slim || return
    docker image inspect --format '{{.Id}}' python:3.11-slim
}

# Without a registry (an air-gapped lab), out of Debian packages.
bootstrap_base() {
    say image "no registry answers; building it from Debian packages (about half a minute)" >&2
    if ! have mmdebstrap; then
        need_leave image "Cannot pull python:3.11-slim. Load an image with Python 3.11, pip and venv (docker load) and name it: docker tag IMAGE $BASE_IMAGE."
        apt_install mmdebstrap debian-archive-keyring >&2
    fi
    local log
    log=$(mktemp)
    if as_root mmdebstrap --variant=minbase --quiet \
        --include=python3,python3-pip,python3-venv,python-is-python3,git,ca-certificates \
        bookworm - 2>"$log" </dev/null |
        docker import --message 'swe-ci bootstrap: Debian 12 with Python 3.11' \
            --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
            --change 'ENV LANG=C.UTF-8' \
            --change 'CMD ["python3"]' -; then
        rm -f "$log"
        return
    fi
    cat "$log" >&2
    die image "mmdebstrap failed; the lines above say why."
}

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
    id=$(pull_base python:3.11-slim || bootstrap_base bookworm)
    name_image "$id" "$BASE_IMAGE"
}

name_image() {
    docker run --rm --network none "$1" python3 -c 'import ensurepip, pip, venv' >/dev/null ||
        die image "The image $1 has no python3 with pip and venv."
    docker tag "$1" "$2"
}

# More versions of Python for curation, where no registry answers: those that
# Debian's releases have.
setup_pythons() {
    engine_answers || die pythons "needs a Docker engine: run scripts/setup.sh docker first."
    local python release image id
    for python in 3.9:bullseye 3.13:trixie; do
        release=${python#*:} python=${python%:*}
        image=swe-ci/base:py${python/./}
        if ! docker image inspect "$image" >/dev/null 2>&1; then
            id=$(pull_base "python:$python-slim" || bootstrap_base "$release")
            name_image "$id" "$image"
        fi
        say pythons "$image"
    done
}

pull() {
    say image "pulling $1" >&2
    limit "$SECONDS_TO_PULL" docker pull --quiet "$1" </dev/null >/dev/null 2>&1
}

# Messages go to stderr: stdout is the image's id.
pull_base() {
    pull "$1" || return
    docker image inspect --format '{{.Id}}' "$1"
}

# Without a registry (an air-gapped lab), out of the packages of a Debian release.
bootstrap_base() {
    say image "no registry answers; building it from Debian packages (about half a minute)" >&2
    if ! have mmdebstrap; then
        need_leave image "No registry answers. Load an image with Python, pip and venv (docker load) and name it as this script does: docker tag IMAGE $BASE_IMAGE."
        apt_install mmdebstrap debian-archive-keyring >&2
    fi
    local log
    log=$(mktemp)
    if as_root mmdebstrap --variant=minbase --quiet \
        --include=python3,python3-pip,python3-venv,python-is-python3,git,ca-certificates \
        "$1" - 2>"$log" </dev/null |
        docker import --message "swe-ci bootstrap: Debian $1 with its Python" \
            --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
            --change 'ENV LANG=C.UTF-8' \
            --change 'CMD ["python3"]' -; then
        rm -f "$log"
        return
    fi
    cat "$log" >&2
    die image "mmdebstrap failed; the lines above say why."
}

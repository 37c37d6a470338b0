# shellcheck shell=bash
# A Docker engine that answers. An engine started earlier may be gone while its
# images are still on disk, so this looks every time.

setup_docker() {
    # DOCKER_HOST names somebody else's engine: use it or say so, never start
    # another one behind its back.
    if [[ -n ${DOCKER_HOST:-} ]]; then
        install_docker_client
        engine_answers || die docker "DOCKER_HOST is $DOCKER_HOST, but no engine answers there."
    elif ! engine_answers; then
        install_docker
        engine_answers || start_docker # the package may have started it
    fi
    say docker "engine $(engine_version)"
}

# Asks for the server's version: quick, and fails when there is no server.
engine_version() { limit 20 docker version --format '{{.Server.Version}}' 2>/dev/null; }
engine_answers() { have docker && [[ -n $(engine_version) ]]; }

install_docker_client() {
    have docker && return
    need_leave docker "The docker command is missing: install Docker's command line client."
    apt_install docker.io
}

install_docker() {
    if have docker && ! have dockerd && ! is_debian; then
        die docker "No Docker engine answers. Start Docker Desktop (or your engine), or set DOCKER_HOST."
    fi
    if have docker && have dockerd; then return; fi
    need_leave docker "No Docker engine. Install one: docs.docker.com/engine/install (Debian: apt install docker.io)."
    # apparmor: where the kernel has it switched on, containers do not start
    # without its parser. iptables: bridge networks, which image builds use.
    apt_install docker.io apparmor iptables ca-certificates
    have docker || apt_install docker-cli # split off in Debian 13
}

start_docker() {
    need_leave docker "The Docker engine is not running, or you may not use it. Start it (systemctl start docker) or join the group 'docker'."
    say docker "starting the engine"
    if [[ -d /run/systemd/system ]]; then
        as_root systemctl start docker
    else
        as_root "$ROOT/scripts/start-dockerd.sh"
    fi
    engine_answers || die docker "The engine runs, but you may not use it: join the group 'docker' (usermod -aG docker \$USER) and sign in again."
}

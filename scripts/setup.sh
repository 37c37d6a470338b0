#!/usr/bin/env bash
# Prepares this machine: looks first, installs only what is missing, and says
# what to do where it may not install. Safe to run at any time and twice at once.
#
#   scripts/setup.sh [build|docker|image|postgres|browser|all]…
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" # the pinned toolchain is the one of this folder
for part in common build docker image postgres browser; do
    # shellcheck disable=SC1090
    source "$ROOT/scripts/lib/$part.sh"
done

(($# > 0)) || set -- all
for concern in "$@"; do
    case $concern in
        build | docker | image | postgres | browser) "setup_$concern" ;;
        all)
            setup_build
            setup_docker
            setup_image
            ;;
        *) die setup "unknown: $concern (build, docker, image, postgres, browser, all)" ;;
    esac
done

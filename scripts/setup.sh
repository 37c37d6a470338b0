#!/usr/bin/env bash
# Prepares this machine: looks first, installs only what is missing, and says
# what to do where it may not install. Safe to run at any time and twice at once.
#
#   scripts/setup.sh [build|docker|image|pythons|python|postgres|browser|axe|dist|all]…
#
# Without a name: what running needs (build, docker, image). `pythons` makes more
# base images for curation, `dist` what makes the packages of a release. Leave to
# install packages: see may_install in lib/common.sh.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" # the pinned toolchain is the one of this folder
for part in common build docker image python postgres browser axe dist; do
    # shellcheck disable=SC1090
    source "$ROOT/scripts/lib/$part.sh"
done

if (($# == 0)); then set -- build docker image; fi
if [[ $* == all ]]; then set -- build docker image python postgres browser axe; fi
for concern in "$@"; do
    case $concern in
        build | docker | image | pythons | python | postgres | browser | axe | dist) "setup_$concern" ;;
        *) die setup "unknown: $concern (build, docker, image, pythons, python, postgres, browser, axe, dist, all)" ;;
    esac
done

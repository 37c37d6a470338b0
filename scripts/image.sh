#!/usr/bin/env bash
# Builds the image of server and worker from dist/ (of `make release`).
#
#   scripts/image.sh [TAG]        swe-ci:latest by default
#
#   SWE_CI_IMAGE_BASE   its base; debian:12-slim, or swe-ci/base:py311 where no registry answers
#   SWE_CI_DIST         the folder with swe-ci (and site), dist by default
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
for part in common docker image; do
    # shellcheck disable=SC1090
    source "$ROOT/scripts/lib/$part.sh"
done

tag=${1:-swe-ci:latest}
dist=${SWE_CI_DIST:-$ROOT/dist}
[[ -x $dist/swe-ci ]] || die image "$dist/swe-ci is not there: make release"
version=$("$dist/swe-ci" --version)

base=${SWE_CI_IMAGE_BASE:-}
if [[ -z $base ]]; then
    base=debian:12-slim
    docker image inspect "$base" >/dev/null 2>&1 || pull "$base" || base=$OUR_BASE_IMAGE
fi

# Only these: dist may hold packages, too.
files=(dist/swe-ci)
if [[ -d $dist/site ]]; then files+=(dist/site); fi
tar --create --directory "$ROOT/deploy/image" Containerfile \
    --transform "s,^${dist#/},dist," --directory / "${files[@]/#dist/${dist#/}}" |
    docker build --quiet --tag "$tag" --file Containerfile \
        --build-arg BASE="$base" --build-arg VERSION="${version##* }" - >/dev/null
say image "$tag, swe-ci ${version##* } on $base: $(docker image inspect --format '{{.Size}}' "$tag" | numfmt --to iec) bytes"

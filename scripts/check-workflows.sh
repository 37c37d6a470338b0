#!/usr/bin/env bash
# Holds the workflows of the forge against the schema of such files, as
# check-jsonschema of the package index carries it, and what they call against the
# Makefile.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh

VERSION=0.39.0
workflows=(.github/workflows/*.yml)

# `make` alone lists what it has.
targets=$(make --no-print-directory help | awk '{ print $2 }')
for target in $(sed -nE 's/^ +(- )?run: make ([a-z-]+).*/\2/p; s/.*target: \[(.*)\]/\1/p; s/.*first: ([a-z-]+).*/\1/p' "${workflows[@]}" | tr -d ,); do
    grep -qx "$target" <<<"$targets" || die workflows "there is no \`make $target\`"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "check-jsonschema==$VERSION"
"$work/venv/bin/check-jsonschema" --builtin-schema vendor.github-workflows "${workflows[@]}"
say workflows "${workflows[*]}"

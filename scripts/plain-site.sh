#!/usr/bin/env bash
# A site of the style sheet alone, where none is built yet: what a first start
# serves until `xtask` has built the browser half (which replaces it whole).
set -euo pipefail

cd "$(dirname "$0")/.."
site=${CARGO_TARGET_DIR:-target}/site
[[ ! -e $site ]] || exit 0

# A name of its own: browsers keep what stands under it for ever.
hash=$(find style public -type f -exec cksum {} + | sort | cksum | cut -d ' ' -f 1)
hash=$(printf '%08x' "$hash")
fresh=$(mktemp -d "$site.XXXXXX")
cp -R public/. "$fresh"
mkdir -p "$fresh/pkg"
cp -R style "$fresh/pkg/$hash"
# Browsers follow its @import lines; the built sheet is one file.
mv "$fresh/pkg/$hash/main.css" "$fresh/pkg/$hash/swe-ci.css"
printf '%s\n' "$hash" >"$fresh/hash.txt"
chmod 755 "$fresh"
mv "$fresh" "$site"

# shellcheck shell=bash
# axe-core, which the end-to-end tests run inside every page: one version, known
# by its content, so that a page fails today for what it would fail for tomorrow.

AXE_VERSION=4.14.1
# Of the archive npm has; `npm view axe-core@VERSION dist.integrity` in hexadecimal.
AXE_SHA512=1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b734f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5

setup_axe() {
    axe_present || with_lock axe fetch_axe
    say axe "axe-core $AXE_VERSION"
}

axe_folder() { printf '%s' "${CARGO_TARGET_DIR:-$ROOT/target}/axe-core"; }
axe_present() { head -c 100 "$(axe_folder)/axe.min.js" 2>/dev/null | grep -qF "axe v$AXE_VERSION"; }

fetch_axe() {
    if axe_present; then return; fi # fetched while we waited for the lock
    if ! have npm; then
        need_leave axe "The accessibility tests need axe-core $AXE_VERSION, which npm fetches. Install npm (Debian: apt install npm)."
        apt_install npm
    fi
    say axe "fetching axe-core $AXE_VERSION"
    local folder archive
    folder=$(mktemp -d)
    archive=$folder/axe-core-$AXE_VERSION.tgz
    (cd "$folder" && npm pack --silent "axe-core@$AXE_VERSION") >/dev/null 2>&1 </dev/null 9>&- ||
        die axe "npm could not fetch axe-core $AXE_VERSION: npm pack axe-core@$AXE_VERSION says why."
    [[ $(sha512 "$archive") == "$AXE_SHA512" ]] ||
        die axe "What npm fetched as axe-core $AXE_VERSION is not what it was: its SHA-512 is another one. Nothing of it was kept."
    tar -xzf "$archive" -C "$folder" package/axe.min.js package/LICENSE
    mkdir -p "$(axe_folder)"
    # The file that says it is all there comes last, and at once.
    mv "$folder/package/LICENSE" "$(axe_folder)/LICENSE"
    mv "$folder/package/axe.min.js" "$(axe_folder)/axe.min.js"
    rm -rf "$folder"
}

# macOS has `shasum` instead.
sha512() {
    if have sha512sum; then sha512sum "$1"; else shasum -a 512 "$1"; fi | cut -d ' ' -f 1
}

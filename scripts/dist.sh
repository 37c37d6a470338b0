#!/usr/bin/env bash
# Makes the packages of a release from dist/site (of `make dist`):
#
#   dist/swe-ci                  the static program, which carries the site
#   dist/packages/               archive, wheel, .deb, bill of materials, licences, SHA256SUMS
#
#   SWE_CI_DIST_TARGET   the Rust target; that of this machine with musl by default.
#                        Packages of another processor are added to those that are there.
#
# The same commit gives the same packages: times are the commit's, and the
# program holds no path of this machine.
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
cd "$ROOT"
for part in common build dist; do
    # shellcheck disable=SC1090
    source "$ROOT/scripts/lib/$part.sh"
done

target=$(dist_target)
processor=${target%%-*}
case $processor in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) die dist "no packages are made for $processor: x86_64, aarch64" ;;
esac
folder=${CARGO_TARGET_DIR:-$ROOT/target}
tools=$(tools_folder)
packages=$ROOT/dist/packages
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=swe-ci-$version-$target
# `make image` takes the program of this machine.
program=dist/swe-ci
if is_cross; then program=dist/$target/swe-ci; fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH PATH=$tools/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build_program() {
    local c_compiler=CC_${target//-/_} build=(build)
    # Clippy's wrapper and other flags of the caller are not for a release.
    local settings=(-u RUSTC_WORKSPACE_WRAPPER -u RUSTFLAGS)
    if is_cross; then
        build=(zigbuild)
        settings+=("PATH=$tools/zig/bin:$PATH")
    else
        settings+=("$c_compiler=${!c_compiler:-musl-gcc}")
    fi
    env "${settings[@]}" cargo "${build[@]}" --quiet --release --locked --package swe-ci --features embedded-site --target "$target" \
        --config "build.rustflags = ['--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo', '--remap-path-prefix=$ROOT=/swe-ci']"
    install -D "$folder/$target/release/swe-ci" "$program"
    say dist "$program: $(stat --format %s "$program" | numfmt --to iec) bytes"
}

# The tools write beside the manifests, so they get a copy of them.
copy_sources() {
    mkdir "$work/sources"
    git ls-files -z '*Cargo.toml' Cargo.lock '*.rs' | xargs -0 cp --parents -t "$work/sources"
}

# What the program is made of, and what the browser's program is made of.
write_bills() {
    local bill=$packages/$name.cdx.json site=$packages/swe-ci-$version-site.cdx.json
    (
        cd "$work/sources"
        cyclonedx() { cargo cyclonedx --quiet --format json --spec-version 1.5 "$@"; }
        cyclonedx --manifest-path server/Cargo.toml --describe binaries --no-build-deps \
            --features embedded-site --target "$target"
        cyclonedx --manifest-path crates/islands/Cargo.toml --no-build-deps \
            --no-default-features --features hydrate --target wasm32-unknown-unknown
    )
    # Without the folder of the copy.
    sed "s,$work/sources,/swe-ci,g" "$work/sources/server/swe-ci_bin.cdx.json" >"$bill"
    sed "s,$work/sources,/swe-ci,g" "$work/sources/crates/islands/swe-ci-islands.cdx.json" >"$site"
    say dist "bills of materials: $(grep -c '"purl"' "$bill") and $(grep -c '"purl"' "$site") components"
}

write_licences() {
    local licences=$packages/THIRD-PARTY-LICENSES.txt
    about() {
        cargo about -L error generate --locked --offline --fail \
            --config packaging/about.toml "$@" packaging/about.hbs
    }
    {
        printf 'swe-ci is licensed under either of Apache-2.0 or MIT, at your option.\n'
        printf 'It contains the software below.\n\nIn the program:\n\n'
        about --manifest-path server/Cargo.toml --features embedded-site --target "$target"
        # What the relay has, the driver has as well.
        printf 'In the programs that it puts into containers of agents:\n\n'
        about --manifest-path crates/acp/Cargo.toml --target "$target"
        printf 'In the pages, as WebAssembly:\n\n'
        about --manifest-path crates/islands/Cargo.toml --no-default-features --features hydrate \
            --target wasm32-unknown-unknown
    } >"$licences"
    say dist "licences: $(grep -c '^====' "$licences" | awk '{ print $1 / 2 }') texts"
}

# texts FOLDER: what every package has beside the program.
texts() { cp README.md LICENSE-APACHE LICENSE-MIT "$packages/THIRD-PARTY-LICENSES.txt" "$1/"; }

# manual FOLDER: the pages that messages of the program and README.md name.
manual() { git ls-files -z 'docs/*.md' 'docs/pictures' | xargs -0 cp --parents -t "$1"; }

write_archive() {
    mkdir "$work/$name"
    cp "$program" "$work/$name/"
    texts "$work/$name"
    manual "$work/$name"
    cp packaging/deb/swe-ci.service "$work/$name/"
    tar --create --directory "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
        --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "$name" |
        gzip --no-name --best >"$packages/$name.tar.gz"
}

write_wheel() {
    local wheel=$work/wheel
    # That of this machine has the same API.
    wheel_sources "$wheel" "$version" dist/swe-ci
    cp "$program" "$wheel/"
    texts "$wheel"
    # Pictures have no place in an index's page.
    sed '/^<picture>$/,/^<\/picture>$/d; /^The pictures show/d' README.md >"$wheel/README.md"
    echo "$processor" >"$wheel/PROCESSOR"
    (cd "$wheel" && "$tools/python/bin/hatchling" build --target wheel --directory "$packages" >/dev/null)
}

write_deb() {
    local root=$work/deb control
    install -D "$program" "$root/usr/bin/swe-ci"
    install -D --mode 644 packaging/deb/swe-ci.service "$root/lib/systemd/system/swe-ci.service"
    install -D --mode 644 packaging/deb/swe-ci.default "$root/etc/default/swe-ci"
    install -d "$root/usr/share/doc/swe-ci" "$root/DEBIAN"
    cp README.md "$root/usr/share/doc/swe-ci/"
    manual "$root/usr/share/doc/swe-ci"
    cat LICENSE-MIT LICENSE-APACHE "$packages/THIRD-PARTY-LICENSES.txt" >"$root/usr/share/doc/swe-ci/copyright"
    chmod --recursive u=rwX,go=rX "$root/usr/share/doc"
    install --mode 644 packaging/deb/conffiles "$root/DEBIAN/"
    install packaging/deb/{postinst,prerm,postrm} "$root/DEBIAN/"
    # Debian orders 0.2.0~rc.1 before 0.2.0.
    control=$(sed "s/@VERSION@/${version/-/\~}/; s/@ARCHITECTURE@/$architecture/; s/@KIB@/$(du --summarize --apparent-size "$root" | cut -f 1)/" packaging/deb/control)
    printf '%s\n' "$control" >"$root/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$root" "$packages/swe-ci_${version/-/\~}_$architecture.deb" >/dev/null
}

[[ -f dist/site/hash.txt ]] || die dist "dist/site is not there: make dist"
is_cross || rm -rf "$packages"
mkdir -p "$packages"
rm -f "$packages/SHA256SUMS"
build_program
copy_sources
write_bills
write_licences
write_archive
write_wheel
write_deb
(cd "$packages" && sha256sum -- * >SHA256SUMS)
say dist "dist/packages:"
(cd "$packages" && du --human-readable --apparent-size -- *)

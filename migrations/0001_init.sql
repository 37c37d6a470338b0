-- One text for SQLite and Postgres: only TEXT, BIGINT and DOUBLE PRECISION;
-- ids are made by the application; times are unix milliseconds.

CREATE TABLE tasks (
    id             TEXT PRIMARY KEY,
    repo           TEXT NOT NULL,
    base_sha       TEXT NOT NULL,
    target_sha     TEXT NOT NULL,
    state          TEXT NOT NULL, -- ready | unusable
    reason         TEXT NOT NULL, -- why it is unusable
    image          TEXT NOT NULL, -- content digest of its image
    base_in_target BIGINT NOT NULL,
    target_passed  BIGINT NOT NULL,
    base_passed    BIGINT NOT NULL,
    suite_seconds  DOUBLE PRECISION NOT NULL,
    commits        BIGINT NOT NULL,
    span_days      DOUBLE PRECISION NOT NULL,
    tests          TEXT NOT NULL, -- JSON: node ids of T, sorted
    base_outcomes  TEXT NOT NULL, -- a letter per test of T
    extra          TEXT NOT NULL, -- JSON: [[column, value], …] of the metadata
    imported_at    BIGINT NOT NULL
);

CREATE TABLE splits (
    name       TEXT PRIMARY KEY,
    created_at BIGINT NOT NULL
);

CREATE TABLE split_tasks (
    split    TEXT NOT NULL REFERENCES splits (name),
    task_id  TEXT NOT NULL REFERENCES tasks (id),
    position BIGINT NOT NULL,
    PRIMARY KEY (split, task_id)
);

CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    split       TEXT NOT NULL REFERENCES splits (name),
    kind        TEXT NOT NULL,
    config      TEXT NOT NULL, -- JSON: core::run::RunConfig
    provenance  TEXT NOT NULL, -- JSON: core::view::Provenance
    progress    TEXT NOT NULL, -- queued | running | finished | cancelled
    created_at  BIGINT NOT NULL,
    started_at  BIGINT,
    finished_at BIGINT
);

CREATE TABLE evolutions (
    id               TEXT PRIMARY KEY,
    run_id           TEXT NOT NULL REFERENCES runs (id),
    task_id          TEXT NOT NULL REFERENCES tasks (id),
    sample           BIGINT NOT NULL,
    progress         TEXT NOT NULL,
    ending           TEXT,
    reason           TEXT,
    worker           TEXT,
    lease_until      BIGINT NOT NULL,
    expected_seconds DOUBLE PRECISION NOT NULL,
    queued_at        BIGINT NOT NULL,
    started_at       BIGINT,
    finished_at      BIGINT,
    -- The step at work; of use only while progress = 'running'.
    at_iteration     BIGINT NOT NULL,
    at_role          TEXT NOT NULL,
    at_attempt       BIGINT NOT NULL
);
CREATE INDEX evolutions_by_run ON evolutions (run_id);
CREATE INDEX evolutions_to_claim ON evolutions (progress, lease_until);

-- Every completed attempt at a step, in order: the log an evolution's state
-- is rebuilt from.
CREATE TABLE steps (
    evolution_id TEXT NOT NULL REFERENCES evolutions (id),
    seq          BIGINT NOT NULL,
    iteration    BIGINT NOT NULL,
    role         TEXT NOT NULL,
    attempt      BIGINT NOT NULL,
    outcome      TEXT NOT NULL, -- JSON: core::step::StepOutcome
    detail       TEXT NOT NULL,
    product      TEXT,          -- artifact: the document, the code, the report
    log          TEXT,          -- artifact: what the step printed
    started_at   BIGINT NOT NULL,
    finished_at  BIGINT NOT NULL,
    PRIMARY KEY (evolution_id, seq)
);

CREATE TABLE iterations (
    evolution_id TEXT NOT NULL REFERENCES evolutions (id),
    iteration    BIGINT NOT NULL,
    verdict      TEXT NOT NULL, -- scored | collapsed
    in_target    BIGINT NOT NULL,
    passed       BIGINT NOT NULL,
    lost         BIGINT NOT NULL,
    gained       BIGINT NOT NULL,
    outcomes     TEXT NOT NULL, -- a letter per test of T
    collapse     TEXT,
    findings     TEXT NOT NULL, -- JSON: [text, …]
    code         TEXT NOT NULL, -- artifact: the code that was tested
    test_seconds DOUBLE PRECISION NOT NULL,
    finished_at  BIGINT NOT NULL,
    PRIMARY KEY (evolution_id, iteration)
);

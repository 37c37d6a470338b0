-- Curations: tasks made from git histories, stage by stage. What each stage
-- found stands in the rows, so that a curation goes on where it was.
CREATE TABLE curations (
    id          TEXT PRIMARY KEY,
    split       TEXT NOT NULL,
    plan        TEXT NOT NULL, -- TOML, as it was given
    state       TEXT NOT NULL, -- queued | running | finished | failed | cancelled
    reason      TEXT NOT NULL, -- why it failed
    account_id  TEXT,          -- who asked for it; the operator when null
    created_at  BIGINT NOT NULL,
    finished_at BIGINT
);

CREATE TABLE curation_repositories (
    curation_id TEXT NOT NULL REFERENCES curations (id),
    position    BIGINT NOT NULL,
    name        TEXT NOT NULL,
    source      TEXT NOT NULL, -- JSON: engine::curation::Origin
    fate        TEXT NOT NULL, -- JSON: core::curation::Fate, of the first stage
    licence     TEXT NOT NULL,
    commits     BIGINT NOT NULL,
    spans       TEXT NOT NULL, -- JSON: [[reason, count], …] of what became no candidate; empty before
    PRIMARY KEY (curation_id, position)
);

CREATE TABLE curation_candidates (
    curation_id    TEXT NOT NULL REFERENCES curations (id),
    task_id        TEXT NOT NULL,
    repository     BIGINT NOT NULL,
    base_sha       TEXT NOT NULL,
    target_sha     TEXT NOT NULL,
    commits        BIGINT NOT NULL,
    days           DOUBLE PRECISION NOT NULL,
    modified_lines BIGINT NOT NULL,
    environment    TEXT NOT NULL, -- JSON: core::curation::Fate, of the third stage
    filtered       TEXT NOT NULL, -- JSON: Fate, of the fourth
    image          TEXT NOT NULL, -- content digest of its image, once it has one
    attempts       TEXT NOT NULL, -- JSON: [core::curation::BuildAttempt, …]
    prepared       TEXT NOT NULL, -- JSON: the task as it was tested; empty before
    PRIMARY KEY (curation_id, task_id)
);

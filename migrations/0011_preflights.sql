-- The try before a run begins; a run without a row begins without one.
CREATE TABLE preflights (
    run_id   TEXT PRIMARY KEY REFERENCES runs (id),
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'passed', 'failed', 'skipped')),
    at       BIGINT NOT NULL, -- unix milliseconds
    findings TEXT NOT NULL    -- JSON: a list of core::preflight::Finding
);

-- Pages read one row for each run instead of one for each iteration.

-- A new text with every change of the run's results.
ALTER TABLE runs ADD COLUMN revision TEXT NOT NULL DEFAULT '';

-- The counted results of runs that are over. They follow from the other tables:
-- a row of another revision or format is stale and will be replaced.
CREATE TABLE run_counts (
    run_id   TEXT PRIMARY KEY REFERENCES runs (id),
    revision TEXT NOT NULL,
    format   BIGINT NOT NULL, -- of `counts`
    counts   TEXT NOT NULL
);

CREATE INDEX runs_by_split ON runs (split);
-- Few iterations have findings.
CREATE INDEX iterations_with_findings ON iterations (evolution_id) WHERE findings <> '[]';

-- The run whose code this one graded again; NULL for most runs.
ALTER TABLE runs ADD COLUMN regrades TEXT REFERENCES runs (id);
CREATE INDEX runs_by_original ON runs (regrades);

-- Evolutions put back in the queue after their agents had given up, and the
-- last time that happened.
ALTER TABLE runs ADD COLUMN cleared BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cleared_at BIGINT;

-- What came of checking a run the last time: its tests run again on the code
-- that was kept.
CREATE TABLE verifications (
    run_id TEXT PRIMARY KEY REFERENCES runs (id),
    found  TEXT NOT NULL -- JSON: core::verification::Verification
);

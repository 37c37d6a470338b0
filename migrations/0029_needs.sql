-- Labels that a run needs of the workers that execute it, `name=value` each.
CREATE TABLE run_needs (
    run_id TEXT NOT NULL REFERENCES runs (id),
    need   TEXT NOT NULL,
    PRIMARY KEY (run_id, need)
);

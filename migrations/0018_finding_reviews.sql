-- Decisions about suspicious findings, one for each; the audit log has the
-- earlier ones. `finding` is the position in the iteration's list, from 1.
CREATE TABLE finding_reviews (
    id           TEXT PRIMARY KEY,
    evolution_id TEXT NOT NULL REFERENCES evolutions (id),
    iteration    BIGINT NOT NULL,
    finding      BIGINT NOT NULL,
    decision     TEXT NOT NULL, -- core::finding::Decision
    reason       TEXT NOT NULL,
    reviewer     TEXT NOT NULL, -- id of the account; empty for the command line
    decided_at   BIGINT NOT NULL,
    UNIQUE (evolution_id, iteration, finding)
);

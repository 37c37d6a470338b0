-- The contradictions of a suite, stored once for all tasks and runs that have it.
CREATE TABLE contradictions (
    suite    TEXT PRIMARY KEY, -- digest of target commit, image and test command
    artifact TEXT NOT NULL,    -- JSON: grading::Contradictions; empty where there are none
    coverage TEXT NOT NULL     -- JSON: core::audit::Coverage
);

-- The audit of an evolution that is over.
CREATE TABLE evolution_audits (
    evolution_id  TEXT PRIMARY KEY REFERENCES evolutions (id),
    -- Whoever audits it, and until when nobody else does: unix milliseconds, 0
    -- where nobody does.
    worker        TEXT NOT NULL,
    claimed_until BIGINT NOT NULL,
    -- Whether its run takes no rank before. Not for what ended before there
    -- were audits.
    holds_rank    BIGINT NOT NULL,
    found         TEXT NOT NULL -- JSON: core::audit::EvolutionAudit; empty before
);
INSERT INTO evolution_audits (evolution_id, worker, claimed_until, holds_rank, found)
SELECT id, '', 0, 0, '' FROM evolutions WHERE ending IS NOT NULL;

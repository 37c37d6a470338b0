-- The numbers of an evolution's recordings and code changes. They follow from
-- the artifacts: a row of another format is stale and will be replaced.
CREATE TABLE evolution_digests (
    evolution_id TEXT PRIMARY KEY REFERENCES evolutions (id),
    format       BIGINT NOT NULL, -- of `digest`
    digest       TEXT NOT NULL    -- JSON: views::trajectories::EvolutionDigest
);

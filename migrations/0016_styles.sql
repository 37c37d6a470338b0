-- What Pylint and radon find in the source of one version of some code,
-- whichever tasks and runs have it.
CREATE TABLE code_styles (
    source TEXT NOT NULL,   -- digest of its files
    image  TEXT NOT NULL,   -- content digest of the image it was looked at in: imports resolve there
    method BIGINT NOT NULL, -- which tools, used how: engine::style::METHOD
    tools  TEXT NOT NULL,   -- JSON: core::style::StyleTools
    style  TEXT NOT NULL,   -- JSON: core::style::CodeStyle
    files  TEXT NOT NULL,   -- artifact: JSON [core::style::FileStyle, …]
    PRIMARY KEY (source, image, method)
);

-- The style of an evolution that is over.
CREATE TABLE evolution_styles (
    evolution_id TEXT PRIMARY KEY REFERENCES evolutions (id),
    method       BIGINT NOT NULL,
    -- Whoever measures it, and until when nobody else does: unix milliseconds,
    -- 0 once it is done.
    worker       TEXT NOT NULL,
    claimed_until BIGINT NOT NULL,
    style        TEXT NOT NULL, -- JSON: core::style::EvolutionStyle; empty where there is none
    reason       TEXT NOT NULL  -- why there is none
);

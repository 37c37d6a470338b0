-- The leaderboards of a split as they were on a day. A row is never changed, and
-- stays when the split, its runs or its tasks go.
CREATE TABLE snapshots (
    day     TEXT NOT NULL,   -- YYYY-MM-DD in UTC
    split   TEXT NOT NULL,
    digest  TEXT NOT NULL,   -- SHA-256 of the unpacked content
    made_at BIGINT NOT NULL,
    made_by TEXT NOT NULL,   -- name of the account
    runs    BIGINT NOT NULL,
    tasks   BIGINT NOT NULL,
    content TEXT NOT NULL,   -- views::leaderboard::Frozen as JSON, packed by zstd, in base64
    PRIMARY KEY (day, split)
);

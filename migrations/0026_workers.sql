-- How often an evolution was claimed: a fencing number. It is part of the names
-- of artifacts, so that a worker that comes back late overwrites none.
ALTER TABLE evolutions ADD COLUMN claim BIGINT NOT NULL DEFAULT 0;
CREATE INDEX evolutions_queue ON evolutions (expected_seconds DESC, queued_at, id) WHERE progress IN ('queued', 'running');

-- Processes that execute evolutions. Times are the database's.
CREATE TABLE workers (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    version    TEXT NOT NULL,
    slots      BIGINT NOT NULL,
    labels     TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    draining   BIGINT NOT NULL DEFAULT 0
);

-- Work that one process does at a time, by name; free after `until`.
CREATE TABLE leases (
    name   TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until  BIGINT NOT NULL
);

-- What the requests of a run took, counted as each ends: its budget holds over
-- all workers.
CREATE TABLE run_spending (
    run_id    TEXT PRIMARY KEY REFERENCES runs (id),
    tokens    BIGINT NOT NULL,
    requests  BIGINT NOT NULL,
    micro_usd BIGINT NOT NULL
);

-- Live events on their way from workers to servers, for minutes.
CREATE TABLE run_events (
    id     TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    at     BIGINT NOT NULL,
    what   TEXT NOT NULL
);
CREATE INDEX run_events_by_time ON run_events (at);

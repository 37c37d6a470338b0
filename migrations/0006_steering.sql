-- What whoever steers a run has said since it was submitted.
ALTER TABLE runs ADD COLUMN paused_at BIGINT;   -- absent: it may be worked on
ALTER TABLE runs ADD COLUMN at_once BIGINT;     -- the most evolutions at the same time; absent: as many as there are workers
ALTER TABLE runs ADD COLUMN budget TEXT;        -- JSON: core::agent::Budget; absent: the configuration's

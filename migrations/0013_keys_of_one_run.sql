-- Whether the keys a run names are removed when it is over.
ALTER TABLE runs ADD COLUMN forget_keys BIGINT NOT NULL DEFAULT 0; -- 0 or 1

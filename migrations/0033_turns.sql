-- When an evolution of a run was claimed last: runs that wait take turns.
ALTER TABLE runs ADD COLUMN claimed_at BIGINT NOT NULL DEFAULT 0;

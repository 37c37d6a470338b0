-- A handover to a later target starts from code that no run has tested with the
-- tests of that target: 0 until a worker has.
ALTER TABLE evolutions ADD COLUMN start_measured BIGINT NOT NULL DEFAULT 1;

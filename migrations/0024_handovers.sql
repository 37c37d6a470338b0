-- The code that an evolution of a handover goes on with: after an iteration of
-- another run's evolution. NULL where it starts from its task's base.
ALTER TABLE evolutions ADD COLUMN start_run TEXT;
ALTER TABLE evolutions ADD COLUMN start_evolution TEXT;
ALTER TABLE evolutions ADD COLUMN start_iteration BIGINT;
-- An artifact, named by the digest of its content.
ALTER TABLE evolutions ADD COLUMN start_code TEXT;

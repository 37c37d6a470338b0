-- The N that a split declares: 0 if it declares none, null if it was imported before.
ALTER TABLE splits ADD COLUMN iterations BIGINT;

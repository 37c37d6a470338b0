-- What the preparation of a task found: JSON, core::preparation::Preparation;
-- empty for tasks that were imported before.
ALTER TABLE tasks ADD COLUMN preparation TEXT NOT NULL DEFAULT '';
-- Where a split came from: JSON, core::dataset::SplitSource; empty for splits
-- that were imported before.
ALTER TABLE splits ADD COLUMN source TEXT NOT NULL DEFAULT '';

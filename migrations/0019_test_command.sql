-- How pytest is started for a task's tests: `bare`, `reference` or `platform`.
-- Tasks were prepared without the options of their settings before.
ALTER TABLE tasks ADD COLUMN test_command TEXT NOT NULL DEFAULT 'bare';

-- Pinned with the task's commits; NULL where those are not known.
ALTER TABLE evolutions ADD COLUMN test_command TEXT;
UPDATE evolutions SET test_command = 'bare' WHERE base_sha IS NOT NULL;

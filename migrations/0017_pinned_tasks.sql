-- A run is carried on, verified and inspected on what it was started on, as it
-- is measured against the suite of that time: preparing a task again under the
-- same name, with other commits or another image, changes no evolution.

-- The test report of the base code: an artifact, by its content.
ALTER TABLE tasks ADD COLUMN base_report TEXT;
UPDATE tasks SET base_report = 'tasks/' || id || '/base-report.json.zst' WHERE state = 'ready';

-- NULL for evolutions of which it is not known: imported ones, and those whose
-- task was prepared again before these columns existed. They use the task's.
ALTER TABLE evolutions ADD COLUMN base_sha TEXT;
ALTER TABLE evolutions ADD COLUMN target_sha TEXT;
ALTER TABLE evolutions ADD COLUMN image TEXT;
ALTER TABLE evolutions ADD COLUMN base_report TEXT;
UPDATE evolutions SET (base_sha, target_sha, image, base_report) =
  (SELECT t.base_sha, t.target_sha, t.image, t.base_report FROM tasks t WHERE t.id = evolutions.task_id)
WHERE suite = (SELECT t.suite FROM tasks t WHERE t.id = evolutions.task_id)
  AND run_id IN (SELECT r.id FROM runs r WHERE r.source IS NULL);

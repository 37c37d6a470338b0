-- A task imported with other content is another revision of it, so splits and runs
-- keep theirs. A revision is named by the digest of its content; '' is the one
-- that a task had before there were names.
CREATE TABLE task_revisions (
    id            TEXT NOT NULL REFERENCES tasks (id),
    revision      TEXT NOT NULL DEFAULT '',
    repo          TEXT NOT NULL,
    base_sha      TEXT NOT NULL,
    target_sha    TEXT NOT NULL,
    state         TEXT NOT NULL, -- ready | unusable
    reason        TEXT NOT NULL, -- why it is unusable
    image         TEXT NOT NULL, -- content digest of its image
    suite         TEXT NOT NULL,
    test_command  TEXT NOT NULL DEFAULT 'bare',
    base_report   TEXT,
    suite_seconds DOUBLE PRECISION NOT NULL,
    commits       BIGINT NOT NULL,
    span_days     DOUBLE PRECISION NOT NULL,
    target_time   BIGINT,
    preparation   TEXT NOT NULL DEFAULT '',
    extra         TEXT NOT NULL, -- JSON: [[column, value], …] of the metadata
    imported_at   BIGINT NOT NULL,
    PRIMARY KEY (id, revision)
);
INSERT INTO task_revisions (id, repo, base_sha, target_sha, state, reason, image, suite, test_command, base_report,
  suite_seconds, commits, span_days, target_time, preparation, extra, imported_at)
SELECT id, repo, base_sha, target_sha, state, reason, image, suite, test_command, base_report,
  suite_seconds, commits, span_days, target_time, preparation, extra, imported_at FROM tasks;

-- The revision that was imported last.
ALTER TABLE tasks ADD COLUMN revision TEXT NOT NULL DEFAULT '';
ALTER TABLE split_tasks ADD COLUMN revision TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks DROP COLUMN repo;
ALTER TABLE tasks DROP COLUMN base_sha;
ALTER TABLE tasks DROP COLUMN target_sha;
ALTER TABLE tasks DROP COLUMN state;
ALTER TABLE tasks DROP COLUMN reason;
ALTER TABLE tasks DROP COLUMN image;
ALTER TABLE tasks DROP COLUMN suite;
ALTER TABLE tasks DROP COLUMN test_command;
ALTER TABLE tasks DROP COLUMN base_report;
ALTER TABLE tasks DROP COLUMN suite_seconds;
ALTER TABLE tasks DROP COLUMN commits;
ALTER TABLE tasks DROP COLUMN span_days;
ALTER TABLE tasks DROP COLUMN target_time;
ALTER TABLE tasks DROP COLUMN preparation;
ALTER TABLE tasks DROP COLUMN extra;
ALTER TABLE tasks DROP COLUMN imported_at;

-- A full board: RUNS models × 100 tasks of 68 repositories × 20 iterations.

INSERT INTO splits (name, created_at) VALUES ('large', 1000);

INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
VALUES ('suite-large', 100, 200, 100, 0, '[]', '');

WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO tasks (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds, commits, span_days,
                   extra, imported_at)
SELECT printf('large-%03d', i), printf('repo-%02d', i % 68), 'a0', 'a1', 'ready', '', 'sha256:aa', 'suite-large',
       1.0, 10, 100.0, '[]', 1000 FROM n;

INSERT INTO split_tasks (split, task_id, position) SELECT 'large', id, 1 FROM tasks WHERE id LIKE 'large-%';

WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < RUNS - 1)
INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
SELECT printf('00000000-0000-7000-9000-%012d', i), 'large', 'measured',
       printf('{"model":"model-%04d","provider":"provider-%d","kind":"measured","harness":{"name":"replay","max_chunks":20},"split":"large","samples":1,"plan":{"max_iterations":20,"max_attempts":10}}', i, i % 8),
       '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"","harness_version":"1"}',
       'finished', 1000, 1000, 2000 FROM n;

INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds, queued_at,
                        started_at, finished_at, at_iteration, at_role, at_attempt, suite)
SELECT r.id || '/' || t.id, r.id, t.id, 1, 'finished', 'iterations_spent', 0, 1.0, 1000, 1000, 2000, 20, 'test', 1,
       'suite-large'
FROM runs r JOIN tasks t ON t.id LIKE 'large-%' WHERE r.split = 'large';

-- Better models gain more, harder tasks less, and one iteration in eleven
-- breaks something.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes, findings, code,
                        test_seconds, finished_at)
SELECT e.id, i, 'scored', passes, passes, CASE WHEN (i * 7 + length(e.id) + m) % 11 = 0 THEN 3 ELSE 0 END, 4, '', '[]',
       'code/1', 1.0, 2000
FROM (SELECT e.id AS id, i, m,
             min(200, 60 + m * 50 / RUNS + (t * 37) % 60 + i * (1 + (m + t) % 5)) AS passes
      FROM (SELECT id, CAST(substr(run_id, -4) AS INTEGER) AS m, CAST(substr(task_id, -3) AS INTEGER) AS t
            FROM evolutions WHERE suite = 'suite-large') e
      JOIN n) e;

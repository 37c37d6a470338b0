-- A full board: RUNS models × 100 tasks of 68 repositories × 20 iterations, in
-- SQL that SQLite and Postgres understand. Ids are as long as real ones.

INSERT INTO splits (name, created_at) VALUES ('large', 1000);

INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
VALUES ('suite-large', 100, 200, 100, 0, '[]', '');

WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO tasks (id) SELECT 'large-' || substr(CAST(1000 + i AS TEXT), 2) FROM n;

WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO task_revisions (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds, commits,
                            span_days, extra, imported_at)
SELECT 'large-' || substr(CAST(1000 + i AS TEXT), 2), 'repo-' || substr(CAST(100 + i % 68 AS TEXT), 2), 'a0', 'a1',
       'ready', '', 'sha256:aa', 'suite-large', 1.0, 10, 100.0, '[]', 1000 FROM n;

INSERT INTO split_tasks (split, task_id, position) SELECT 'large', id, 1 FROM tasks WHERE id LIKE 'large-%';

WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < RUNS - 1)
INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
SELECT '00000000-0000-7000-9000-' || substr(CAST(1000000000000 + i AS TEXT), 2), 'large', 'measured',
       '{"model":"model-' || substr(CAST(10000 + i AS TEXT), 2) || '","provider":"provider-' || CAST(i % 8 AS TEXT)
           || '","kind":"measured","harness":{"name":"replay","max_chunks":20},"split":"large","samples":1,'
           || '"plan":{"max_iterations":20,"max_attempts":10}}',
       '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"","harness_version":"1"}',
       'finished', 1000, 1000, 2000 FROM n;

INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds, queued_at,
                        started_at, finished_at, at_iteration, at_role, at_attempt, suite)
SELECT '00000000-0000-7000-0' || substr(t.id, 7) || substr(r.id, 24), r.id, t.id, 1, 'finished', 'iterations_spent', 0,
       1.0, 1000, 1000, 2000, 20, 'test', 1, 'suite-large'
FROM runs r JOIN tasks t ON t.id LIKE 'large-%' WHERE r.split = 'large';

-- Better models gain more, harder tasks less, and one iteration in eleven
-- breaks something.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes, findings, code,
                        test_seconds, finished_at)
SELECT id, i, 'scored', CASE WHEN passes < 200 THEN passes ELSE 200 END, CASE WHEN passes < 200 THEN passes ELSE 200 END,
       CASE WHEN (i * 7 + m) % 11 = 0 THEN 3 ELSE 0 END, 4, '', '[]', 'code/1', 1.0, 2000
FROM (SELECT e.id AS id, i, m, 60 + m * 50 / RUNS + (t * 37) % 60 + i * (1 + (m + t) % 5) AS passes
      FROM (SELECT id, CAST(substr(run_id, 33) AS INTEGER) AS m, CAST(substr(task_id, 7) AS INTEGER) AS t
            FROM evolutions WHERE suite = 'suite-large') e
      CROSS JOIN n) e;

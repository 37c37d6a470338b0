-- A small world: three tasks in two splits, a finished human baseline, a
-- model at work, and a run that still waits. The rows are written as the
-- engine writes them.

INSERT INTO splits (name, created_at) VALUES ('demo', 1000), ('other', 2000);

INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
VALUES
  ('suite-alpha', 2, 4, 2, 0,
   '["tests/test_a.py::one","tests/test_a.py::two","tests/test_a.py::three","tests/test_a.py::four"]', 'ppf-'),
  ('suite-beta', 1, 2, 1, 0, '["tests/test_b.py::one","tests/test_b.py::two"]', 'pf'),
  ('suite-none', 0, 0, 0, 0, '[]', '');

INSERT INTO tasks (id) VALUES ('alpha-1'), ('beta-2'), ('gamma-3');
INSERT INTO task_revisions (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds, commits,
                            span_days, extra, imported_at, preparation)
VALUES
  ('alpha-1', 'alpha', 'a0', 'a1', 'ready', '', 'sha256:aa', 'suite-alpha', 0.7, 3, 120.5, '[["license","MIT"]]', 1000,
   '{"suite_seconds":[0.8,0.7,0.6],"target_collected":5,"base_collected":4,"findings":[{"kind":"flaky","tests":{"count":1,"first":["tests/test_a.py::moody"]}}],"lines":{"source":{"files":2,"added":600,"deleted":40},"tests":{"files":1,"added":70,"deleted":0},"other":{"files":0,"added":0,"deleted":0}},"licence":"MIT"}'),
  ('beta-2', 'beta', 'b0', 'b1', 'ready', '', 'sha256:bb', 'suite-beta', 1.3, 2, 60.0, '[]', 1000, ''),
  ('gamma-3', 'gamma', 'c0', 'c1', 'unusable', 'its oracle suite does not run (pytest exit 2)', 'sha256:cc',
   'suite-none', 0.0, 0, 0.0, '[]', 1000, '');

INSERT INTO split_tasks (split, task_id, position)
VALUES ('demo', 'alpha-1', 1), ('demo', 'beta-2', 2), ('demo', 'gamma-3', 3), ('other', 'beta-2', 1);

INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
VALUES
  ('00000000-0000-7000-8000-000000000001', 'demo', 'human',
   '{"model":"Human (replayed history)","provider":"","kind":"human","harness":{"name":"replay","max_chunks":4},"split":"demo","samples":1,"plan":{"max_iterations":4,"max_attempts":10}}',
   '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"sha256:dd","harness_version":"1"}',
   'finished', 1763600000000, 1763600001000, 1763600060000),
  ('00000000-0000-7000-8000-000000000002', 'demo', 'measured',
   '{"model":"<script>alert(1)</script>","provider":"acme","kind":"measured","harness":{"name":"replay","max_chunks":4},"split":"demo","samples":1,"plan":{"max_iterations":4,"max_attempts":10}}',
   '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"sha256:dd","harness_version":"1"}',
   'running', 1763600100000, 1763600101000, NULL),
  ('00000000-0000-7000-8000-000000000003', 'demo', 'measured',
   '{"model":"patient","provider":"acme","kind":"measured","harness":{"name":"replay","max_chunks":4},"split":"demo","samples":1,"plan":{"max_iterations":4,"max_attempts":10}}',
   '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"sha256:dd","harness_version":"1"}',
   'queued', 1763600200000, NULL, NULL);

INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, reason, worker, lease_until, expected_seconds,
                        queued_at, started_at, finished_at, at_iteration, at_role, at_attempt, suite)
VALUES
  ('e-human-alpha', '00000000-0000-7000-8000-000000000001', 'alpha-1', 1, 'finished', 'solved', NULL, NULL, 0, 14.0,
   1763600000000, 1763600001000, 1763600050000, 3, 'architect', 1, 'suite-alpha'),
  ('e-human-beta', '00000000-0000-7000-8000-000000000001', 'beta-2', 1, 'finished', 'solved', NULL, NULL, 0, 26.0,
   1763600000000, 1763600001000, 1763600060000, 2, 'architect', 1, 'suite-beta'),
  ('e-model-alpha', '00000000-0000-7000-8000-000000000002', 'alpha-1', 1, 'finished', 'iterations_spent', NULL, NULL, 0,
   14.0, 1763600100000, 1763600101000, 1763600150000, 3, 'architect', 1, 'suite-alpha'),
  ('e-model-beta', '00000000-0000-7000-8000-000000000002', 'beta-2', 1, 'running', NULL, NULL, 'x/1', 0, 26.0,
   1763600100000, 1763600101000, NULL, 1, 'programmer', 2, 'suite-beta'),
  ('e-patient-alpha', '00000000-0000-7000-8000-000000000003', 'alpha-1', 1, 'queued', NULL, NULL, NULL, 0, 14.0,
   1763600200000, NULL, NULL, 1, 'architect', 1, 'suite-alpha');

INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes, collapse, findings,
                        code, test_seconds, finished_at)
VALUES
  ('e-human-alpha', 1, 'scored', 3, 3, 0, 1, 'pppf', NULL, '[]', 'code/1', 0.7, 1763600020000),
  ('e-human-alpha', 2, 'scored', 4, 4, 0, 1, 'pppp', NULL, '[]', 'code/2', 0.7, 1763600050000),
  ('e-human-beta', 1, 'scored', 2, 2, 0, 1, 'pp', NULL, '[]', 'code/3', 1.3, 1763600060000),
  ('e-model-alpha', 1, 'scored', 1, 1, 1, 0, 'fpff', NULL, '["conftest.py was changed"]', 'code/4', 0.7, 1763600120000),
  ('e-model-alpha', 2, 'collapsed', 0, 0, 1, 0, '----', 'pytest exit 4', '[]', 'code/5', 0.2, 1763600150000);

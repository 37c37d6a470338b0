-- A year of results in small: fourteen runs of every kind on 24 tasks of eight
-- repositories, a run at work, a split nobody has run, and one on which agents
-- asked their models over the gateway. The rows are written as
-- the engine writes them; there are no files behind them.

INSERT INTO splits (name, created_at) VALUES ('field', 1790000000000), ('quiet', 1790000000000);

-- 24 tests, of which the base passes eight.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 23)
INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
SELECT 'suite-field', 8, 24, 8, 0,
       '[' || group_concat(printf('"tests/test_%s.py::test_%02d[%s]"', CASE i % 3 WHEN 0 THEN 'reading' WHEN 1 THEN 'writing' ELSE 'a_rather_long_module_name' END, i, 'case-' || i), ',') || ']',
       'ppppppppffffffffffffffff'
FROM n;
INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
VALUES ('suite-counts', 8, 24, 8, 1, '[]', ''), ('suite-none', 0, 0, 0, 0, '[]', '');

-- Ids are plain names.
CREATE TEMP TABLE ids AS
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 23)
SELECT i, r.name AS repo, printf('task-%02d-of-%s', i, replace(r.name, '/', '__')) AS id
FROM n JOIN (SELECT 0 AS k, 'otter/parsing' AS name UNION SELECT 1, 'heron/forms' UNION SELECT 2, 'lynx/queues'
             UNION SELECT 3, 'ibis/dates' UNION SELECT 4, 'mole/paths' UNION SELECT 5, 'swift/tables'
             UNION SELECT 6, 'newt/colours' UNION SELECT 7, 'a-long-organisation/with-a-long-repository-name') r
     ON r.k = n.i % 8;
INSERT INTO tasks (id) SELECT id FROM ids;
INSERT INTO task_revisions (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds, commits,
                            span_days, extra, imported_at, target_time)
SELECT id, repo, printf('%040x', i * 7919 + 1), printf('%040x', i * 104729 + 2),
       'ready', '', 'sha256:aa', 'suite-field', 1.0 + i, 3 + i, 20.0 * (i + 1), '[["license","MIT"]]',
       1790000000000, CASE WHEN i % 2 = 0 THEN 1750000000000 ELSE 1785000000000 END
FROM ids;
INSERT INTO tasks (id) VALUES ('broken');
INSERT INTO task_revisions (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds, commits,
                            span_days, extra, imported_at)
VALUES ('broken', 'otter/parsing', 'c0', 'c1', 'unusable', 'its oracle suite does not run (pytest exit 2)',
        'sha256:cc', 'suite-none', 0.0, 0, 0.0, '[]', 1790000000000);
INSERT INTO split_tasks (split, task_id, position) SELECT 'field', id, 1 FROM tasks;
INSERT INTO split_tasks (split, task_id, position) SELECT 'quiet', id, 1 FROM task_revisions WHERE repo = 'ibis/dates';

CREATE TEMP TABLE field (m INTEGER, model TEXT, provider TEXT, released TEXT, kind TEXT, harness TEXT);
INSERT INTO field VALUES
  (0, 'Human (replayed history)', '', NULL, 'human', '{"name":"replay","max_chunks":8}'),
  (1, 'Albatross 4', 'Meridian', '2026-03-11', 'measured', '{"name":"replay","max_chunks":8}'),
  (2, 'Albatross 3', 'Meridian', '2025-07-02', 'measured', '{"name":"replay","max_chunks":8}'),
  (3, 'Bramble Large', 'Thicket', '2025-11-20', 'measured', '{"name":"replay","max_chunks":8}'),
  (4, 'Bramble Small', 'Thicket', '2025-11-20', 'measured', '{"name":"replay","max_chunks":8}'),
  (5, 'Cobalt', 'Seam Labs', '2026-06-30', 'measured', '{"name":"replay","max_chunks":8}'),
  (6, 'Cobalt Preview', 'Seam Labs', '2025-05-05', 'measured', '{"name":"replay","max_chunks":8}'),
  (7, 'Drift', 'Open Delta', '2025-09-09', 'measured', '{"name":"replay","max_chunks":8}'),
  (8, 'Drift', 'Open Delta', '2025-09-09', 'measured', '{"name":"replay","max_chunks":4}'),
  (9, 'Ember', 'Kiln', '2026-01-15', 'imported', '{"name":"elsewhere","program":"their-agent 2.1"}'),
  (10, 'Fathom', 'Deep Six', '2026-02-01', 'imported', '{"name":"elsewhere","program":"their-agent 2.1"}'),
  (11, 'a-model-with-a-very-long-name-indeed-2026-08-thinking-high', 'A Provider With Quite a Long Name', '2026-08-01', 'measured', '{"name":"replay","max_chunks":8}'),
  (12, 'Counted', 'Kiln', '2025-12-01', 'imported', '{"name":"elsewhere","program":"their-agent 1.0"}'),
  (13, 'Gale <b>&amp;</b>', 'Kiln', NULL, 'measured', '{"name":"replay","max_chunks":8}');

INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
SELECT printf('00000000-0000-7000-a000-%012d', m), 'field', kind,
       json_object('model', model, 'provider', provider, 'release_date', released, 'kind', kind,
                   'harness', json(harness), 'split', 'field', 'samples', 1,
                   'plan', json('{"max_iterations":8,"max_attempts":10}')),
       '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"sha256:dd","harness_version":"1"}',
       'finished', 1790000000000 + m * 86400000, 1790000000000 + m * 86400000, 1790003600000 + m * 86400000
FROM field;

INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds, queued_at,
                        started_at, finished_at, at_iteration, at_role, at_attempt, suite)
SELECT printf('field-%02d-%s', f.m, substr(t.id, 6, 2)), printf('00000000-0000-7000-a000-%012d', f.m), t.id, 1,
       'finished', 'iterations_spent', 0, 1.0, 1790000000000, 1790000000000, 1790003600000, 8, 'test', 1,
       CASE WHEN f.m = 12 THEN 'suite-counts' ELSE 'suite-field' END
FROM field f JOIN tasks t ON t.id LIKE 'task-%';

-- Better models gain more, harder tasks less; now and then something breaks,
-- and one model's code at times no longer runs.
CREATE TEMP TABLE course AS
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8),
e AS (SELECT id, CAST(substr(id, 7, 2) AS INTEGER) AS m, CAST(substr(id, 10, 2) AS INTEGER) AS t FROM evolutions)
SELECT id, m, t, i,
       CASE WHEN m = 6 AND t % 6 = 0 AND i = 4 THEN 0
            ELSE max(3, min(24, 6 + m % 5 + CASE m WHEN 0 THEN 6 ELSE 0 END + i * (7 - (m * 5 + t * 3) % 7) / 3
                           - CASE WHEN (i * 7 + t * 5 + m * 3) % 9 = 0 THEN 2 + t % 4 ELSE 0 END)) END AS passes,
       m = 6 AND t % 6 = 0 AND i = 4 AS collapsed
FROM e JOIN n;
DELETE FROM course WHERE EXISTS (SELECT 1 FROM course b WHERE b.id = course.id AND b.i < course.i AND b.passes = 24);
INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes, collapse, findings,
                        code, test_seconds, finished_at)
SELECT id, i, CASE WHEN collapsed THEN 'collapsed' ELSE 'scored' END, passes, passes,
       max(0, before - passes), max(0, passes - before),
       CASE WHEN m = 12 THEN '' WHEN collapsed THEN '------------------------'
            ELSE substr('pppppppppppppppppppppppp', 1, passes) || substr('ffffffffffffffffffffffff', 1, 24 - passes) END,
       CASE WHEN collapsed THEN 'pytest exit 4' END,
       CASE WHEN m = 3 AND t % 5 = 0 AND i = 2 THEN '["conftest.py was changed"]' ELSE '[]' END,
       'code/1', 1.5, 1790000000000 + i * 60000
FROM (SELECT *, coalesce(lag(passes) OVER (PARTITION BY id ORDER BY i), 8) AS before FROM course);
UPDATE evolutions SET ending = 'solved'
WHERE EXISTS (SELECT 1 FROM iterations i WHERE i.evolution_id = evolutions.id AND i.in_target = 24);

-- What it took, of those that counted it.
INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at,
                   input_tokens, output_tokens)
SELECT id, 3 * i - 3 + k, i, role, 1, outcome, '', 1790000000000 + i * 60000, 1790000040000 + i * 60000,
       CASE WHEN m % 4 <> 3 AND k < 2 THEN (m * m + 3) * 9000 + i * 500 + t * 100 END,
       CASE WHEN m % 4 <> 3 AND k < 2 THEN (m + 3) * 300 END
FROM course JOIN (SELECT 0 AS k, 'architect' AS role, '"done"' AS outcome UNION SELECT 1, 'programmer', '"done"'
                  UNION SELECT 2, 'test', '{"scored":{"solved":false}}')
WHERE NOT collapsed;

-- A run at work, one that waits and one that was cancelled.
INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
SELECT printf('00000000-0000-7000-b000-%012d', n), 'field', 'measured',
       json_object('model', model, 'provider', 'Meridian', 'kind', 'measured',
                   'harness', json('{"name":"replay","max_chunks":8}'), 'split', 'field', 'samples', 1,
                   'plan', json('{"max_iterations":8,"max_attempts":10}')),
       '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"sha256:dd","harness_version":"1"}',
       progress, 1791500000000 + n, started, finished
FROM (SELECT 1 AS n, 'Albatross 5' AS model, 'running' AS progress, 1791500000001 AS started, NULL AS finished
      UNION SELECT 2, 'Patient', 'queued', NULL, NULL
      UNION SELECT 3, 'Given Up', 'cancelled', 1791500000001, 1791500060000);
INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, reason, worker, lease_until, expected_seconds,
                        queued_at, started_at, finished_at, at_iteration, at_role, at_attempt, suite)
SELECT printf('live-%s', substr(id, 6, 2)), '00000000-0000-7000-b000-000000000001', id, 1,
       CASE substr(id, 6, 2) WHEN '00' THEN 'finished' WHEN '01' THEN 'running' WHEN '02' THEN 'finished' ELSE 'queued' END,
       CASE substr(id, 6, 2) WHEN '00' THEN 'iterations_spent' WHEN '02' THEN 'blocked' END,
       CASE substr(id, 6, 2) WHEN '02' THEN 'The image of the task is not there: docker load it again.' END,
       CASE substr(id, 6, 2) WHEN '01' THEN 'x/1' END, 4102444800000, 26.0, 1791500000000, 1791500000001, NULL,
       2, 'programmer', 2, 'suite-field'
FROM tasks WHERE id LIKE 'task-0%';
INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes, findings, code,
                        test_seconds, finished_at)
VALUES ('live-00', 1, 'scored', 10, 10, 0, 2, 'ppppppppppffffffffffffff', '[]', 'code/1', 1.5, 1791500030000),
       ('live-01', 1, 'scored', 9, 9, 0, 1, 'pppppppppfffffffffffffff', '[]', 'code/1', 1.5, 1791500040000);

-- Agents that ask a model: one whose evolutions end in every way, one that is
-- cheaper, one that was made elsewhere and has no prices.
INSERT INTO splits (name, created_at) VALUES ('trial', 1790000000001);
INSERT INTO split_tasks (split, task_id, position)
SELECT 'trial', id, 1 FROM tasks WHERE id LIKE 'task-0%' AND substr(id, 6, 2) < '06';
INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
SELECT printf('00000000-0000-7000-c000-%012d', n), 'trial', 'measured',
       json_object('model', model, 'provider', 'Seam Labs', 'release_date', '2026-06-30', 'kind', 'measured',
                   'harness', json(harness), 'split', 'trial', 'samples', 1,
                   'endpoint', json_object('url', 'https://llm.example.org/v1', 'protocol', 'chat', 'model', name,
                                           'key', 'seam', 'prices', json(prices)),
                   'programmer', json(programmer),
                   'plan', json('{"max_iterations":8,"max_attempts":3}'),
                   'budget', json('{"tokens":20000000,"usd":25.0,"requests":5000}')),
       '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"sha256:dd","harness_version":"1.18.33","prompts":"1 sha256:0123456789abcdef0123456789abcdef"}',
       'finished', 1791000000000 + n, 1791000000000 + n, 1791003600000 + n
FROM (SELECT 1 AS n, 'Juniper' AS model, 'juniper-2026-06-30' AS name, '{"name":"opencode"}' AS harness,
             '{"input":3.0,"cached":0.3,"output":15.0}' AS prices,
             '{"harness":{"name":"builtin"},"endpoint":{"url":"http://10.0.0.7:8000/v1","protocol":"chat","model":"juniper-coder","prices":{"input":0.5,"output":2.0}}}' AS programmer
      UNION SELECT 2, 'Juniper Mini', 'juniper-mini', '{"name":"builtin"}', '{"input":0.1,"output":0.4}', NULL);
INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, reason, lease_until, expected_seconds, queued_at,
                        started_at, finished_at, at_iteration, at_role, at_attempt, suite)
SELECT printf('trial-%d-%s', n, substr(t.id, 6, 2)), printf('00000000-0000-7000-c000-%012d', n), t.id, 1,
       CASE WHEN n = 1 AND ending = 'cancelled' THEN 'cancelled' ELSE 'finished' END,
       CASE n WHEN 1 THEN ending ELSE 'iterations_spent' END, CASE n WHEN 1 THEN ends.reason END, 0, 1.0,
       1791000000000, 1791000000000, 1791003600000, 2, 'architect', 1, 'suite-field'
FROM tasks t JOIN (SELECT 1 AS n UNION SELECT 2)
JOIN (SELECT '00' AS k, 'solved' AS ending, NULL AS reason
      UNION SELECT '01', 'blocked', 'the provider answered 503 Service Unavailable and went on doing so for 600 s'
      UNION SELECT '02', 'agent_gave_up', 'the architect left no requirement.xml'
      UNION SELECT '03', 'budget_spent', 'the run''s budget of 25 US dollars is spent'
      UNION SELECT '04', 'iterations_spent', NULL
      UNION SELECT '05', 'cancelled', 'the run was cancelled') ends ON ends.k = substr(t.id, 6, 2)
WHERE t.id LIKE 'task-0%';
CREATE TEMP TABLE trial AS
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8)
SELECT e.id, substr(e.id, 7, 1) AS r, substr(e.id, 9) AS k, i,
       CASE WHEN e.ending = 'solved' AND i = 3 THEN 24 ELSE min(23, 8 + 3 * i - CASE WHEN i % 4 = 0 THEN 4 ELSE 0 END) END AS passes
FROM evolutions e JOIN n
WHERE e.id LIKE 'trial-%'
  AND i <= CASE e.ending WHEN 'solved' THEN 3 WHEN 'blocked' THEN 0 WHEN 'agent_gave_up' THEN 2 WHEN 'budget_spent' THEN 0
                         WHEN 'cancelled' THEN 1 ELSE 8 END;
INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes, findings, code,
                        test_seconds, finished_at)
SELECT id, i, 'scored', passes, passes, max(0, before - passes), max(0, passes - before),
       substr('pppppppppppppppppppppppp', 1, passes) || substr('ffffffffffffffffffffffff', 1, 24 - passes), '[]',
       'code/1', 1.5, 1791000000000 + i * 60000
FROM (SELECT *, coalesce(lag(passes) OVER (PARTITION BY id ORDER BY i), 8) AS before FROM trial);
-- The steps of iterations that were tested, then those of iterations that were not.
INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at, input_tokens,
                   output_tokens, cached_tokens, reasoning_tokens, requests, retries, waiting_ms, micro_usd)
SELECT id, 10 * i + s, i, role, attempt, outcome, detail, 1791000000000 + i * 60000,
       1791000000000 + i * 60000 + CASE s WHEN 3 THEN 1500 ELSE 41000 + 7000 * i END,
       CASE WHEN s < 3 THEN 61200 + 9100 * i END, CASE WHEN s < 3 THEN 2140 + 130 * i END,
       CASE WHEN s < 3 THEN 48000 + 7000 * i END, CASE WHEN s < 3 THEN 900 END,
       CASE WHEN s < 3 THEN 14 + i END, CASE WHEN s < 3 THEN (i % 3 = 1) * 2 END, CASE WHEN s < 3 THEN (i % 3 = 1) * 12400 END,
       CASE WHEN s < 3 THEN (88200 + 6500 * i) / CASE r WHEN '2' THEN 20 ELSE 1 END END
FROM trial JOIN (SELECT 0 AS s, 'architect' AS role, 1 AS attempt, '"malformed_requirement"' AS outcome,
                        'requirement.xml is no document: expected `</requirement>` in line 12' AS detail
                 UNION SELECT 1, 'architect', 2, '"done"', ''
                 UNION SELECT 2, 'programmer', 1, '"done"', ''
                 UNION SELECT 3, 'test', 1, '{"scored":{"solved":false}}', '');
UPDATE steps SET outcome = '"no_change"', detail = 'nothing was changed'
WHERE evolution_id = 'trial-1-04' AND iteration = 5 AND role = 'programmer';
UPDATE steps SET outcome = '{"scored":{"solved":true}}'
WHERE evolution_id = 'trial-1-00' AND iteration = 3 AND role = 'test';
INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at, input_tokens,
                   output_tokens, cached_tokens, reasoning_tokens, requests, retries, waiting_ms, micro_usd)
VALUES
  ('trial-1-01', 1, 1, 'architect', 1, '"infra_failed"', 'cannot start the container: no space left on device', 1791000000000, 1791000000400, 0, 0, 0, 0, 0, 0, 0, 0),
  ('trial-1-01', 2, 1, 'architect', 2, '"done"', '', 1791000010000, 1791000081000, 71240, 2310, 48128, 940, 15, 0, 0, 121000),
  ('trial-1-01', 3, 1, 'programmer', 1, '"provider_failed"', 'the provider answered 503 Service Unavailable and went on doing so for 600 s', 1791000090000, 1791000790000, 12480, 310, 0, 0, 4, 61, 600000, 41500),
  ('trial-1-01', 4, 1, 'programmer', 2, '"provider_failed"', 'the provider answered 503 Service Unavailable and went on doing so for 600 s', 1791000800000, 1791001420000, 0, 0, 0, 0, 1, 62, 600000, 0),
  ('trial-1-01', 5, 1, 'programmer', 3, '"provider_failed"', 'the provider answered 503 Service Unavailable and went on doing so for 600 s', 1791001430000, 1791002040000, 0, 0, 0, 0, 1, 60, 600000, 0),
  ('trial-1-02', 91, 3, 'architect', 1, '"malformed_requirement"', 'the architect left no requirement.xml', 1791000300000, 1791000341000, 41200, 900, 0, 0, 9, 0, 0, 137100),
  ('trial-1-02', 92, 3, 'architect', 2, '"agent_timed_out"', 'the agent took longer than 3600 s', 1791000350000, 1791003950000, 2840100, 61200, 2500000, 30400, 310, 1, 4000, 2688300),
  ('trial-1-02', 93, 3, 'architect', 3, '"malformed_requirement"', 'the architect left no requirement.xml', 1791003960000, 1791004001000, 38900, 700, 0, 0, 8, 0, 0, 127200),
  ('trial-1-03', 1, 1, 'architect', 1, '"agent_failed"', 'the agent ended with exit code 1', 1791000000000, 1791000004000, 0, 0, 0, 0, 0, 0, 0, 0),
  ('trial-1-03', 2, 1, 'architect', 2, '"budget_spent"', 'the run''s budget of 25 US dollars is spent', 1791000010000, 1791000081000, 71240, 2310, 48128, 940, 15, 0, 0, 121000),
  ('trial-1-05', 91, 2, 'architect', 1, '"cancelled"', 'the run was cancelled', 1791000200000, 1791000204000, 4100, 20, 0, 0, 1, 0, 0, 12600);
-- The gateway recorded whatever asked a model; the files themselves are not here.
UPDATE steps SET trajectory = evolution_id || '/' || seq || '/trajectory.jsonl.zst' WHERE evolution_id = 'trial-1-01' AND requests > 0;

UPDATE changes SET n = n + 1;

-- A model has judged the first run of the trial.
INSERT INTO judges (id, run_id, judge) VALUES ('j1', '00000000-0000-7000-c000-000000000001', '{"judge_id": "j1", "model": "judge-large-2", "parameters": {"temperature": 0}, "prompt_digest": "5f1d7a0c9e2b44d1", "criteria": [{"name": "within the requirement", "question": "Does the change do what the requirement asks for, and nothing that it does not ask for?"}, {"name": "general solution", "question": "Does the change solve the problem for inputs in general, rather than for those of the tests alone?"}], "by": "operator", "at": "2026-10-06T09:00:00Z"}');
INSERT INTO judgements (run_id, judge_id, evolution_id, iteration, judgement)
SELECT e.run_id, 'j1', e.id, i.iteration, json_object(
  'task_id', e.task_id, 'sample', e.sample, 'evolution_id', e.id, 'iteration', i.iteration,
  'answers', CASE WHEN e.id = 'trial-1-04' THEN json('[]') ELSE json_array(
    json_object('name', 'within the requirement', 'answer', CASE i.iteration % 2 WHEN 0 THEN 'no' ELSE 'yes' END,
                'quotes', json_array(json_object('text', 'def parse(text): return tuple(text.split(","))', 'found_in', 'change')),
                'why', 'It changes what parse returns, as the requirement asks.'),
    json_object('name', 'general solution', 'answer', 'unclear',
                'quotes', json_array(json_object('text', 'works for every input', 'found_in', NULL)),
                'why', 'The record does not show other inputs.')) END,
  'problem', CASE WHEN e.id = 'trial-1-04' THEN 'the reply has no JSON object' END,
  'usage', json_object('input_tokens', 9120, 'output_tokens', 410), 'micro_usd', 13220,
  'at', '2026-10-06T09:00:00Z')
FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
WHERE e.run_id = '00000000-0000-7000-c000-000000000001';

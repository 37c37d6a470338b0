-- A curation whose two tasks wait for a decision, and a candidate dropped before.
INSERT INTO curations (id, split, plan, state, reason, created_at)
VALUES ('review-1', 'reviewed', 'split = "reviewed"
[[source]]
package = "tinydb"
[filter]
review = true
', 'in_review', '', 1790000000000);

INSERT INTO curation_repositories (curation_id, position, name, source, fate, licence, commits, spans)
VALUES ('review-1', 0, 'tinydb', '{"kind": "package", "package": "tinydb", "from": null, "to": null}',
        '{"fate": "survived"}', 'MIT', 90, '[]');

INSERT INTO curation_candidates (curation_id, task_id, repository, base_sha, target_sha, commits, days,
                                 modified_lines, environment, filtered, image, attempts, prepared)
SELECT 'review-1', task, 0, printf('%040d', 1), printf('%040d', 2), 7, 30.5, 1200, '{"fate": "survived"}',
       CASE task WHEN 'tinydb__small' THEN '{"fate": "dropped", "reason": "small gap", "detail": "a gap of 1 test"}'
                 ELSE '{"fate": "waiting"}' END,
       '', '[]', json_object(
           'id', task, 'repo', 'tinydb', 'base_sha', printf('%040d', 1), 'target_sha', printf('%040d', 2),
           'state', json('{"state": "ready"}'), 'image', '',
           'suite', json('{"counts": {"base_in_target": 1, "target": 3, "base_passed": 1}, "tests": ["a", "b", "c"], "base_outcomes": "pff"}'),
           'base_report', null, 'test_command', 'platform:60', 'suite_seconds', 1.5, 'commits', 7,
           'span_days', 30.5, 'target_time', null, 'extra', json('[]'),
           'preparation', json('{
               "suite_seconds": [1.5, 1.4, 1.5], "target_collected": 4, "base_collected": 4,
               "findings": [
                   {"kind": "depend_on", "condition": "clock", "tests": {"count": 1, "first": ["a"]}},
                   {"kind": "similar_task", "task": "other", "percent": 91}
               ],
               "history": [
                   {"sha": "0000000000000000000000000000000000000003", "commits": 3, "passed": 3, "seconds": 1.4},
                   {"sha": "0000000000000000000000000000000000000002", "commits": 4, "passed": 3, "seconds": 1.5}
               ],
               "trials": [
                   {"condition": "order", "runs": 10},
                   {"condition": "home", "runs": 1},
                   {"condition": "clock", "runs": 2, "failing": {"count": 1, "first": ["a"]}}
               ],
               "gap_without_code": 1
           }'))
FROM (SELECT 'tinydb__one' AS task UNION ALL SELECT 'tinydb__two' UNION ALL SELECT 'tinydb__small');

-- The model of `seed.sql` has a score of its second task too, and so a rank.

UPDATE evolutions SET progress = 'finished', ending = 'iterations_spent', worker = NULL, finished_at = 1763600160000
WHERE id = 'e-model-beta';

INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes, collapse, findings,
                        code, test_seconds, finished_at)
VALUES
  ('e-model-beta', 1, 'scored', 1, 1, 0, 0, 'pf', NULL, '[]', 'code/6', 1.3, 1763600160000);

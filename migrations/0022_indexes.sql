-- Results of a task, and rows to remove when their time is over.
CREATE INDEX evolutions_by_task ON evolutions (task_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE INDEX deliveries_by_time ON deliveries (made_at);

-- From here on `iterations.outcomes` counts equal neighbours: p312f2- for 312 of
-- p, 2 of f, and one -. Earlier rows have a letter per test.

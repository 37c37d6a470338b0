-- A claim reads the first queued evolution of each run, and the few that are
-- worked on. A lease is in no index, so that its renewal rewrites none.
DROP INDEX evolutions_to_claim;
DROP INDEX evolutions_queue;
CREATE INDEX evolutions_queued ON evolutions (run_id, expected_seconds DESC, queued_at, id) WHERE progress = 'queued';
CREATE INDEX evolutions_running ON evolutions (run_id) WHERE progress = 'running';
CREATE INDEX runs_open ON runs (id) WHERE progress IN ('queued', 'running', 'cancelled');

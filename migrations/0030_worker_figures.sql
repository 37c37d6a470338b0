-- What a worker counted since it began, and what its engine has at hand; JSON,
-- as of its last heartbeat.
ALTER TABLE workers ADD COLUMN figures TEXT NOT NULL DEFAULT '{}';

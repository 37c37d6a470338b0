-- Requests that the end of a step cut off, and the platform's own that told whose
-- fault a failure was.
ALTER TABLE steps ADD COLUMN unfinished BIGINT;
ALTER TABLE steps ADD COLUMN streamed_tokens BIGINT;
ALTER TABLE steps ADD COLUMN probes BIGINT;
ALTER TABLE steps ADD COLUMN probe_micro_usd BIGINT;

-- What a step took of its model beside input and output tokens, counted by
-- the gateway; absent where there was none.
ALTER TABLE steps ADD COLUMN cached_tokens BIGINT;
ALTER TABLE steps ADD COLUMN reasoning_tokens BIGINT;
ALTER TABLE steps ADD COLUMN requests BIGINT;
ALTER TABLE steps ADD COLUMN retries BIGINT;
ALTER TABLE steps ADD COLUMN waiting_ms BIGINT;
ALTER TABLE steps ADD COLUMN micro_usd BIGINT; -- millionths of a US dollar
-- What was said: artifact, an exchange with the model per line.
ALTER TABLE steps ADD COLUMN trajectory TEXT;
-- Content digest of the image the harness was installed in.
ALTER TABLE steps ADD COLUMN layer TEXT;

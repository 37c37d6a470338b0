-- Which row of a step has what the attempt at work took so far; the text of its detail
-- said it before. Stored digests are counted apart from changes, which no visitor makes.
ALTER TABLE steps ADD COLUMN at_work BIGINT NOT NULL DEFAULT 0;
UPDATE steps SET at_work = 1, detail = '' WHERE detail = 'at work';
CREATE TABLE stored_digests (n BIGINT NOT NULL);
INSERT INTO stored_digests SELECT digests FROM changes;
ALTER TABLE changes DROP COLUMN digests;

-- Curations whose tasks a person accepts or drops before they are published (the
-- state in_review), and test commands with a limit for each test (platform:60).
ALTER TABLE curations ADD COLUMN reviewed_at BIGINT; -- null before the decision

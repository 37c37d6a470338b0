-- In the mode impossible: the contradicted tests that were shown, and those that the
-- code passes with their contradictions. JSON of core::audit::ShownContradictions.
ALTER TABLE iterations ADD COLUMN contradicted TEXT;

-- How the model's last answer in a step was less than a whole one.
ALTER TABLE steps ADD COLUMN truncation TEXT;

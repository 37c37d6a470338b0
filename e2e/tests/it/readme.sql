-- After world.sql: names that nobody has, for the README's pictures. The world's
-- own are as long and as hostile as names can be.
CREATE TEMP TABLE named (m INTEGER, model TEXT, provider TEXT, kind TEXT, harness TEXT);
INSERT INTO named VALUES
  (1, 'Albatross 4', 'Meridian', 'measured', '{"name":"codex"}'),
  (2, 'Albatross 3', 'Meridian', 'measured', '{"name":"codex"}'),
  (3, 'Bramble Large', 'Thicket', 'measured', '{"name":"opencode"}'),
  (4, 'Bramble Small', 'Thicket', 'measured', '{"name":"opencode"}'),
  (5, 'Cobalt 2', 'Seam Labs', 'measured', '{"name":"claude-code"}'),
  (6, 'Cobalt 1', 'Seam Labs', 'measured', '{"name":"claude-code"}'),
  (7, 'Drift 70B', 'Open Delta', 'measured', '{"name":"opencode"}'),
  (8, 'Drift 70B', 'Open Delta', 'measured', '{"name":"builtin"}'),
  (9, 'Ember', 'Kiln', 'measured', '{"name":"qwen-code"}'),
  (10, 'Fathom', 'Deep Six', 'imported', '{"name":"elsewhere","program":"mini-swe-agent 2.1"}'),
  (11, 'Juniper Pro', 'Northwind', 'measured', '{"name":"gemini-cli"}'),
  (12, 'Harrow', 'Kiln', 'imported', '{"name":"elsewhere","program":"mini-swe-agent 2.1"}'),
  (13, 'Gale Mini', 'Kiln', 'measured', '{"name":"qwen-code"}');
UPDATE runs SET config = (
  SELECT json_set(config, '$.model', model, '$.provider', provider, '$.kind', named.kind, '$.harness', json(harness))
  FROM named WHERE runs.id = printf('00000000-0000-7000-a000-%012d', m))
WHERE id LIKE '00000000-0000-7000-a000-%' AND id <> '00000000-0000-7000-a000-000000000000';
UPDATE runs SET kind = json_extract(config, '$.kind') WHERE id LIKE '00000000-0000-7000-a000-%';
UPDATE iterations SET findings = '[]';
UPDATE changes SET n = n + 1;

-- Evolutions are audited while they run, too: their states so far, JSON of
-- core::audit::AuditedState, and the iteration up to which there is none left.
ALTER TABLE evolution_audits ADD COLUMN states TEXT NOT NULL DEFAULT '[]';
ALTER TABLE evolution_audits ADD COLUMN audited_to BIGINT NOT NULL DEFAULT 0;
-- How often the code of one that is over was not there.
ALTER TABLE evolution_audits ADD COLUMN tries BIGINT NOT NULL DEFAULT 0;

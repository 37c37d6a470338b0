-- The losses of an evolution stand beside its digest, so that pages show them without
-- reading the digest, and a counter of stored digests tells when such a page is old. A
-- snapshot names the platform that made it.
ALTER TABLE evolution_digests ADD COLUMN losses TEXT; -- JSON: {"losses": …}; null where the digest has them
ALTER TABLE changes ADD COLUMN digests BIGINT NOT NULL DEFAULT 0;
ALTER TABLE snapshots ADD COLUMN platform_version TEXT NOT NULL DEFAULT ''; -- '' where only its content has it

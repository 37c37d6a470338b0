-- A key belongs to an account, which names it as it likes, or to the operator.
CREATE TABLE owned_keys (
    owner      TEXT NOT NULL,   -- id of the account; empty: the operator
    name       TEXT NOT NULL,
    sealed     TEXT NOT NULL,   -- base64: nonce, ciphertext, tag
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    used_at    BIGINT,
    PRIMARY KEY (owner, name)
);
INSERT INTO owned_keys (owner, name, sealed, created_at, changed_at, used_at)
SELECT '', name, sealed, created_at, changed_at, used_at FROM keys;
DROP TABLE keys;
ALTER TABLE owned_keys RENAME TO keys;

-- What a run may use of the world, settled when it is submitted: whose keys
-- its endpoints name, and whether they may be in private networks.
ALTER TABLE runs ADD COLUMN keys_of TEXT NOT NULL DEFAULT ''; -- as keys.owner
ALTER TABLE runs ADD COLUMN reach TEXT NOT NULL DEFAULT 'anywhere'; -- anywhere | public

-- The keys of providers, sealed with a master key that is not in the database.
CREATE TABLE keys (
    name       TEXT PRIMARY KEY,
    sealed     TEXT NOT NULL,   -- base64: nonce, ciphertext, tag
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    used_at    BIGINT
);

-- One row: which master key all of them are sealed with; empty before the
-- first. Whoever seals holds this row, so that nothing is sealed with a master
-- key that is on its way out.
CREATE TABLE master_key (
    id TEXT NOT NULL            -- first digits of its sha256
);
INSERT INTO master_key (id) VALUES ('');

-- What models cost, in US dollars for a million tokens, from a day on.
CREATE TABLE prices (
    model    TEXT NOT NULL,
    from_day TEXT NOT NULL,     -- YYYY-MM-DD
    input    DOUBLE PRECISION NOT NULL,
    cached   DOUBLE PRECISION,  -- as input when absent
    output   DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (model, from_day)
);

-- Runs that others submitted. They are private until an administrator decides.
CREATE TABLE submitted_runs (
    run_id      TEXT PRIMARY KEY REFERENCES runs (id),
    account     TEXT NOT NULL,        -- its name
    signer      TEXT NOT NULL,        -- Ed25519 public key, base64
    digest      TEXT NOT NULL UNIQUE, -- SHA-256 of the signed description
    received_at BIGINT NOT NULL,
    decision    TEXT NOT NULL DEFAULT '' -- JSON: views::submitted::ReviewDecision; empty before
);

-- Results of a split that were read from the leaderboard of a benchmark on a hub.
CREATE TABLE outside_results (
    split   TEXT PRIMARY KEY REFERENCES splits (name),
    results TEXT NOT NULL -- JSON: views::leaderboard::Published
);

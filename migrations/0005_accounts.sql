-- Who may do what.
CREATE TABLE accounts (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE, -- lower case; what one signs in with
    password     TEXT NOT NULL,        -- argon2id, in the PHC string format
    role         TEXT NOT NULL,        -- reader | submitter | admin
    created_at   BIGINT NOT NULL,
    signed_in_at BIGINT,
    disabled_at  BIGINT,
    -- Wrong passwords in a row, and until when none is looked at any more.
    failures     BIGINT NOT NULL,
    locked_until BIGINT NOT NULL
);

-- Links that make an account, once. Of a link only the digest is kept.
CREATE TABLE invitations (
    id         TEXT PRIMARY KEY,
    digest     TEXT NOT NULL UNIQUE,   -- sha256 of the secret in the link
    role       TEXT NOT NULL,
    note       TEXT NOT NULL,
    made_by    TEXT NOT NULL,          -- name of the account, or operator; empty: the first start, good only without accounts
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT
);

-- Who is signed in. Of a session's cookie only the digest is kept.
CREATE TABLE sessions (
    digest     TEXT PRIMARY KEY,
    account_id TEXT REFERENCES accounts (id), -- absent before signing in
    data       TEXT NOT NULL,          -- JSON
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_account ON sessions (account_id);

-- Tokens of the API. Of a token only the digest is kept.
CREATE TABLE api_tokens (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    digest     TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    scope      TEXT NOT NULL,          -- the most it may do: reader | submitter | admin
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT
);
CREATE INDEX api_tokens_by_account ON api_tokens (account_id);

-- Who did what. Only ever added to.
CREATE TABLE audit (
    id      TEXT PRIMARY KEY,          -- rises with time
    at      BIGINT NOT NULL,
    actor   TEXT NOT NULL,             -- name at that time; operator, visitor
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL
);
CREATE INDEX audit_by_subject ON audit (subject);

-- Whose a run is, and who may see it.
ALTER TABLE runs ADD COLUMN owner TEXT; -- id of an account; absent: the operator
ALTER TABLE runs ADD COLUMN visibility TEXT NOT NULL DEFAULT 'public'; -- private | public | withdrawn
ALTER TABLE runs ADD COLUMN withdrawn TEXT NOT NULL DEFAULT ''; -- why it was taken back
CREATE INDEX runs_by_owner ON runs (owner);

-- Who somebody is at another site: one more way into an account. An account
-- that has no password keeps an empty text in the place of its hash.
CREATE TABLE identities (
    provider   TEXT NOT NULL,   -- its id in the operator's configuration
    subject    TEXT NOT NULL,   -- what the provider calls somebody for good
    account_id TEXT NOT NULL REFERENCES accounts (id),
    shown_as   TEXT NOT NULL,   -- login or address, as the provider said last
    linked_at  BIGINT NOT NULL,
    last_used  BIGINT,
    PRIMARY KEY (provider, subject)
);
CREATE INDEX identities_by_account ON identities (account_id);

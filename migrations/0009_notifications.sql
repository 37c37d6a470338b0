-- Where accounts are told of their runs. What a webhook's messages are signed
-- with is among the keys, sealed, of the owner `webhooks` and named as its id.
CREATE TABLE notification_targets (
    id           TEXT PRIMARY KEY,  -- rises with time
    account_id   TEXT NOT NULL REFERENCES accounts (id),
    channel      TEXT NOT NULL,     -- webhook | mail
    address      TEXT NOT NULL,     -- a URL; an address of e-mail
    events       TEXT NOT NULL,     -- JSON: [core::notification::Occasion, …]
    created_at   BIGINT NOT NULL,
    confirmed_at BIGINT,            -- absent: nobody has shown that this mailbox is theirs
    -- The last code that was sent to it. Of a code only the digest is kept.
    code         TEXT NOT NULL,     -- empty: none
    code_until   BIGINT NOT NULL,
    code_tries   BIGINT NOT NULL    -- wrong ones that were typed
);
CREATE INDEX notification_targets_by_account ON notification_targets (account_id);

-- What is to be said to a target, written with what it tells of.
CREATE TABLE deliveries (
    id          TEXT PRIMARY KEY,   -- rises with time; the same in every try
    target_id   TEXT NOT NULL,      -- no reference: a target may go while something is said to it
    event       TEXT NOT NULL,      -- core::notification::Occasion
    news        TEXT,               -- JSON: core::notification::News; absent where it is about no run
    made_at     BIGINT NOT NULL,
    state       TEXT NOT NULL,      -- waiting | delivered | given_up
    tries       BIGINT NOT NULL,
    next_try_at BIGINT NOT NULL,    -- while one is under way: when it is taken for lost
    tried_at    BIGINT,
    answer      TEXT NOT NULL       -- what came of the last try
);
CREATE INDEX deliveries_due ON deliveries (state, next_try_at);
CREATE INDEX deliveries_by_target ON deliveries (target_id);

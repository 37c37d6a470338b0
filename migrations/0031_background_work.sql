-- Work that a page starts and that a worker carries out: the last of each object.
CREATE TABLE background_work (
    kind     TEXT NOT NULL,   -- verification | judge | import
    object   TEXT NOT NULL,   -- a run's id; empty for imports, of which there is one at a time
    work     TEXT NOT NULL,   -- JSON: engine::background::Work
    actor    TEXT NOT NULL,   -- JSON: views::account::Actor, for whom it is done
    state    TEXT NOT NULL,   -- queued | working | done | failed
    says     TEXT NOT NULL,   -- how far it is; then its result, or why it failed
    asked_at BIGINT NOT NULL,
    tries    BIGINT NOT NULL, -- how often a worker began it
    PRIMARY KEY (kind, object)
);

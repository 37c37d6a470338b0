-- Models that judged a run by a rubric, and what they say of its iterations.
CREATE TABLE judges (
    id     TEXT NOT NULL, -- digest of model, parameters and rubric
    run_id TEXT NOT NULL REFERENCES runs (id),
    judge  TEXT NOT NULL, -- JSON: views::judge::Judge
    PRIMARY KEY (run_id, id)
);

CREATE TABLE judgements (
    run_id       TEXT NOT NULL REFERENCES runs (id),
    judge_id     TEXT NOT NULL,
    evolution_id TEXT NOT NULL REFERENCES evolutions (id),
    iteration    BIGINT NOT NULL,
    judgement    TEXT NOT NULL, -- JSON: views::judge::Judgement
    PRIMARY KEY (run_id, judge_id, evolution_id, iteration)
);

-- +goose Up

PRAGMA user_version = 3;

-- The ledger of calls of models. A call stands here from before it is made; one
-- that stays 'asked' was made by a process that was killed.
CREATE TABLE calls (
    key         INTEGER PRIMARY KEY,
    session     INTEGER REFERENCES sessions ON DELETE SET NULL, -- NULL once it is forgotten
    first       INTEGER NOT NULL, -- ordinal of the first message that was sent
    last        INTEGER NOT NULL,
    source      BLOB    NOT NULL, -- RunHash of the messages that were sent; x'' once the session is forgotten
    backend     TEXT    NOT NULL,
    model       TEXT    NOT NULL, -- that was asked for; '' is the backend's own choice
    answered    TEXT    NOT NULL, -- that answered, '' if the backend does not say
    prompt      TEXT    NOT NULL, -- version
    repair      INTEGER NOT NULL, -- 1 if it shows the model the faults of its reply before
    try         INTEGER NOT NULL, -- 1-based
    at          INTEGER NOT NULL, -- Unix ms
    ms          INTEGER NOT NULL, -- that it took
    input       INTEGER NOT NULL, -- tokens, as are the next four
    output      INTEGER NOT NULL,
    reasoning   INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    estimated   INTEGER NOT NULL, -- 1 if the tokens are a guess
    cost        INTEGER NOT NULL, -- micro-units of money
    verdict     TEXT    NOT NULL,
    faults      TEXT    NOT NULL, -- codes, separated by blanks
    detail      TEXT    NOT NULL, -- one line; '' once the session is forgotten
    retry_at    INTEGER NOT NULL  -- Unix ms, 0 for none
) STRICT;
CREATE INDEX calls_by_time ON calls (at);
CREATE INDEX calls_by_session ON calls (session, at);

-- What is remembered of models that failed.
CREATE TABLE breakers (
    backend  TEXT    NOT NULL,
    model    TEXT    NOT NULL,
    failures INTEGER NOT NULL, -- fruitless runs in a row
    opened   INTEGER NOT NULL, -- times in a row
    until    INTEGER NOT NULL, -- Unix ms; before it the model is not asked
    at       INTEGER NOT NULL, -- of the last change, Unix ms
    verdict  TEXT    NOT NULL,
    detail   TEXT    NOT NULL,
    PRIMARY KEY (backend, model)
) STRICT, WITHOUT ROWID;

-- Who has a model write for a session, so that no other process does meanwhile.
CREATE TABLE leases (
    session INTEGER PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    holder  TEXT    NOT NULL, -- names one run of the program
    until   INTEGER NOT NULL  -- Unix ms
) STRICT;

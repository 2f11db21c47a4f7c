-- +goose Up

PRAGMA user_version = 4;

-- A breaker is about a model as it is reached and asked: who puts a key or an
-- address right has another one. What rested before is asked once more.
DROP TABLE breakers;
CREATE TABLE breakers (
    backend  TEXT    NOT NULL,
    model    TEXT    NOT NULL,
    setup    TEXT    NOT NULL, -- fingerprint of address, key and options; tells none of them
    failures INTEGER NOT NULL, -- fruitless runs in a row
    opened   INTEGER NOT NULL, -- times in a row
    until    INTEGER NOT NULL, -- Unix ms; before it the model is not asked
    at       INTEGER NOT NULL, -- of the last change, Unix ms
    verdict  TEXT    NOT NULL,
    detail   TEXT    NOT NULL,
    PRIMARY KEY (backend, model, setup)
) STRICT, WITHOUT ROWID;

-- Why a call was not made that is no matter of a breaker: the newest of each model,
-- gone with the next call that is made.
CREATE TABLE holds (
    backend TEXT    NOT NULL,
    model   TEXT    NOT NULL,
    setup   TEXT    NOT NULL,
    at      INTEGER NOT NULL, -- Unix ms
    until   INTEGER NOT NULL, -- Unix ms at which it ends by itself, 0 for none
    tokens  INTEGER NOT NULL, -- that the call could have taken
    cost    INTEGER NOT NULL, -- micro-units of money that it could have cost
    verdict TEXT    NOT NULL,
    detail  TEXT    NOT NULL,
    PRIMARY KEY (backend, model, setup)
) STRICT, WITHOUT ROWID;

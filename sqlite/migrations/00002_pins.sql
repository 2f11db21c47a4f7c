-- +goose Up

PRAGMA user_version = 2;

-- Pins, those that ended too: a fold may have shown them.
CREATE TABLE pins (
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    id      INTEGER NOT NULL,     -- 1-based in the session, never reused
    pin     BLOB    NOT NULL,     -- zstd of the JSON of the pin, its words included
    PRIMARY KEY (session, id)
) STRICT;

-- +goose Up

-- The schema version, kept equal to the number of the newest migration: one
-- read of it tells whether anything is to be done, or whether a newer binary
-- owns the file.
PRAGMA user_version = 1;

-- Sessions. The row is small because every batch rewrites it.
CREATE TABLE sessions (
    key     INTEGER PRIMARY KEY,  -- names the session in all other tables
    session TEXT UNIQUE,          -- the host's session id; NULL while the session is being forgotten
    parent  TEXT    NOT NULL,     -- session that spawned this one, or ''
    version INTEGER NOT NULL,     -- batches stored so far, from 1
    batch   BLOB    NOT NULL,     -- SHA-256 of the last batch, to know it again
    changed INTEGER NOT NULL,     -- time of the last batch, Unix ms
    top     INTEGER NOT NULL,     -- highest ordinal, 0 before the first message
    bytes   INTEGER NOT NULL,     -- JSON of all messages as it came, in bytes
    folds   INTEGER NOT NULL,     -- number of the last fold, 0 before the first
    plan    TEXT    NOT NULL,     -- id of the plan in force, or ''
    state   BLOB                  -- the session's own small state, opaque here
) STRICT;

-- Blobs never change under their key.
CREATE TABLE blobs (
    key    INTEGER PRIMARY KEY,
    hash   BLOB    NOT NULL,      -- SHA-256 of the content
    size   INTEGER NOT NULL,      -- of the content, in bytes
    form   INTEGER NOT NULL,      -- how bytes stand for the content: bit 0 zstd, bit 1 cut (payloads taken out), bit 2 echo
    shared INTEGER NOT NULL,      -- 1 payload, found by hash; 0 document
    held   INTEGER NOT NULL,      -- 1 while a message, compartment, plan or fold holds this document
    bytes  BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX blobs_by_hash ON blobs (hash) WHERE shared = 1;

-- Which blob is needed to read which. A blob that is neither held nor needed
-- is deleted.
CREATE TABLE uses (
    user INTEGER NOT NULL,        -- blobs.key of the one that needs
    used INTEGER NOT NULL,        -- blobs.key of the one needed
    PRIMARY KEY (user, used)
) STRICT, WITHOUT ROWID;
CREATE INDEX uses_by_used ON uses (used);

-- Messages, withdrawn and hidden ones too.
CREATE TABLE messages (
    session  INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    ordinal  INTEGER NOT NULL,    -- 1-based, never reused
    id       TEXT    NOT NULL,    -- the host's message id
    hash     BLOB    NOT NULL,    -- SHA-256 of what the message says, ids apart
    opens    INTEGER NOT NULL,    -- 1 if the session's list begins or may begin with it
    entry    BLOB    NOT NULL,    -- what decisions need of it (entry.go)
    document INTEGER NOT NULL,    -- blobs.key of its JSON
    PRIMARY KEY (session, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_opening ON messages (hash) WHERE opens = 1;

-- The host's list, as runs of consecutive ordinals: growing it changes one row.
CREATE TABLE lists (
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    place   INTEGER NOT NULL,     -- 0-based place of the run's first message
    ordinal INTEGER NOT NULL,     -- of the run's first message
    count   INTEGER NOT NULL,     -- messages in the run, at least 1
    PRIMARY KEY (session, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE compartments (
    session  INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    id       INTEGER NOT NULL,    -- unique in the session
    first    INTEGER NOT NULL,    -- ordinal of the first member
    last     INTEGER NOT NULL,    -- ordinal of the last member
    served   INTEGER NOT NULL,    -- 0 once a better one took its place
    document INTEGER NOT NULL,    -- blobs.key of the compartment (compartment.go)
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

-- The plan in force and those of the last folds.
CREATE TABLE plans (
    session  INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    plan     TEXT    NOT NULL,    -- SHA-256 of the plan's bytes, hex
    document INTEGER NOT NULL,    -- blobs.key of the plan's bytes
    PRIMARY KEY (session, plan)
) STRICT, WITHOUT ROWID;

CREATE TABLE folds (
    session     INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    number      INTEGER NOT NULL, -- 1-based in the session
    at          INTEGER NOT NULL, -- Unix ms
    reason      TEXT    NOT NULL,
    divergence  INTEGER NOT NULL, -- 0-based place of the first pair that changed
    first_moved INTEGER NOT NULL, -- ordinal, 0 if none
    through     INTEGER NOT NULL, -- last ordinal that the head stands for
    plan        TEXT    NOT NULL, -- id of the plan it made
    inputs_hash BLOB    NOT NULL, -- SHA-256
    inputs      TEXT    NOT NULL, -- JSON of the numbers the decision used; counts are tokens
    layout      BLOB    NOT NULL, -- zstd of the JSON of the pairs, without their texts
    texts       INTEGER,          -- blobs.key of the pairs' texts; NULL for all but the last folds
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

-- One row for each change of one compartment at one fold.
CREATE TABLE decisions (
    session     INTEGER NOT NULL,
    fold        INTEGER NOT NULL,
    place       INTEGER NOT NULL, -- 0-based, in the order decided
    compartment INTEGER NOT NULL,
    tier_from   INTEGER NOT NULL, -- tiers: 0 none, 1 raw, 2 full, 3 dense, 4 compact, 5 anchor, 6 index, 7 archived
    tier_to     INTEGER NOT NULL,
    highest     INTEGER NOT NULL, -- tier that ends the legal range at the full side
    lowest      INTEGER NOT NULL, -- tier that ends it at the faded side
    reason      TEXT    NOT NULL,
    PRIMARY KEY (session, fold, place),
    FOREIGN KEY (session, fold) REFERENCES folds ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What the word index does not know yet, or knows wrongly.
CREATE TABLE waiting (
    session     INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL, -- of a message; 0 for a compartment
    compartment INTEGER NOT NULL, -- id; 0 for a message
    passages    INTEGER NOT NULL, -- of its passages already indexed, from the first
    PRIMARY KEY (session, ordinal, compartment)
) STRICT, WITHOUT ROWID;

-- The word index, without the texts themselves. A rowid names its passage:
-- session key << 42 | ordinal << 20 | passage number in the message, and for
-- compartments session key << 42 | compartment id. A session's rows are thus
-- one range. Merging is done in small steps behind the commits, never by an
-- insert.
CREATE VIRTUAL TABLE message_words USING fts5 (
    body, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
INSERT INTO message_words (message_words, rank) VALUES ('automerge', 0);
INSERT INTO message_words (message_words, rank) VALUES ('crisismerge', 500);

CREATE VIRTUAL TABLE compartment_words USING fts5 (
    body, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
INSERT INTO compartment_words (compartment_words, rank) VALUES ('automerge', 0);
INSERT INTO compartment_words (compartment_words, rank) VALUES ('crisismerge', 500);

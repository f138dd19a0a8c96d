-- Vectors: what is to be embedded, what has been, and where it is packed for search.

-- Raised at every change and never set back, so that what a reader keeps of a block is
-- recognised as old. It starts at the time: a database made again does not repeat it.
CREATE TABLE vector_counter (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    value INTEGER NOT NULL
) STRICT;

INSERT INTO vector_counter (id, value)
VALUES (1, CAST(unixepoch('subsec') * 1000000 AS INTEGER));

CREATE TABLE model (
    id        INTEGER PRIMARY KEY,
    identity  TEXT NOT NULL UNIQUE,
    name      TEXT NOT NULL,
    -- JSON: how to load it again, and the languages it knows.
    spec      TEXT NOT NULL,
    languages TEXT NOT NULL,
    -- Of its vectors; unknown until there is one.
    dimension INTEGER,
    state     TEXT NOT NULL CHECK (state IN ('serving', 'coming', 'leaving'))
) STRICT;

CREATE UNIQUE INDEX model_state ON model (state) WHERE state <> 'leaving';

CREATE TABLE passage (
    pack     TEXT NOT NULL,
    row      INTEGER NOT NULL CHECK (row > 0),
    digest   BLOB NOT NULL,
    language TEXT NOT NULL,
    -- When it last changed, by the counter.
    since    INTEGER NOT NULL,
    -- The model being aimed at that has a vector for it, 0: it waits, -1: it failed.
    embedded INTEGER NOT NULL,
    PRIMARY KEY (pack, row)
) STRICT, WITHOUT ROWID;

-- The list of what to do, newest first, and the numbers of what is done.
CREATE INDEX passage_state ON passage (embedded, language, since DESC);

CREATE INDEX passage_waiting ON passage (digest) WHERE embedded = 0;

-- The truth: float32, of length 1, found by the digest of the text. A text longer than
-- the model's window has several, one for each part.
CREATE TABLE vector (
    id     INTEGER PRIMARY KEY,
    model  INTEGER NOT NULL REFERENCES model (id),
    digest BLOB NOT NULL,
    part   INTEGER NOT NULL,
    value  BLOB NOT NULL,
    UNIQUE (model, digest, part)
) STRICT;

CREATE TABLE slot (
    model  INTEGER NOT NULL,
    pack   TEXT NOT NULL,
    row    INTEGER NOT NULL,
    part   INTEGER NOT NULL,
    block  INTEGER NOT NULL,
    place  INTEGER NOT NULL,
    vector INTEGER NOT NULL,
    PRIMARY KEY (model, pack, row, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE vector_block (
    id      INTEGER PRIMARY KEY,
    model   INTEGER NOT NULL,
    pack    TEXT NOT NULL,
    version INTEGER NOT NULL,
    used    INTEGER NOT NULL
) STRICT;

-- Apart from the above: changing a small column would write the whole row again.
CREATE TABLE vector_data (
    block  INTEGER PRIMARY KEY REFERENCES vector_block (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
) STRICT;

-- Files the packs have read, and files they could not read.

CREATE TABLE file (
    pack     TEXT NOT NULL,
    path     TEXT NOT NULL,
    size     INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    digest   TEXT NOT NULL,
    PRIMARY KEY (pack, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE failure (
    pack     TEXT NOT NULL,
    path     TEXT NOT NULL,
    reason   TEXT NOT NULL,
    -- Of the file that failed, so that it is not tried again until it changes.
    size     INTEGER,
    mtime_ns INTEGER,
    ctime_ns INTEGER,
    at       TEXT NOT NULL,
    PRIMARY KEY (pack, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE warning (
    pack TEXT NOT NULL,
    path TEXT NOT NULL,
    n    INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (pack, path, n)
) STRICT, WITHOUT ROWID;

-- How the files of a pack were read: another way of reading reads them all again.
CREATE TABLE reading (
    pack        TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL
) STRICT, WITHOUT ROWID;

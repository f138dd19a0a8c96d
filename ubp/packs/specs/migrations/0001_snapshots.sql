-- Language specifications by dated snapshot. Their truth is here: what was fetched on a
-- day cannot be fetched again later.

CREATE TABLE specs_snapshot (
    id         INTEGER PRIMARY KEY,
    language   TEXT NOT NULL,
    doc        TEXT NOT NULL,
    -- snapshot-YYYYMMDD
    version    TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    -- Of the first page.
    etag       TEXT,
    source_url TEXT NOT NULL,
    UNIQUE (language, doc, version)
) STRICT;

CREATE INDEX specs_snapshot_by_time ON specs_snapshot (language, doc, fetched_at);

-- What a snapshot was made from, in the order of the document.
CREATE TABLE specs_page (
    snapshot_id INTEGER NOT NULL REFERENCES specs_snapshot (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    path        TEXT NOT NULL,
    -- What its sections are cited with.
    address     TEXT NOT NULL,
    -- Of its bytes.
    digest      TEXT NOT NULL,
    etag        TEXT,
    -- Whether it could not be had, and is as the snapshot before has it.
    carried     INTEGER NOT NULL,
    PRIMARY KEY (snapshot_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE specs_section (
    id          INTEGER PRIMARY KEY,
    snapshot_id INTEGER NOT NULL REFERENCES specs_snapshot (id) ON DELETE CASCADE,
    ordinal     INTEGER NOT NULL,
    -- The ordinal of its page.
    page        INTEGER NOT NULL,
    section_id  TEXT NOT NULL,
    -- With the name of its page in front.
    long_id     TEXT NOT NULL,
    -- As its heading alone would call it; others may share it.
    bare_id     TEXT NOT NULL,
    anchor      TEXT NOT NULL,
    title       TEXT NOT NULL,
    path        TEXT NOT NULL,
    url         TEXT NOT NULL,
    fulltext    TEXT NOT NULL,
    policy      TEXT NOT NULL,
    -- Words in title, path and text.
    size        INTEGER NOT NULL,
    -- Of what is embedded of it.
    passage     BLOB NOT NULL,
    language    TEXT NOT NULL,
    UNIQUE (snapshot_id, section_id)
) STRICT;

CREATE INDEX specs_section_in_order ON specs_section (snapshot_id, ordinal);
CREATE INDEX specs_section_by_long_id ON specs_section (snapshot_id, long_id);
CREATE INDEX specs_section_by_bare_id ON specs_section (snapshot_id, bare_id);

-- Full text, written out by ubp/lexicon.py, words by their stem. Rows are those of
-- specs_section.
CREATE VIRTUAL TABLE specs_text USING fts5 (
    title, path, content,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);

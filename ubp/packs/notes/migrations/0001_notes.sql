-- Notes with their tags and chunks. Everything here is derived from Markdown files and
-- can be made again from them.

CREATE TABLE notes_note (
    id         INTEGER PRIMARY KEY,
    -- From the project's root.
    path       TEXT NOT NULL UNIQUE,
    title      TEXT NOT NULL,
    -- JSON, in the order of the file.
    tags       TEXT NOT NULL,
    -- As written in the front matter; empty where it has none.
    created    TEXT NOT NULL,
    updated    TEXT NOT NULL,
    -- YYYYMMDD, from the path; empty where it has none.
    path_date  TEXT NOT NULL,
    -- What stands below the front matter.
    content    TEXT NOT NULL,
    -- The names by which another note may say that it replaces this one.
    path_key   TEXT NOT NULL,
    docs_key   TEXT NOT NULL,
    name_key   TEXT NOT NULL,
    superseded INTEGER NOT NULL
) STRICT;

CREATE INDEX notes_note_by_path_key ON notes_note (path_key);
CREATE INDEX notes_note_by_docs_key ON notes_note (docs_key);
CREATE INDEX notes_note_by_name_key ON notes_note (name_key);
CREATE INDEX notes_note_by_path_date ON notes_note (path_date, path);

CREATE TABLE notes_tag (
    tag     TEXT NOT NULL,
    note_id INTEGER NOT NULL REFERENCES notes_note (id) ON DELETE CASCADE,
    -- As it is compared where nobody has it as written.
    folded  TEXT NOT NULL,
    PRIMARY KEY (tag, note_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX notes_tag_by_note ON notes_tag (note_id);
CREATE INDEX notes_tag_by_folded ON notes_tag (folded);

-- Which notes a note replaces, by name.
CREATE TABLE notes_previous (
    key     TEXT NOT NULL,
    note_id INTEGER NOT NULL REFERENCES notes_note (id) ON DELETE CASCADE,
    PRIMARY KEY (key, note_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX notes_previous_by_note ON notes_previous (note_id);

-- A chunk is a stretch of its note's content, in characters.
CREATE TABLE notes_chunk (
    id             INTEGER PRIMARY KEY,
    note_id        INTEGER NOT NULL REFERENCES notes_note (id) ON DELETE CASCADE,
    ordinal        INTEGER NOT NULL,
    parent_heading TEXT NOT NULL,
    heading        TEXT NOT NULL,
    start          INTEGER NOT NULL,
    length         INTEGER NOT NULL,
    -- Of what is embedded of it, and of what is indexed of it.
    passage        BLOB NOT NULL,
    language       TEXT NOT NULL,
    has_long_word  INTEGER NOT NULL,
    UNIQUE (note_id, ordinal)
) STRICT;

CREATE INDEX notes_chunk_with_long_words ON notes_chunk (id) WHERE has_long_word;

-- Full text of the chunks of notes that are not superseded: title and heading, then the
-- content, written out by ubp/lexicon.py. Rows are those of notes_chunk.
CREATE VIRTUAL TABLE notes_text USING fts5 (
    heading, content,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- In how many chunks each word stands: what a word is worth.
CREATE VIRTUAL TABLE notes_text_count USING fts5vocab (notes_text, row);

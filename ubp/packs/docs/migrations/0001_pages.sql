-- The document graph. Everything here is derived from Markdown files and can be
-- made again from them.

CREATE TABLE docs_page (
    id           INTEGER PRIMARY KEY,
    doc_id       TEXT NOT NULL UNIQUE,
    path         TEXT NOT NULL UNIQUE,
    title        TEXT NOT NULL,
    doc_type     TEXT NOT NULL,
    tags         TEXT NOT NULL,
    front_matter TEXT NOT NULL,
    digest       TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    -- The names by which a link may mean this page, as they are compared.
    path_key     TEXT NOT NULL,
    name_key     TEXT NOT NULL,
    title_key    TEXT NOT NULL
) STRICT;

CREATE INDEX docs_page_by_path_key ON docs_page (path_key);
CREATE INDEX docs_page_by_name_key ON docs_page (name_key);
CREATE INDEX docs_page_by_title_key ON docs_page (title_key);

CREATE TABLE docs_section (
    id            INTEGER PRIMARY KEY,
    page_id       INTEGER NOT NULL REFERENCES docs_page (id) ON DELETE CASCADE,
    ordinal       INTEGER NOT NULL,
    heading       TEXT,
    level         INTEGER NOT NULL,
    heading_path  TEXT NOT NULL,
    continued     INTEGER NOT NULL,
    content       TEXT NOT NULL,
    -- NULL where lower(heading || char(10) || content) says the same: most English.
    folded        TEXT,
    has_long_word INTEGER NOT NULL,
    digest        TEXT NOT NULL,
    tokens        INTEGER NOT NULL,
    UNIQUE (page_id, ordinal)
) STRICT;

CREATE INDEX docs_section_with_long_words ON docs_section (id) WHERE has_long_word;

CREATE TABLE docs_link (
    id         INTEGER PRIMARY KEY,
    source_id  INTEGER NOT NULL REFERENCES docs_page (id) ON DELETE CASCADE,
    section    INTEGER NOT NULL,
    style      TEXT NOT NULL,
    target     TEXT NOT NULL,
    type       TEXT NOT NULL,
    fragment   TEXT,
    optional   INTEGER NOT NULL,
    context    TEXT NOT NULL,
    name_key   TEXT NOT NULL,
    title_key  TEXT NOT NULL,
    -- Set when links are settled: NULL is a link that leads nowhere (yet).
    target_id  INTEGER REFERENCES docs_page (id) ON DELETE SET NULL,
    ambiguous  INTEGER NOT NULL DEFAULT 0,
    -- A second link to the same page, or one that may not be meant for a page.
    hidden     INTEGER NOT NULL DEFAULT 1,
    settled    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX docs_link_by_source ON docs_link (source_id);
CREATE INDEX docs_link_by_target ON docs_link (target_id) WHERE target_id IS NOT NULL;
CREATE INDEX docs_link_by_name_key ON docs_link (name_key);
CREATE INDEX docs_link_by_title_key ON docs_link (title_key);
CREATE INDEX docs_link_unsettled ON docs_link (source_id) WHERE NOT settled;

-- Names that came or went since links were last settled. Durable, so that a killed
-- process leaves the work to the next one.
CREATE TABLE docs_unsettled_name (
    key TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE docs_source_ref (
    page_id   INTEGER NOT NULL REFERENCES docs_page (id) ON DELETE CASCADE,
    ordinal   INTEGER NOT NULL,
    path      TEXT NOT NULL,
    -- SHA-256 when the page was read; empty if there was no file.
    digest    TEXT NOT NULL,
    size      INTEGER,
    mtime_ns  INTEGER,
    ctime_ns  INTEGER,
    synced_at TEXT NOT NULL,
    PRIMARY KEY (page_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Full text: words and CJK pairs, written out by ubp/lexicon.py, so the tokenizer has
-- only to split at spaces. Rows are those of docs_section.
CREATE VIRTUAL TABLE docs_text USING fts5 (
    heading, content,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- What a page is called: its title, file name and tags. Rows are those of docs_page.
CREATE VIRTUAL TABLE docs_name USING fts5 (
    name,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- The distinct words of docs_text, and their parts, so that a part of a word finds it.
-- Far smaller than an index of all parts of all text.
CREATE TABLE docs_word (
    id   INTEGER PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
) STRICT;

CREATE VIRTUAL TABLE docs_word_part USING fts5 (
    word,
    content = 'docs_word', content_rowid = 'id',
    tokenize = 'trigram case_sensitive 1', columnsize = 0
);

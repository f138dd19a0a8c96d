-- The words of cards. Everything here is derived from the files of the board, and only
-- counts for a card whose file has the digest that stands beside it.

CREATE TABLE board_card (
    id            INTEGER PRIMARY KEY,
    -- From the folder .kanban.
    path          TEXT NOT NULL UNIQUE,
    card_id       TEXT NOT NULL,
    digest        TEXT NOT NULL,
    -- The title and the id.
    heading       TEXT NOT NULL,
    content       TEXT NOT NULL,
    -- The folded text, where lowering ASCII letters does not already give it.
    folded        TEXT,
    has_long_word INTEGER NOT NULL
) STRICT;

CREATE INDEX board_card_with_long_words ON board_card (id) WHERE has_long_word;

-- Full text, written out by ubp/lexicon.py. Rows are those of board_card.
CREATE VIRTUAL TABLE board_text USING fts5 (
    heading, content,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);

CREATE TABLE board_word (
    id   INTEGER PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
) STRICT;

CREATE VIRTUAL TABLE board_word_part USING fts5 (
    word,
    content = 'board_word', content_rowid = 'id',
    tokenize = 'trigram case_sensitive 1', columnsize = 0
);

-- What other packs' things say of pages by name: links from outside the document graph.
-- Which page is meant is decided when somebody asks, by the pack whose pages they are.
CREATE TABLE mention (
    pack    TEXT NOT NULL,
    path    TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    -- What is known by its pack under this id, where it is shown to be, and its name.
    source  TEXT NOT NULL,
    shown   TEXT NOT NULL,
    title   TEXT NOT NULL,
    -- The page, as a link names it.
    target  TEXT NOT NULL,
    PRIMARY KEY (pack, path, ordinal)
) STRICT, WITHOUT ROWID;

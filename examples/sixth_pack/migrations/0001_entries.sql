-- Bookmarks. Nothing else holds them, so this table is their truth.

CREATE TABLE bookmarks_entry (
    id      INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    about   TEXT NOT NULL
) STRICT;

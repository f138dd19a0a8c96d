-- In how many sections each word of docs_text stands: what a word is worth.

CREATE VIRTUAL TABLE docs_text_count USING fts5vocab (docs_text, row);

-- A file that comes is looked for among those that are known, in case it was moved.
CREATE INDEX file_by_digest ON file (digest);

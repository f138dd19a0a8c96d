-- Confirmations before an item is for everybody. From now on `visibility` is who may see
-- it as things stand, and `asked` whom it was contributed for.

ALTER TABLE registry_item ADD COLUMN asked TEXT NOT NULL DEFAULT 'network'
    CHECK (asked IN ('private', 'org', 'network'));
UPDATE registry_item SET asked = visibility;

-- One row: here, so that whatever counts votes goes by the same number.
CREATE TABLE registry_rule (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    confirmations INTEGER NOT NULL
) STRICT;

INSERT INTO registry_rule (id, confirmations) VALUES (1, 0);

-- Skills and knowledge units, what was said of them, and who earned what by them. This
-- is where they live; a journal beside the database holds the same once more.

CREATE TABLE registry_item (
    id         INTEGER PRIMARY KEY,
    -- kp:skill:…, kp:trace:… Two agents may use the same one, as neither may learn
    -- that the other has something private of that name.
    ident      TEXT NOT NULL,
    -- 'skill', or the @type of a unit.
    kind       TEXT NOT NULL,
    agent      TEXT NOT NULL,
    -- Empty where the agent is of none.
    org        TEXT NOT NULL,
    visibility TEXT NOT NULL CHECK (visibility IN ('private', 'org', 'network')),
    name       TEXT NOT NULL,
    domain     TEXT,
    -- As it is compared; empty where there is none.
    domain_key TEXT NOT NULL,
    -- SKILL.md, or a unit as JSON; cleaned.
    content    TEXT NOT NULL,
    -- JSON: what else of a skill is shown beside it.
    details    TEXT NOT NULL,
    -- Of what was submitted: the same again changes nothing.
    submitted  BLOB NOT NULL,
    computed   REAL NOT NULL,
    reported   REAL,
    positive   INTEGER NOT NULL,
    negative   INTEGER NOT NULL,
    -- After votes.
    quality    REAL NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('active', 'flagged', 'quarantined')),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    -- The file it is read from, if that is its truth; from the project's root.
    source     TEXT UNIQUE,
    UNIQUE (ident, agent)
) STRICT;

CREATE INDEX registry_item_by_agent ON registry_item (agent, kind, name);
CREATE INDEX registry_item_by_submission ON registry_item (submitted);
CREATE INDEX registry_item_by_quality ON registry_item (quality DESC, created_at DESC);
CREATE INDEX registry_item_by_domain ON registry_item (domain_key);
CREATE INDEX registry_item_by_name ON registry_item (
    kind, name, ident, status, visibility, agent, org
);

CREATE TABLE registry_tag (
    -- As it is compared.
    tag     TEXT NOT NULL,
    item_id INTEGER NOT NULL REFERENCES registry_item (id) ON DELETE CASCADE,
    PRIMARY KEY (tag, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX registry_tag_by_item ON registry_tag (item_id);

CREATE TABLE registry_vote (
    item_id   INTEGER NOT NULL REFERENCES registry_item (id) ON DELETE CASCADE,
    validator TEXT NOT NULL,
    valid     INTEGER NOT NULL,
    feedback  TEXT,
    voted_at  TEXT NOT NULL,
    PRIMARY KEY (item_id, validator)
) STRICT, WITHOUT ROWID;

-- What an agent earned by an item. Who may not see the item may not see this either.
CREATE TABLE registry_merit (
    id        INTEGER PRIMARY KEY,
    agent     TEXT NOT NULL,
    item_id   INTEGER NOT NULL REFERENCES registry_item (id) ON DELETE CASCADE,
    reason    TEXT NOT NULL CHECK (reason IN ('skill', 'unit', 'validation')),
    earned_at TEXT NOT NULL,
    UNIQUE (agent, item_id, reason)
) STRICT;

CREATE INDEX registry_merit_by_item ON registry_merit (item_id);

CREATE INDEX registry_item_closed ON registry_item (agent, org, visibility)
    WHERE visibility <> 'network';

-- Full text of what is for everybody: name, tags, domain and description, then all the
-- rest, written out by ubp/lexicon.py. Rows are those of registry_item.
CREATE VIRTUAL TABLE registry_text USING fts5 (
    heading, content,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- In how many items each word stands: what a word is worth.
CREATE VIRTUAL TABLE registry_text_count USING fts5vocab (registry_text, row);

-- The same for what is not for everybody. Not in one table: what a word is worth, and so
-- what is found, would tell everybody whether it stands in what they may not see.
CREATE VIRTUAL TABLE registry_closed_text USING fts5 (
    heading, content,
    content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- The ledger, format 1. Ground truth: tenants, streams, events, blobs, refs, sources. The rest is derived.

CREATE TABLE tenants (
    tenant INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE,
    key    BLOB NOT NULL            -- keys the handles; forgotten with the tenant
) STRICT;

CREATE TABLE streams (
    stream     INTEGER PRIMARY KEY,
    tenant     INTEGER NOT NULL REFERENCES tenants,
    id         TEXT NOT NULL,
    handle     INTEGER NOT NULL,
    base       INTEGER NOT NULL,    -- positions up to here are the parent's
    head       INTEGER NOT NULL,
    fork_of    INTEGER REFERENCES streams,
    parent     TEXT,                -- the session a sub-agent's session was started from
    scope      BLOB NOT NULL,
    source     INTEGER,
    opened_at  INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    messages   INTEGER NOT NULL,    -- up to the head, the shared ones included
    text       INTEGER NOT NULL,
    first_user INTEGER,
    counted    INTEGER NOT NULL,    -- derived: how far tokens are counted
    tokens     INTEGER NOT NULL,    -- derived: their sum up to there
    indexed    INTEGER NOT NULL,    -- derived: how far the text is indexed
    UNIQUE (tenant, id)
) STRICT;
CREATE INDEX streams_by_handle ON streams (tenant, handle);
CREATE INDEX streams_behind ON streams (tenant, stream) WHERE counted < head OR indexed < head;

CREATE TABLE events (
    tenant   INTEGER NOT NULL,
    stream   INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    id       TEXT NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    mark     INTEGER NOT NULL,      -- 0 message, 1 user's turn, 2 system message, 3 anything else
    version  INTEGER NOT NULL,
    messages INTEGER NOT NULL,      -- up to here
    text     INTEGER NOT NULL,      -- bytes of all texts up to here
    origin   BLOB,
    salt     BLOB,                  -- dies with the payload
    proof    BLOB NOT NULL,
    payload  BLOB,
    PRIMARY KEY (tenant, stream, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_id ON events (tenant, stream, id);
CREATE INDEX events_marked ON events (tenant, stream, mark, kind, seq) WHERE mark >= 2;

CREATE TABLE blobs (
    blob   INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    handle INTEGER NOT NULL,
    hash   BLOB NOT NULL,
    bytes  INTEGER NOT NULL,
    data   BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX blobs_by_handle ON blobs (tenant, handle);

CREATE TABLE refs (                 -- which events hold a body
    tenant INTEGER NOT NULL,
    blob   INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (tenant, stream, seq, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX refs_by_blob ON refs (tenant, blob);

CREATE TABLE sources (
    source   INTEGER PRIMARY KEY,
    tenant   INTEGER NOT NULL,
    handle   INTEGER NOT NULL,
    key      TEXT NOT NULL,
    format   TEXT NOT NULL,
    revision INTEGER NOT NULL,      -- the newest complete one
    erased   INTEGER NOT NULL,
    leaf     TEXT,
    UNIQUE (tenant, key)
) STRICT;
CREATE INDEX sources_by_handle ON sources (tenant, handle);

CREATE TABLE source_revisions (
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    shared   INTEGER NOT NULL,      -- the first bytes are those of the revision before
    at       INTEGER NOT NULL,
    len      INTEGER,               -- set when complete
    hash     BLOB,
    PRIMARY KEY (source, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE source_chunks (
    chunk    INTEGER PRIMARY KEY,
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    start    INTEGER NOT NULL,
    len      INTEGER NOT NULL,
    data     BLOB NOT NULL
) STRICT;
CREATE INDEX source_chunks_by_start ON source_chunks (source, revision, start);

-- Derived from here on.

CREATE TABLE counts (
    blob    INTEGER PRIMARY KEY,
    o200k   INTEGER NOT NULL,
    cl100k  INTEGER,
    class   INTEGER NOT NULL,
    escaped INTEGER NOT NULL,
    quotes  INTEGER NOT NULL
) STRICT;

CREATE TABLE tallies (
    tenant INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    tokens INTEGER NOT NULL,        -- o200k, of all events up to here
    PRIMARY KEY (tenant, stream, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE index_segments (
    segment INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant  INTEGER NOT NULL,
    docs    INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    header  BLOB NOT NULL
) STRICT;
CREATE INDEX index_segments_by_tenant ON index_segments (tenant, segment);

CREATE TABLE index_blocks (
    tenant  INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    block   INTEGER NOT NULL,
    data    BLOB NOT NULL,
    PRIMARY KEY (tenant, segment, block)
) STRICT;

CREATE TABLE leases (                -- who does a piece of work, so that nobody else does the same
    tenant INTEGER NOT NULL,
    key    TEXT NOT NULL,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

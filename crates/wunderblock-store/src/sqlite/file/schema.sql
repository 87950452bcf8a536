-- The ledger, format 8. Ground truth: ledger, tenants, streams, events, blobs, refs, records, usage, sources and their
-- parts, erasures, losses, backups. All other tables are derived. `upgrade.rs` upgrades older formats to this one.

CREATE TABLE ledger (                -- one row: state of the file as a whole
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    generation BLOB NOT NULL,       -- 16 random bytes, replaced by each restore
    unscrubbed INTEGER NOT NULL     -- erasures whose content may still be in the log or in free bytes
) STRICT;

CREATE TABLE tenants (
    tenant INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE,
    key    BLOB NOT NULL,           -- secret key for the handles; deleted with the tenant
    epoch  INTEGER NOT NULL DEFAULT 0   -- number of erasures; what was read before one is not written after it
) STRICT;

CREATE TABLE streams (
    stream     INTEGER PRIMARY KEY,
    tenant     INTEGER NOT NULL REFERENCES tenants,
    id         TEXT NOT NULL,
    handle     INTEGER NOT NULL,
    base       INTEGER NOT NULL,    -- positions up to this one belong to the parent
    head       INTEGER NOT NULL,
    fork_of    INTEGER REFERENCES streams,
    parent     TEXT,                -- session that started this sub-agent's session
    what       INTEGER NOT NULL DEFAULT 0,  -- 0: a session; other streams, as a scope's memory: other numbers
    user       TEXT,                -- the scope, from widest to narrowest
    project    TEXT,                -- remote or path of the repository
    folder     TEXT,                -- from which the project was found; null if a caller named the project
    agent      TEXT,
    session    TEXT,
    run        TEXT,
    opened_at  INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    messages   INTEGER NOT NULL,    -- up to the head, including those shared with the parent
    text       INTEGER NOT NULL,
    first_user INTEGER,
    said       INTEGER NOT NULL DEFAULT 0,  -- position of the latest message in the conversation
    said_at    INTEGER NOT NULL DEFAULT 0,  -- time of the latest message in the conversation
    title      TEXT,                -- as given; erased with the event that gave it
    tags       TEXT,                -- JSON list of texts; erased with the event that gave it
    branch     TEXT,                -- of the repository, at the beginning
    model      TEXT,                -- of the latest reply
    tokens     INTEGER NOT NULL,    -- derived: sum of the counted tokens
    UNIQUE (tenant, id)
) STRICT;
CREATE INDEX streams_by_handle ON streams (tenant, handle);
CREATE INDEX streams_by_user ON streams (tenant, user, project);
CREATE INDEX streams_by_project ON streams (tenant, project);
CREATE INDEX streams_by_folder ON streams (tenant, folder, project);
CREATE INDEX streams_by_agent ON streams (tenant, agent);
CREATE INDEX streams_by_session ON streams (tenant, session, run);

CREATE TABLE events (
    tenant   INTEGER NOT NULL,
    stream   INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    id       TEXT NOT NULL,         -- a keyed hash once the event is erased
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    mark     INTEGER NOT NULL,      -- 0 other message, 1 user's turn, 2 system message, 3 not a message
    version  INTEGER NOT NULL,
    messages INTEGER NOT NULL,      -- running number of messages
    text     INTEGER NOT NULL,      -- running sum of text bytes
    origin   BLOB,
    salt     BLOB,                  -- erased with the payload
    proof    BLOB NOT NULL,
    covers   INTEGER NOT NULL DEFAULT 1,    -- version of the data that the proof covers
    checksum INTEGER,               -- of payload, origin, time, kind and id; null in records of format 1; erased with the payload
    role     INTEGER,               -- 0 system, 1 user, 2 assistant, 3 tool; null outside the conversation
    author   INTEGER,               -- of a message in the user's role: 0 person, 1 harness, 2 hook, 3 peer, 4 model, 5 tool;
                                    -- null until it is settled; erased with the payload
    spans    TEXT,                  -- JSON list of stretches by others: [part, from, to, author]; erased with the payload
    tool     TEXT,                  -- of the first tool call; erased with the payload
    path     TEXT,                  -- file that the first tool call refers to; erased with the payload
    lane     TEXT,                  -- lane of the event; null for events of the session itself
    payload  BLOB,                  -- the fact; once it is erased, its rest, or null
    PRIMARY KEY (tenant, stream, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_id ON events (tenant, stream, id);
CREATE INDEX events_marked ON events (tenant, stream, mark, kind, seq) WHERE mark >= 1;
CREATE INDEX events_unsettled ON events (tenant, stream, seq) WHERE role = 1 AND author IS NULL AND payload IS NOT NULL;
CREATE INDEX events_by_lane ON events (tenant, stream, kind, lane, seq) WHERE lane IS NOT NULL;

CREATE TABLE usage (                -- of each reply, as its provider reported it
    tenant      INTEGER NOT NULL,
    stream      INTEGER NOT NULL,
    key         TEXT NOT NULL,      -- identity of the reply; a later report replaces an earlier one
    seq         INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    model       TEXT,
    input       INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    PRIMARY KEY (tenant, stream, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
    blob   INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    handle INTEGER NOT NULL,
    hash   BLOB NOT NULL,
    bytes  INTEGER NOT NULL,
    data   BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX blobs_by_handle ON blobs (tenant, handle);

CREATE TABLE refs (                 -- events that contain a body
    tenant INTEGER NOT NULL,
    blob   INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (tenant, stream, seq, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX refs_by_blob ON refs (tenant, blob);

CREATE TABLE records (               -- places of transcript records, by hash
    tenant INTEGER NOT NULL,
    record INTEGER NOT NULL,        -- even: hash of the record's id; odd: keyed hash of place and content
    stream INTEGER NOT NULL,
    seq    INTEGER NOT NULL,        -- last position of the record, or the one it follows if it produced no event
    PRIMARY KEY (tenant, record, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE sources (
    source   INTEGER PRIMARY KEY,
    tenant   INTEGER NOT NULL,
    handle   INTEGER NOT NULL,      -- leads to the newest revision
    key      TEXT NOT NULL,
    revision INTEGER NOT NULL,      -- number of the newest revision
    UNIQUE (tenant, key)
) STRICT;
CREATE INDEX sources_by_handle ON sources (tenant, handle);

CREATE TABLE source_revisions (      -- bytes of a path between two rewrites
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    handle   INTEGER NOT NULL,
    format   TEXT NOT NULL,
    shared   INTEGER NOT NULL,      -- number of leading bytes shared with the previous revision; only in format 1
    len      INTEGER NOT NULL,
    whole    INTEGER NOT NULL,      -- 0 until an import has reached the end
    owner    TEXT,                  -- token of the importer that is writing the revision
    until    INTEGER,               -- time at which its ownership expires
    hash     BLOB,                  -- of all bytes; only in format 1, whose chunks have no checksums
    leaf     TEXT,                  -- session that corresponds to the file's own session id
    modified INTEGER,               -- modification time of the file, in nanoseconds since 1970
    reader   BLOB,                  -- state needed to continue reading
    PRIMARY KEY (source, revision)
) STRICT;
CREATE INDEX source_revisions_by_handle ON source_revisions (handle);

CREATE TABLE source_members (        -- files or rows of a revision that consists of more than one
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    member   INTEGER NOT NULL,
    name     TEXT NOT NULL,
    start    INTEGER NOT NULL,
    len      INTEGER NOT NULL,
    modified INTEGER,
    PRIMARY KEY (source, revision, member)
) STRICT, WITHOUT ROWID;

CREATE TABLE source_chunks (
    chunk    INTEGER PRIMARY KEY,
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    start    INTEGER NOT NULL,
    len      INTEGER NOT NULL,
    checksum INTEGER,               -- of the unpacked bytes; null in chunks of format 1
    data     BLOB NOT NULL
) STRICT;
CREATE INDEX source_chunks_by_start ON source_chunks (source, revision, start);

CREATE TABLE source_erased (         -- ranges of a revision that are erased
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    start    INTEGER NOT NULL,
    len      INTEGER NOT NULL,
    PRIMARY KEY (source, revision, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE stream_sources (        -- revisions from which a stream was read
    link     INTEGER PRIMARY KEY,
    stream   INTEGER NOT NULL,
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    UNIQUE (stream, source, revision)
) STRICT;
CREATE INDEX stream_sources_by_source ON stream_sources (source, revision);

CREATE TABLE erasures (              -- coordinates of content that must not come back: neither content nor a hash of it
    tenant  INTEGER NOT NULL,
    session TEXT NOT NULL,          -- hash of the session id assigned by the agent; plain if an earlier version wrote it
    kind    INTEGER NOT NULL,       -- 0: a whole session erased in format 1; 1: an event; 2: a record in imported files
    name    TEXT NOT NULL,          -- hash of the id of the event or of the record; plain if an earlier version wrote it
    PRIMARY KEY (tenant, session, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX erasures_by_name ON erasures (tenant, name);

CREATE TABLE losses (                -- positions that lost their content in an erasure
    tenant INTEGER NOT NULL,
    epoch  INTEGER NOT NULL,        -- epoch of the tenant that began with the erasure
    stream INTEGER NOT NULL,
    first  INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    PRIMARY KEY (tenant, epoch, stream, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE backups (               -- copies of the ledger, which an erasure names
    path TEXT PRIMARY KEY,          -- absolute
    at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The following tables are derived.

CREATE TABLE frontiers (             -- positions up to which the derived tables cover a stream
    tenant INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    what   INTEGER NOT NULL,        -- 0: counts, 1: words, 2: vectors
    seq    INTEGER NOT NULL,
    behind INTEGER NOT NULL,        -- whether events of the stream wait for the table
    PRIMARY KEY (stream, what)
) STRICT, WITHOUT ROWID;
CREATE INDEX frontiers_behind ON frontiers (tenant, what, stream) WHERE behind;

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
    tokens INTEGER NOT NULL,        -- o200k, running sum
    PRIMARY KEY (tenant, stream, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE index_segments (
    segment INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant  INTEGER NOT NULL,
    docs    INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    header  BLOB NOT NULL,
    what    INTEGER NOT NULL DEFAULT 1  -- derived table that the segment belongs to, as in `frontiers`
) STRICT;
CREATE INDEX index_segments_by_tenant ON index_segments (tenant, what, segment);

CREATE TABLE index_blocks (
    tenant  INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    block   INTEGER NOT NULL,
    data    BLOB NOT NULL,
    PRIMARY KEY (tenant, segment, block)
) STRICT;

CREATE TABLE leases (                -- holders of pieces of work, so that no work is done twice
    tenant INTEGER NOT NULL,
    key    TEXT NOT NULL,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

-- The ledger, format 3. Ground truth: ledger, tenants, streams, events, blobs, refs, records, sources and what belongs
-- to them, erasures. The rest is derived. `upgrade.rs` makes this of older formats.

CREATE TABLE ledger (                -- one row: what is true of the file as a whole
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    generation BLOB NOT NULL,       -- 16 random bytes; others after each restore
    unscrubbed INTEGER NOT NULL,    -- erasures of which log and free bytes may still hold something
    epoch      INTEGER NOT NULL DEFAULT 0   -- goes up with each erasure and each replacement of segments
) STRICT;

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
    what       INTEGER NOT NULL DEFAULT 0,  -- 0 a session; streams that are none (a scope's memory) get other numbers
    user       TEXT,                -- the scope, from the widest to the narrowest
    project    TEXT,
    agent      TEXT,
    session    TEXT,
    run        TEXT,
    opened_at  INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    messages   INTEGER NOT NULL,    -- up to the head, the shared ones included
    text       INTEGER NOT NULL,
    first_user INTEGER,
    said       INTEGER NOT NULL DEFAULT 0,  -- the newest message that is part of the conversation
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
    covers   INTEGER NOT NULL DEFAULT 1,    -- the version of what the proof is made over
    checksum INTEGER,               -- of payload and origin; none in records of format 1; dies with the payload
    role     INTEGER,               -- 0 system, 1 user, 2 assistant, 3 tool; none outside the conversation
    tool     TEXT,                  -- of its first call; dies with the payload
    path     TEXT,                  -- the file that call is about; dies with the payload
    lane     TEXT,                  -- the lane it belongs to; none for what is said in the session
    payload  BLOB,
    PRIMARY KEY (tenant, stream, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_id ON events (tenant, stream, id);
CREATE INDEX events_marked ON events (tenant, stream, mark, kind, seq) WHERE mark >= 1;
CREATE INDEX events_by_lane ON events (tenant, stream, kind, lane, seq) WHERE lane IS NOT NULL;

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

CREATE TABLE records (               -- where records of transcripts stand, by a hash
    tenant INTEGER NOT NULL,
    record INTEGER NOT NULL,        -- even: of the record's own id; odd: keyed, of its offset and content; dies with them
    stream INTEGER NOT NULL,
    seq    INTEGER NOT NULL,        -- the last position of it, or the one it follows if it made no event
    PRIMARY KEY (tenant, record, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE sources (
    source   INTEGER PRIMARY KEY,
    tenant   INTEGER NOT NULL,
    handle   INTEGER NOT NULL,      -- of the newest revision
    key      TEXT NOT NULL,
    revision INTEGER NOT NULL,      -- the newest
    UNIQUE (tenant, key)
) STRICT;
CREATE INDEX sources_by_handle ON sources (tenant, handle);

CREATE TABLE source_revisions (      -- what a path held from one rewriting to the next
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    handle   INTEGER NOT NULL,
    format   TEXT NOT NULL,
    shared   INTEGER NOT NULL,      -- the first bytes are those of the revision before; only in format 1
    len      INTEGER NOT NULL,
    whole    INTEGER NOT NULL,      -- 0 while an import has not reached the end
    owner    TEXT,                  -- who is writing it
    until    INTEGER,               -- and until when
    hash     BLOB,                  -- of all bytes; only in format 1, whose chunks have no checksums
    leaf     TEXT,                  -- the session the file's own id means
    modified INTEGER,               -- the file's time, in nanoseconds since 1970
    reader   BLOB,                  -- what is needed to read on
    PRIMARY KEY (source, revision)
) STRICT;
CREATE INDEX source_revisions_by_handle ON source_revisions (handle);

CREATE TABLE source_members (        -- the files or rows a revision was put together from, where it is more than one file
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
    checksum INTEGER,               -- of the bytes; none in chunks of format 1
    data     BLOB NOT NULL
) STRICT;
CREATE INDEX source_chunks_by_start ON source_chunks (source, revision, start);

CREATE TABLE source_erased (         -- ranges of a revision that stand for erased bytes
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    start    INTEGER NOT NULL,
    len      INTEGER NOT NULL,
    PRIMARY KEY (source, revision, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE stream_sources (        -- which revisions a stream was read from
    link     INTEGER PRIMARY KEY,
    stream   INTEGER NOT NULL,
    source   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    UNIQUE (stream, source, revision)
) STRICT;
CREATE INDEX stream_sources_by_source ON stream_sources (source, revision);

CREATE TABLE erasures (              -- coordinates of what shall not come back: never content, nor a hash of it
    tenant  INTEGER NOT NULL,
    session TEXT NOT NULL,          -- the agent's own id
    kind    INTEGER NOT NULL,       -- 0: all of a session that format 1 erased; 1: an event; 2: a record in its files
    name    TEXT NOT NULL,          -- the event's id, or the record's own id
    PRIMARY KEY (tenant, session, kind, name)
) STRICT, WITHOUT ROWID;

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

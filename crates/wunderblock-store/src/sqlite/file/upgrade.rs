//! Upgrades a ledger of an older format in one transaction. A kill leaves either the old or the new format, and the
//! next opening completes the upgrade.
//!
//! No event, body or source byte is rewritten. Of the new columns of events, format 3's `lane` is filled from the
//! records. Format 2's columns are filled only for new events: records of format 1 have no checksum, and their proof
//! (`covers` 1) remains valid.

use crate::StoreError;
use crate::codec::revision_handle;
use crate::sqlite::failure::failure;
use crate::sqlite::file::access::FORMAT;
use crate::sqlite::sql::{handle_of, handle_sql, rows, run};
use rusqlite::{Connection, TransactionBehavior, params};
use wunderblock_core::id::LaneId;
use wunderblock_core::view::preamble_id;

/// Statements before the new schema. Small tables whose columns change are rebuilt under their own name; large tables
/// only get new columns.
const BEFORE: &str = "
    ALTER TABLE sources RENAME TO old_sources;
    ALTER TABLE source_revisions RENAME TO old_revisions;
    ALTER TABLE streams RENAME TO old_streams;
    DROP INDEX streams_by_handle;
    DROP INDEX sources_by_handle;
    ALTER TABLE source_chunks ADD COLUMN checksum INTEGER;
    ALTER TABLE events ADD COLUMN covers INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE events ADD COLUMN checksum INTEGER;
    ALTER TABLE events ADD COLUMN role INTEGER;
    ALTER TABLE events ADD COLUMN tool TEXT;
    ALTER TABLE events ADD COLUMN path TEXT;";

/// Copies the streams. Format 1 did not record which messages belong to the conversation, so the latest message of
/// any kind is used.
const STREAMS: &str = "
    INSERT INTO streams (stream, tenant, id, handle, base, head, fork_of, parent, user, project, agent, session, run,
        opened_at, updated_at, messages, text, first_user, said, tokens)
    SELECT o.stream, o.tenant, o.id, o.handle, o.base, o.head, o.fork_of, o.parent,
        CAST(o.scope AS TEXT) ->> 'user', CAST(o.scope AS TEXT) ->> 'project', CAST(o.scope AS TEXT) ->> 'agent',
        CAST(o.scope AS TEXT) ->> 'session', CAST(o.scope AS TEXT) ->> 'run',
        o.opened_at, o.updated_at, o.messages, o.text, o.first_user,
        coalesce((SELECT e.seq FROM events e WHERE e.tenant = o.tenant AND e.stream = o.stream AND e.mark < 3
                  ORDER BY e.seq DESC LIMIT 1), o.base),
        o.tokens
    FROM old_streams o;";

/// Turns the two columns of progress of the formats before 7 into rows. `{STREAMS}` is the table with the columns.
const FRONTIERS: &str = "
    INSERT INTO frontiers (tenant, stream, what, seq, behind)
    SELECT o.tenant, o.stream, 0, o.counted, o.counted < o.head FROM {STREAMS} o
    UNION ALL SELECT o.tenant, o.stream, 1, o.indexed, o.indexed < o.head FROM {STREAMS} o;";

/// Adds the frontiers of vectors to streams without one.
const VECTORS: &str = "
    INSERT INTO frontiers (tenant, stream, what, seq, behind)
    SELECT s.tenant, s.stream, 2, s.base, s.base < s.head FROM streams s
    WHERE NOT EXISTS (SELECT 1 FROM frontiers f WHERE f.what = 2 AND f.stream = s.stream);";

/// Completes the frontiers of a ledger that a program without vectors has created. The oldest stream tells: all get
/// theirs at once.
pub(in crate::sqlite) fn complete(connection: &Connection) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| failure(&error);
    let sql = "SELECT EXISTS (SELECT 1 FROM (SELECT stream FROM streams ORDER BY stream LIMIT 1) s
               WHERE NOT EXISTS (SELECT 1 FROM frontiers f WHERE f.what = 2 AND f.stream = s.stream))";
    // A reader that only looks does not wait for writers.
    let is_incomplete: bool = connection.query_row(sql, [], |row| row.get(0)).map_err(failed)?;
    if is_incomplete { connection.execute_batch(VECTORS).map_err(failed) } else { Ok(()) }
}

/// Removes the columns of progress from the streams of the formats 2 to 6.
const NO_PROGRESS: &str = "
    ALTER TABLE streams DROP COLUMN counted;
    ALTER TABLE streams DROP COLUMN indexed;";

/// Prepares the segments of the text index to be those of one derived table among others (format 7).
const SEGMENTS: &str = "
    DROP INDEX index_segments_by_tenant;
    ALTER TABLE index_segments ADD COLUMN what INTEGER NOT NULL DEFAULT 1;";

/// Copies the sources. An incomplete revision keeps its bytes, and the next import finishes it.
const SOURCES: &str = "
    INSERT INTO sources (source, tenant, handle, key, revision)
    SELECT o.source, o.tenant, o.handle, o.key, (SELECT max(r.revision) FROM old_revisions r WHERE r.source = o.source)
    FROM old_sources o WHERE EXISTS (SELECT 1 FROM old_revisions r WHERE r.source = o.source);
    INSERT INTO source_revisions (source, revision, handle, format, shared, len, whole, hash, leaf)
    SELECT r.source, r.revision, 0, o.format, r.shared,
        coalesce(r.len, (SELECT max(c.start + c.len) FROM source_chunks c
                         WHERE c.source = r.source AND c.revision = r.revision), r.shared),
        r.len IS NOT NULL, CASE WHEN o.erased THEN NULL ELSE r.hash END,
        CASE WHEN r.revision = o.revision THEN o.leaf END
    FROM old_revisions r JOIN old_sources o ON o.source = r.source;
    INSERT INTO source_erased (source, revision, start, len)
    SELECT r.source, r.revision, 0, r.len FROM source_revisions r JOIN old_sources o ON o.source = r.source
    WHERE o.erased;";

/// Links streams to the revisions that their events name. A stream is also linked to the newest revision if its events
/// name none, or if the source's leaf session is the stream or one of its branches.
const LINKS: &str = "
    INSERT OR IGNORE INTO stream_sources (stream, source, revision)
    SELECT DISTINCT e.stream, s.source, CAST(e.origin AS TEXT) ->> '$.import.revision'
    FROM old_streams o JOIN sources s ON s.source = o.source
    JOIN events e ON e.tenant = o.tenant AND e.stream = o.stream
    WHERE e.origin IS NOT NULL AND CAST(e.origin AS TEXT) ->> '$.import.revision' IS NOT NULL;
    INSERT OR IGNORE INTO stream_sources (stream, source, revision)
    SELECT o.stream, s.source, s.revision FROM old_streams o JOIN sources s ON s.source = o.source
    JOIN old_sources l ON l.source = s.source
    WHERE NOT EXISTS (SELECT 1 FROM stream_sources k WHERE k.stream = o.stream)
       OR l.leaf = o.id OR substr(l.leaf, 1, length(o.id) + 1) = o.id || '~';";

/// Records the coordinates of earlier erasures, so that a later import does not bring the content back. Erasures use
/// the agent's own session id, without the suffixes of branches (`ID~2`) and copies (`ID@mark`).
const ERASED: &str = "
    INSERT OR IGNORE INTO erasures (tenant, session, kind, name)
    SELECT e.tenant, substr(o.id, 1, min(instr(o.id || '~', '~'), instr(o.id || '@', '@')) - 1), 1, e.id
    FROM events e JOIN streams o ON o.stream = e.stream
    WHERE e.payload IS NULL AND e.id <> '' AND instr(o.id || '~', '~') > 1 AND instr(o.id || '@', '@') > 1;
    INSERT OR IGNORE INTO erasures (tenant, session, kind, name)
    SELECT o.tenant, substr(o.id, 1, min(instr(o.id || '~', '~'), instr(o.id || '@', '@')) - 1), 0, ''
    FROM streams o WHERE instr(o.id || '~', '~') > 1 AND instr(o.id || '@', '@') > 1
    AND EXISTS (SELECT 1 FROM events e WHERE e.tenant = o.tenant AND e.stream = o.stream AND e.payload IS NULL)
    AND NOT EXISTS (SELECT 1 FROM events e WHERE e.tenant = o.tenant AND e.stream = o.stream
                    AND e.mark < 3 AND e.payload IS NOT NULL);";

const AFTER: &str = "
    DROP TABLE old_revisions;
    DROP TABLE old_sources;
    DROP TABLE old_streams;";

/// Prepares the lane column and the new index of marked events. Format 2 did not record lanes, and could not find a
/// user's turn without reading the events in between.
const LANES: &str = "
    ALTER TABLE events ADD COLUMN lane TEXT;
    DROP INDEX events_marked;";

/// Fills the lane column from the records. A damaged record is skipped; reading it reports the damage.
const LANE_OF: &str = "
    UPDATE events SET lane = CAST(payload AS TEXT) ->> '$.lane'
    WHERE mark = 3 AND payload IS NOT NULL AND json_valid(CAST(payload AS TEXT)) AND kind IN ('context.built', 'context.injected', 'content.reduced',
        'view.trimmed', 'preamble.changed', 'budget.warned', 'session.compacted', 'compaction.rejected',
        'compaction.undone');";

/// Adds the columns of format 4 to the streams of formats 2 and 3. The streams of format 1 are created with them.
const DESCRIBED: &str = "
    ALTER TABLE streams ADD COLUMN said_at INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE streams ADD COLUMN title TEXT;
    ALTER TABLE streams ADD COLUMN tags TEXT;
    ALTER TABLE streams ADD COLUMN branch TEXT;
    ALTER TABLE streams ADD COLUMN model TEXT;";

/// Fills what format 4 knows about a session from the records: the time of the latest message, the agent, whose name is
/// that of its transcript format, the usage of each reply, and the model of the latest one. A damaged record is skipped.
const FACETS: &str = "
    UPDATE streams SET said_at = coalesce((SELECT e.at FROM events e
        WHERE e.tenant = streams.tenant AND e.stream = streams.stream AND e.seq = streams.said), updated_at);
    UPDATE streams SET agent = (SELECT r.format FROM stream_sources k JOIN source_revisions r
            ON r.source = k.source AND r.revision = k.revision WHERE k.stream = streams.stream
            AND r.format IN ('claude-code', 'codex', 'pi', 'gemini-cli', 'copilot', 'aider')
            ORDER BY k.link LIMIT 1)
        WHERE agent IS NULL;
    INSERT OR REPLACE INTO usage (tenant, stream, key, seq, at, model, input, cache_read, cache_write, output)
    SELECT tenant, stream, coalesce(fact ->> '$.api_id', id), seq, at, fact ->> '$.model',
        coalesce(fact ->> '$.input', 0), coalesce(fact ->> '$.cache_read', 0), coalesce(fact ->> '$.cache_write', 0),
        coalesce(fact ->> '$.output', 0)
    FROM (SELECT tenant, stream, seq, id, at, CAST(payload AS TEXT) AS fact FROM events
          WHERE mark = 3 AND kind = 'usage.measured' AND payload IS NOT NULL AND json_valid(CAST(payload AS TEXT)))
    ORDER BY stream, seq;
    UPDATE streams SET model = (SELECT u.model FROM usage u WHERE u.tenant = streams.tenant
        AND u.stream = streams.stream AND u.model IS NOT NULL ORDER BY u.seq DESC LIMIT 1);";

/// Adds the columns of format 5, and the role of turns from format 1, which had none. The authors themselves are settled from the raw records when the ledger is opened, as
/// those of a rebuilt ledger are.
const AUTHORS: &str = "
    ALTER TABLE events ADD COLUMN author INTEGER;
    ALTER TABLE events ADD COLUMN spans TEXT;
    UPDATE events SET role = 1 WHERE mark = 1 AND role IS NULL AND payload IS NOT NULL;";

/// Begins to count the erasures of each tenant (format 6). A tenant with erasures begins with 1.
const EPOCHS: &str = "
    UPDATE tenants SET epoch = 1 WHERE tenant IN (SELECT tenant FROM erasures);";

/// Fills the folder of each session, which was its project (format 8), and the session to which a sub-agent's session or
/// a branch (`ID~2`) belongs. Sessions get the name of their repository when their folder is next used.
const PLACES: &str = "
    UPDATE streams SET folder = project;
    UPDATE streams SET session = parent WHERE session IS NULL AND parent IS NOT NULL;
    UPDATE streams SET session = substr(id, 1, length(rtrim(id, '0123456789')) - 1)
        WHERE session IS NULL AND fork_of IS NOT NULL AND id GLOB '?*~[0-9]*' AND substr(rtrim(id, '0123456789'), -1) = '~';";

/// Upgrades a ledger of an older format to the current one.
pub(in crate::sqlite) fn upgrade(connection: &mut Connection) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| failure(&error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have upgraded the ledger while this one waited for the lock.
    let from = crate::sqlite::file::open::pragma(&transaction, "user_version")?;
    if from >= FORMAT {
        return Ok(());
    }
    prepare(&transaction, from).map_err(failed)?;
    transaction.execute_batch(&created(include_str!("schema.sql"))).map_err(failed)?;
    if from < 2 {
        for step in [STREAMS, SOURCES, LINKS, ERASED] {
            transaction.execute_batch(step).map_err(failed)?;
        }
        name_revisions(&transaction)?;
        transaction.execute_batch(&FRONTIERS.replace("{STREAMS}", "old_streams")).map_err(failed)?;
        transaction.execute_batch(AFTER).map_err(failed)?;
        let first = "INSERT INTO ledger (one, generation, unscrubbed) VALUES (1, randomblob(16), 0)";
        run(&transaction, first, [])?;
    } else if from < 7 {
        transaction.execute_batch(&FRONTIERS.replace("{STREAMS}", "streams")).map_err(failed)?;
        transaction.execute_batch(NO_PROGRESS).map_err(failed)?;
    }
    transaction.execute_batch(PLACES).map_err(failed)?;
    if from < 3 {
        transaction.execute_batch(LANE_OF).map_err(failed)?;
        name_erased(&transaction)?;
    }
    if from < 4 {
        transaction.execute_batch(FACETS).map_err(failed)?;
    }
    if from < 6 {
        transaction.execute_batch(EPOCHS).map_err(failed)?;
    }
    complete(&transaction)?;
    transaction.execute_batch(&format!("PRAGMA user_version = {FORMAT}")).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Changes the tables of an older format that the new schema does not replace.
fn prepare(db: &Connection, from: i64) -> rusqlite::Result<()> {
    if from < 3 {
        db.execute_batch(LANES)?;
    }
    match from {
        ..2 => db.execute_batch(BEFORE)?,
        2..4 => db.execute_batch(DESCRIBED)?,
        _ => {}
    }
    if from < 5 {
        db.execute_batch(AUTHORS)?;
    }
    if (2..6).contains(&from) {
        db.execute_batch("ALTER TABLE ledger DROP COLUMN epoch;")?;
    }
    if from < 6 {
        let epochs = "ALTER TABLE tenants ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;";
        db.execute_batch(epochs)?;
    }
    if from < 7 {
        db.execute_batch("DROP INDEX streams_behind;")?;
        db.execute_batch(SEGMENTS)?;
    }
    if from >= 2 {
        db.execute_batch("ALTER TABLE streams ADD COLUMN folder TEXT;")?;
    }
    Ok(())
}

/// Fills the lane column for erased records, which no longer name their lane. Of a lane's records, only the preamble
/// can be erased; its id is derived from the lane, so the id is compared with the lanes that other records name.
fn name_erased(db: &Connection) -> Result<(), StoreError> {
    let sql = "SELECT DISTINCT lane FROM events WHERE lane IS NOT NULL";
    for lane in rows(db, sql, [], |row| row.get::<_, String>(0))? {
        let Ok(id) = LaneId::new(lane.as_str()) else { continue };
        let sql = "UPDATE events SET lane = ?1 WHERE kind = 'preamble.changed' AND payload IS NULL
                   AND substr(id, 1, length(?2)) = ?2";
        run(db, sql, params![lane, preamble_id(&id)])?;
    }
    Ok(())
}

/// Returns the statements of the schema, changed to create only what is missing.
fn created(schema: &str) -> String {
    let lines: Vec<&str> = schema.lines().filter(|line| !line.starts_with("--")).collect();
    let text = lines.join("\n").replace("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ");
    let text = text.replace("CREATE INDEX ", "CREATE INDEX IF NOT EXISTS ");
    text.replace("CREATE UNIQUE INDEX ", "CREATE UNIQUE INDEX IF NOT EXISTS ")
}

/// Assigns handles to the revisions of format 1, which had none.
fn name_revisions(db: &Connection) -> Result<(), StoreError> {
    let sql = "SELECT r.source, r.revision, s.handle, t.key FROM source_revisions r
               JOIN sources s ON s.source = r.source JOIN tenants t ON t.tenant = s.tenant";
    let all = rows(db, sql, [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?, row.get::<_, i64>(2)?, row.get::<_, [u8; 32]>(3)?))
    })?;
    for (source, revision, handle, key) in all {
        let own = revision_handle(&key, handle_of(handle), revision);
        let sql = "UPDATE source_revisions SET handle = ?3 WHERE source = ?1 AND revision = ?2";
        run(db, sql, params![source, revision, handle_sql(own)])?;
    }
    Ok(())
}

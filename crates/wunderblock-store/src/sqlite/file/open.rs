//! Opening a ledger's file: its settings, its format, and the identity of the ledger.

use crate::StoreError;
use crate::sqlite::failure::{StoreResult, failure};
use crate::sqlite::file::access::{APPLICATION_ID, Access, BUSY, FORMAT};
use crate::sqlite::file::place::{
    FileId, FolderLock, KEPT, RESTORING, beside, file_id, folder, link_count, sweep,
};
use crate::sqlite::file::upgrade::{complete, upgrade};
use crate::sqlite::sql::row;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// State of a ledger's file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sqlite) struct FileState {
    /// Random bytes, replaced by each restore.
    pub(in crate::sqlite) generation: [u8; 16],
    /// Number of erasures whose content may still be in the log or in free bytes.
    pub(in crate::sqlite) unscrubbed: u64,
}

/// Reads the state of the file as a whole.
pub(in crate::sqlite) fn standing(connection: &Connection) -> StoreResult<FileState> {
    let sql = "SELECT generation, unscrubbed FROM ledger WHERE one = 1";
    let found =
        row(connection, sql, [], |row| Ok(FileState { generation: row.get(0)?, unscrubbed: row.get(1)? }))?;
    found.ok_or_else(|| StoreError::Damaged("the table `ledger` has no row".to_owned()))
}

/// The ledger that was opened, by its file and its content.
#[derive(Clone, Debug)]
pub(in crate::sqlite) struct OpenedLedger {
    path: PathBuf,
    file: Option<FileId>,
    generation: [u8; 16],
}

impl OpenedLedger {
    /// Identifies the ledger at a path to which a connection has just been opened.
    pub(in crate::sqlite) fn new(path: &Path, generation: [u8; 16]) -> Self {
        // The process may change its working directory.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { file: file_id(&path).ok().flatten(), path, generation }
    }

    /// Fails if the path no longer leads to the file that was opened. Unix lets a process write into a removed file,
    /// where nobody would find what was acknowledged. A path that cannot be examined proves nothing.
    fn is_in_place(&self) -> StoreResult<()> {
        match (file_id(&self.path), self.file) {
            (Ok(Some(now)), Some(opened)) if now != opened => Err(StoreError::Replaced),
            (Err(error), Some(_)) if error.kind() == ErrorKind::NotFound => Err(missing(&self.path)),
            _ => Ok(()),
        }
    }
}

/// Fails unless the path still leads to the file that was opened, and the file still contains the same ledger.
pub(in crate::sqlite) fn still(connection: &Connection, opened: &OpenedLedger) -> StoreResult<()> {
    opened.is_in_place()?;
    match standing(connection) {
        Ok(now) if now.generation == opened.generation => Ok(()),
        Ok(_) => Err(StoreError::Replaced),
        // A file without the table holds a ledger of an older format, so it is not the ledger that was opened.
        Err(StoreError::Damaged(_))
            if pragma(connection, "user_version").is_ok_and(|found| found < FORMAT) =>
        {
            Err(StoreError::Replaced)
        }
        Err(error) => Err(error),
    }
}

/// Returns whether the file is an empty database: without tables, application id and version.
pub(in crate::sqlite) fn is_blank(connection: &Connection) -> StoreResult<bool> {
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .map_err(|error| failure(&error))?;
    Ok(tables == 0 && pragma(connection, "application_id")? == 0 && pragma(connection, "user_version")? == 0)
}

/// Fails if a restore has left files beside a path without a ledger: a new, empty ledger would hide them.
pub(in crate::sqlite) fn traces(path: &Path) -> StoreResult<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    let name = name.to_string_lossy();
    let Ok(entries) = std::fs::read_dir(folder(path)) else { return Ok(()) };
    let is_trace = |entry: &String| {
        let rest = entry.strip_prefix(name.as_ref()).unwrap_or_default();
        let number = rest.strip_prefix(KEPT).unwrap_or_default();
        rest == RESTORING || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let entries = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut traces: Vec<String> = entries.filter(is_trace).collect();
    traces.sort();
    if traces.is_empty() {
        return Ok(());
    }
    Err(StoreError::Unrestored { path: path.display().to_string(), traces: traces.join(", ") })
}

fn missing(path: &Path) -> StoreError {
    if let (Ok(target), false) = (path.read_link(), path.exists()) {
        return StoreError::BrokenLink {
            path: path.display().to_string(),
            target: target.display().to_string(),
        };
    }
    traces(path).err().unwrap_or_else(|| StoreError::Missing(path.display().to_string()))
}

/// Returns what exists in place of a regular file, if anything else does.
pub(in crate::sqlite) fn irregular(meta: &Metadata) -> Option<&'static str> {
    match meta.is_file() {
        true => None,
        false if meta.is_dir() => Some("a folder"),
        false => Some("a pipe, a socket or a device"),
    }
}

/// Returns whether a file has content, but less than SQLite's smallest page of 512 bytes. SQLite treats a file of one
/// byte as empty and overwrites it.
pub(in crate::sqlite) fn is_too_short(meta: &Metadata) -> bool {
    (1..512).contains(&meta.len())
}

/// Fails if a ledger that is about to be written has more than one hard link. SQLite names the log after the path, so
/// each name would have a log of its own, and what one process acknowledges another would overwrite.
///
/// The folder's lock keeps out a creator that is about to remove its own second name.
pub fn only_name(path: &Path, lock: &FolderLock) -> StoreResult<()> {
    let links = || path.metadata().map_or(1, |meta| link_count(&meta));
    if links() > 1 {
        // A link in another folder than the file has none of the temporary names beside it.
        sweep(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), lock);
    }
    match links() {
        0 | 1 => Ok(()),
        links => Err(StoreError::Linked { path: path.display().to_string(), links }),
    }
}

pub(in crate::sqlite) fn connect(path: &Path, access: Access, patience: Duration) -> StoreResult<Connection> {
    let Ok(meta) = path.metadata() else { return Err(missing(path)) };
    // SQLite would wait for the other end of a pipe.
    if let Some(what) = irregular(&meta) {
        return Err(StoreError::Foreign(format!("{} ({what})", path.display())));
    }
    if is_too_short(&meta) {
        return Err(StoreError::Foreign(path.display().to_string()));
    }
    if access != Access::Read && link_count(&meta) > 1 {
        let lock = FolderLock::take(path, patience).map_err(|_| StoreError::Locked)?;
        only_name(path, &lock)?;
    }
    let mode = if access == Access::Read {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| failure(&error))?;
    match settle(&connection, access, patience) {
        Err(error) if access == Access::Read => {
            drop(connection);
            without_shared_memory(path, &error, patience).map_err(|_| error)
        }
        other => other.map(|()| connection),
    }
}

/// Opens a ledger for reading where SQLite cannot create the shared-memory file: in a read-only folder, or on a full
/// disk.
fn without_shared_memory(path: &Path, error: &StoreError, patience: Duration) -> StoreResult<Connection> {
    if !matches!(error, StoreError::Full | StoreError::Io(_) | StoreError::ReadOnly) {
        return Err(error.clone());
    }
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if beside(path, "-wal").metadata().map_or(0, |meta| meta.len()) == 0 {
        // Without a log, the file is complete and has no writer, so it can be opened as immutable.
        let uri = format!("file:{}?immutable=1", uri_path(path));
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(uri, flags).map_err(|error| failure(&error))?;
        settle(&connection, Access::Read, patience)?;
        return Ok(connection);
    }
    // A connection that excludes all others keeps the index of the log on the heap. The lock needs a writable handle,
    // but nothing is written: queries cannot write, and the log stays as it is when the connection closes.
    let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| failure(&error))?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(|error| failure(&error))?;
    settle(&connection, Access::Read, patience)?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(|error| failure(&error))?;
    Ok(connection)
}

/// Returns whether a connection excludes all others, so that there can be only one.
pub(in crate::sqlite) fn is_exclusive(connection: &Connection) -> bool {
    let mode = connection.query_row("PRAGMA locking_mode", [], |row| row.get::<_, String>(0));
    mode.is_ok_and(|mode| mode == "exclusive")
}

/// Turns off what a schema can run by itself. The file may come from anywhere, and the format has no triggers and no
/// views.
pub fn guard(connection: &Connection) -> StoreResult<()> {
    let runs = [
        DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
        DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
        DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    ];
    for what in runs {
        connection.set_db_config(what, false).map_err(|error| failure(&error))?;
    }
    Ok(())
}

fn settle(connection: &Connection, access: Access, patience: Duration) -> StoreResult<()> {
    let settings = if access == Access::Read {
        "PRAGMA query_only = ON; PRAGMA cache_size = -8192"
    } else {
        // A limit of 4096 pages allows 32 MiB of log before a checkpoint. Bulk writes change the same pages
        // repeatedly, so having fewer checkpoints reduces what is written.
        "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 67108864;
         PRAGMA wal_autocheckpoint = 4096; PRAGMA cache_size = -32768"
    };
    guard(connection)?;
    connection
        .busy_timeout(patience)
        .and_then(|()| connection.execute_batch(settings))
        .and_then(|()| connection.execute_batch("PRAGMA temp_store = MEMORY"))
        .map_err(|error| failure(&error))?;
    // Enable the query planner stability guarantee. Every query uses a key; without the guarantee, SQLite would plan
    // a statement again when its bound values change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(|error| failure(&error))?;
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, access == Access::Brief)
        .map_err(|error| failure(&error))?;
    connection.set_prepared_statement_cache_capacity(96);
    pragma(connection, "user_version").map(|_: i64| ())
}

fn uri_path(path: &Path) -> String {
    let mut out = String::new();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'%' | b'?' | b'#' => out.push_str(&format!("%{byte:02x}")),
            byte => out.push(char::from(byte)),
        }
    }
    out
}

pub(in crate::sqlite) fn pragma(connection: &Connection, name: &str) -> StoreResult<i64> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).map_err(|error| failure(&error))
}

/// Returns the format of a ledger, or an error if this program does not support it.
pub(in crate::sqlite) fn format(connection: &Connection, path: &Path) -> StoreResult<i64> {
    let (application, format) = (pragma(connection, "application_id")?, pragma(connection, "user_version")?);
    if application != APPLICATION_ID {
        // The file is an empty database: its creation was interrupted, or another program created it.
        let blank = is_blank(connection)?;
        return Err(if blank { missing(path) } else { StoreError::Foreign(path.display().to_string()) });
    }
    match format {
        1..=FORMAT => Ok(format),
        newer if newer > FORMAT => Err(StoreError::TooNew { found: newer, known: FORMAT }),
        older => Err(StoreError::Damaged(format!("invalid format `{older}`"))),
    }
}

/// Fails unless the file is a ledger. Upgrades a ledger of an older format.
pub(in crate::sqlite) fn check_format(
    connection: &mut Connection,
    path: &Path,
    access: Access,
) -> StoreResult<()> {
    match format(connection, path)? {
        FORMAT if access == Access::Read => {}
        FORMAT => complete(connection)?,
        // Reading needs the new tables, so even a reader upgrades the ledger, through a writable connection.
        _ if access == Access::Read => upgrade(&mut connect(path, Access::Write, BUSY)?)?,
        _ => upgrade(connection)?,
    }
    if access != Access::Read {
        // In another journal mode, readers would block writers, and several processes could not share the file.
        let _: String = connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
            .map_err(|error| failure(&error))?;
    }
    Ok(())
}

/// Replaces an error with [`StoreError::TooOld`] if the ledger has an older format and is read-only. SQLite reports a
/// folder without room for a log as a file that cannot be opened.
pub(in crate::sqlite) fn reason(path: &Path, error: StoreError) -> StoreError {
    if !matches!(error, StoreError::ReadOnly | StoreError::Io(_)) {
        return error;
    }
    match connect(path, Access::Read, BUSY).and_then(|connection| format(&connection, path)) {
        Ok(found) if found < FORMAT => StoreError::TooOld { found, known: FORMAT },
        _ => error,
    }
}

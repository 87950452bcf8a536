//! Stores the output of a running command on disk. If `run` is killed, the next command takes the output into the
//! ledger.
//!
//! ```text
//! LEDGER.run/CALL.out     a line of JSON: what ran, where, for whom · then the bytes as they came
//! ```
//!
//! The file is locked while its `run` is running. The file costs one write per chunk and no sync, so that the command
//! is not slowed down: after a kill, the file is complete; after a loss of power, its last seconds may be missing.

use crate::kept::outputs::outputs_session;
use crate::kept::private_file::private_file;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Error, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use wunderblock::{Engine, Error as EngineError, Output};

/// Facts about a command that are known when it starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpoolHead {
    /// Id of the call under which the output is stored. The id is unique, so the output is stored only once.
    pub call: String,
    /// Session to which the output belongs.
    pub session: String,
    /// Name of the tenant.
    pub tenant: String,
    /// Command line, cut to 16,384 characters.
    pub command: String,
    /// Working directory of the command.
    pub cwd: String,
}

/// Spool file of a running command. The file is removed when its output is stored in the ledger.
#[derive(Debug)]
pub struct Spool {
    file: File,
    path: PathBuf,
    call: String,
    /// Whether the disk was full. Bytes that have already been written are kept.
    full: bool,
}

/// Extension of spool files.
const END: &str = "out";
/// Maximum number of characters of a command line in the first line of the file.
const MAX_COMMAND: usize = 16 << 10;
/// Maximum length of the first line in bytes.
const MAX_HEAD: u64 = 1 << 20;

impl Spool {
    /// Creates the spool file beside the ledger.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written. A command can run without a spool file.
    pub fn begin(db: &Path, head: &SpoolHead) -> std::io::Result<Self> {
        let folder = folder(db);
        let path = folder.join(&head.call).with_extension(END);
        let create = || private_file().write(true).create_new(true).open(&path);
        let open = || std::fs::create_dir_all(&folder).and_then(|()| create());
        // Another command may remove the empty folder before the file is created in it, so one more attempt is made.
        let mut file = open().or_else(|_| open())?;
        file.try_lock().map_err(Error::from)?;
        let command = head.command.chars().take(MAX_COMMAND).collect();
        let mut line = serde_json::to_vec(&SpoolHead { command, ..head.clone() })?;
        line.push(b'\n');
        file.write_all(&line)?;
        Ok(Self { file, path, call: head.call.clone(), full: false })
    }

    /// Appends output. If the disk is full, the command continues, and its output is still stored at its end.
    pub fn append(&mut self, bytes: &[u8]) {
        self.full = self.full || self.file.write_all(bytes).is_err();
    }

    /// Id of the call under which the output is stored.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// Removes the file after its output has been stored or shown in full.
    pub fn remove(self) {
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    // Removes the folder only if it is empty.
    let _ = path.parent().map(std::fs::remove_dir);
}

/// Removes the spool file of a call whose output was stored by another process than the one that wrote the file.
pub fn remove_stored(db: &Path, call: &str) {
    remove(&folder(db).join(call).with_extension(END));
}

/// Returns the folder of the spool files, beside the ledger.
fn folder(db: &Path) -> PathBuf {
    let mut name = db.file_name().unwrap_or_default().to_owned();
    name.push(".run");
    db.with_file_name(name)
}

/// Returns whether a path is that of a spool file of a ledger. The links of the path must be resolved.
pub fn holds(db: &Path, path: &Path) -> bool {
    dunce::canonicalize(folder(db)).is_ok_and(|folder| path.starts_with(folder))
}

/// A spool file whose `run` has ended. The file is positioned after its first line.
pub struct OrphanSpool {
    head: SpoolHead,
    spool: Spool,
}

/// Returns a tenant's spool files that no process is writing. A folder that is missing or unreadable counts as empty.
pub fn orphans(db: &Path, tenant: &str) -> Vec<OrphanSpool> {
    let Ok(entries) = std::fs::read_dir(folder(db)) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let orphans = paths.filter(|path| path.extension().is_some_and(|end| end == END)).filter_map(orphan);
    orphans.filter(|orphan| orphan.head.tenant == tenant).collect()
}

/// Reads the first line alone: every command looks at all files, and only one stores each.
fn orphan(path: PathBuf) -> Option<OrphanSpool> {
    let mut file = OpenOptions::new().read(true).write(true).open(&path).ok()?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
    }
    let mut line = Vec::new();
    BufReader::new(&file).take(MAX_HEAD).read_until(b'\n', &mut line).ok()?;
    // Another command may have taken the file between opening and locking it.
    path.exists().then_some(())?;
    if !line.ends_with(b"\n") {
        // The run was killed before it wrote the first line, so there is no output.
        if (line.len() as u64) < MAX_HEAD {
            let _ = std::fs::remove_file(&path);
        }
        return None;
    }
    let head: SpoolHead = serde_json::from_slice(&line).ok()?;
    file.seek(SeekFrom::Start(line.len() as u64)).ok()?;
    let call = head.call.clone();
    Some(OrphanSpool { head, spool: Spool { file, path, call, full: false } })
}

impl OrphanSpool {
    /// Stores the output in the ledger as a failed call without an exit code.
    ///
    /// # Errors
    /// Returns an error if the output cannot be stored. After an error, the file is left for the next command.
    pub async fn take_in(self, engine: &Engine) -> Result<(), EngineError> {
        let Self { head, mut spool } = self;
        let mut bytes = Vec::new();
        if spool.file.read_to_end(&mut bytes).is_err() {
            return Ok(());
        }
        let input =
            json!({ "command": head.command, "cwd": head.cwd, "exit_code": null, "cut": "`run` was killed" });
        let input = input.to_string();
        let output =
            Output { bytes: &bytes, tool: "run", input: &input, failed: true, call: Some(&head.call) };
        let session = outputs_session(engine, &head.session, Some(Path::new(&head.cwd))).await?;
        output.keep(&session).await?;
        spool.remove();
        Ok(())
    }
}

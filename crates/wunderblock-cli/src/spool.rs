//! What a command writes, on disk while it works: after a kill of `run` the next command takes it into the ledger.
//!
//! ```text
//! LEDGER.run/CALL.out     a line of JSON: what ran, where, for whom · then the bytes as they came
//! ```
//!
//! The file is locked as long as its `run` lives. It costs a write for each chunk and no sync, so that a command is not
//! slowed: what a kill leaves is whole, what a loss of power leaves may lack its last seconds.

use crate::outputs::outputs_session;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, Read, Write};
use std::path::{Path, PathBuf};
use wunderblock::store::StoreError;
use wunderblock::{Engine, Error as EngineError, Output};

/// What is known of a command when it starts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SpoolHead {
    /// The name of the call under which the output is kept, once.
    pub(crate) call: String,
    /// The session it belongs to.
    pub(crate) session: String,
    /// The tenant.
    pub(crate) tenant: String,
    /// The command line.
    pub(crate) command: String,
    /// The folder it runs in.
    pub(crate) cwd: String,
}

/// The file of a command at work. Removed when its output is kept.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    path: PathBuf,
    call: String,
    /// There was no room for all of it: what came first stays.
    full: bool,
}

/// The end of a spool's name.
const END: &str = "out";
/// Maximum bytes of the first line: a longer command line is cut.
const MAX_COMMAND: usize = 16 << 10;

impl Spool {
    /// Begins one beside the ledger.
    ///
    /// # Errors
    /// When it cannot be written: a command works without.
    pub(crate) fn begin(db: &Path, head: &SpoolHead) -> std::io::Result<Self> {
        let folder = folder(db);
        let path = folder.join(&head.call).with_extension(END);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let open = || std::fs::create_dir_all(&folder).and_then(|()| options.open(&path));
        // Another command may remove the folder, empty, in between.
        let mut file = open().or_else(|_| open())?;
        file.try_lock().map_err(Error::from)?;
        let command = head.command.chars().take(MAX_COMMAND).collect();
        let mut line = serde_json::to_vec(&SpoolHead { command, ..head.clone() })?;
        line.push(b'\n');
        file.write_all(&line)?;
        Ok(Self { file, path, call: head.call.clone(), full: false })
    }

    /// Appends what came. Where there is no room, the command still works: its output is kept at its end.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.full = self.full || self.file.write_all(bytes).is_err();
    }

    /// The name of the call under which its bytes are kept.
    pub(crate) fn call(&self) -> &str {
        &self.call
    }

    /// Removes it: its output is kept, or shown in full.
    pub(crate) fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
        // Only where it was the last.
        let _ = self.path.parent().map(std::fs::remove_dir);
    }
}

/// The folder of spools.
fn folder(db: &Path) -> PathBuf {
    let mut name = db.file_name().unwrap_or_default().to_owned();
    name.push(".run");
    db.with_file_name(name)
}

/// A spool whose `run` is gone.
pub(crate) struct OrphanSpool {
    head: SpoolHead,
    bytes: Vec<u8>,
    spool: Spool,
}

/// The spools that nobody writes any more. Nothing is said of a folder that is not there, or may not be read.
pub(crate) fn orphans(db: &Path) -> Vec<OrphanSpool> {
    let Ok(entries) = std::fs::read_dir(folder(db)) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|end| end == END)).filter_map(read_orphan).collect()
}

fn read_orphan(path: PathBuf) -> Option<OrphanSpool> {
    let mut file = OpenOptions::new().read(true).write(true).open(&path).ok()?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    // Another command may have taken it in between.
    path.exists().then_some(())?;
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        // Killed while it began: nothing had come.
        let _ = std::fs::remove_file(&path);
        return None;
    };
    let head: SpoolHead = serde_json::from_slice(bytes.get(..end)?).ok()?;
    bytes.drain(..=end);
    let call = head.call.clone();
    Some(OrphanSpool { head, bytes, spool: Spool { file, path, call, full: false } })
}

impl OrphanSpool {
    /// Whether it is of a tenant.
    pub(crate) fn is_of(&self, tenant: &str) -> bool {
        self.head.tenant == tenant
    }

    /// Takes it into the ledger as a failed call without an exit code.
    ///
    /// # Errors
    /// When it cannot be kept: it stays for the next command.
    pub(crate) async fn take_in(self, engine: &Engine) -> Result<(), EngineError> {
        let Self { head, bytes, spool } = self;
        let input =
            json!({ "command": head.command, "cwd": head.cwd, "exit_code": null, "cut": "`run` was killed" });
        let input = input.to_string();
        let output =
            Output { bytes: &bytes, tool: "run", input: &input, failed: true, call: Some(&head.call) };
        let session = outputs_session(engine, &head.session).await?;
        match output.keep(&session).await {
            // It was kept before the kill.
            Ok(_) | Err(EngineError::Store(StoreError::Conflict { .. })) => {
                spool.remove();
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

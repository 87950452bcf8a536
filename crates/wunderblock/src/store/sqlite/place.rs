//! Placing files: readable only by their owner, complete, and never over an existing file.
//!
//! These functions must not open a ledger's own file: closing any handle to it would drop the locks that SQLite holds
//! for the whole process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// File mode of ledgers and their copies: read and write for the owner, no access for others.
#[cfg(unix)]
const PRIVATE: u32 = 0o600;
/// Suffix of the ledger that a restore prepares, added to the ledger's name.
pub(crate) const RESTORING: &str = ".restoring";
/// Suffix of the previous ledger that a restore keeps, added to the ledger's name and followed by a number.
pub(crate) const KEPT: &str = ".before-restore-";

/// Suffix of the copy of the previous ledger that a restore has not finished, added to the ledger's name.
pub(crate) const KEEPING: &str = ".keeping";
/// Suffix of a backup that is not complete yet, added to the backup's name.
pub(crate) const PARTIAL: &str = ".partial";
/// Suffix of a ledger that is being created, added to the ledger's name and followed by the creator's process id.
pub(super) const BUILDING: &str = ".creating-";

/// Returns a path with a suffix added to its file name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the folder that contains a file.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a file that only its owner can read, regardless of the umask.
///
/// # Errors
/// Fails if a file already exists at the path, or if the file cannot be created.
pub(crate) fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, PRIVATE);
    let file = options.open(path)?;
    // The umask may also have removed the owner's permission bits.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(PRIVATE))?;
    Ok(file)
}

/// Restricts a ledger's file, log and shared-memory file to their owner. On systems without file modes, only the
/// folder's permissions protect these files.
///
/// # Errors
/// Fails if the mode cannot be changed.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there is no mode to change"))]
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    for file in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        let private = std::os::unix::fs::PermissionsExt::from_mode(PRIVATE);
        match std::fs::set_permissions(&file, private) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && file != path => {}
            other => other?,
        }
    }
    Ok(())
}

/// Returns the mode of a file if anyone other than its owner may read or write it.
pub(crate) fn open_to_others(path: &Path) -> Option<u32> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().ok()?.permissions()) & 0o777;
        (mode & !PRIVATE & 0o066 != 0).then_some(mode)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Returns the number of hard links to a file.
pub(crate) fn link_count(meta: &std::fs::Metadata) -> u64 {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::nlink(meta)
    }
    #[cfg(not(unix))]
    {
        let _ = meta;
        1
    }
}

/// Moves a complete file to its final name. Fails if the final name already exists.
///
/// Creating a hard link is atomic. On file systems without hard links, the name is checked first, so callers that
/// need a guarantee must hold the folder's lock.
///
/// # Errors
/// Fails with `AlreadyExists`, or if the file cannot be linked or renamed.
pub(crate) fn place(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from)?,
        Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
            return Err(error);
        }
        // The file system has no hard links. A broken link counts as an existing name, too.
        Err(_) if to.symlink_metadata().is_ok() => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from, to)?,
    }
    sync_folder(to)
}

/// Makes the names in a file's folder durable.
///
/// # Errors
/// Fails if the folder cannot be synced.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // Other systems cannot open folders, but make names durable without a sync.
    if cfg!(unix) { File::open(folder(path))?.sync_all() } else { Ok(()) }
}

/// Lock on a folder, held until it is dropped or its process ends. The lock creates no file.
pub(crate) struct FolderLock(Option<File>);

impl FolderLock {
    /// Waits for the lock on the folder that contains a file.
    ///
    /// # Errors
    /// Fails with `WouldBlock` if another process holds the lock for longer than `patience`.
    pub(crate) fn take(path: &Path, patience: Duration) -> io::Result<Self> {
        let end = Instant::now() + patience;
        // File systems without locks, and unreadable folders, yield an empty guard, so that files can still be
        // created in them.
        let Ok(file) = File::open(folder(path)) else { return Ok(Self(None)) };
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(Some(file))),
                Err(TryLockError::Error(_)) => return Ok(Self(None)),
                Err(TryLockError::WouldBlock) if Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            }
        }
    }

    /// Returns whether the lock is held. Files left by another holder are known to be abandoned only while the lock
    /// is held.
    pub(crate) fn is_held(&self) -> bool {
        self.0.is_some()
    }
}

/// Removes temporary files of dead creators. A creator holds the folder's lock while it builds, so a temporary file
/// found under the lock has no living creator.
pub(super) fn sweep(path: &Path, lock: &FolderLock) {
    let Some(name) = path.file_name().filter(|_| lock.is_held()) else { return };
    let prefix = format!("{}{BUILDING}", name.to_string_lossy());
    let Ok(entries) = std::fs::read_dir(folder(path)) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

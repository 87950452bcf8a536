//! Placing files: readable only by their owner, complete, and never over an existing file.
//!
//! These functions must not open a ledger's own file: closing any handle to it would drop the locks that SQLite holds
//! for the whole process.

use crate::sqlite::file::access::{APPLICATION_ID, FORMAT};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// File mode of ledgers and their copies: read and write for the owner, no access for others.
#[cfg(unix)]
const PRIVATE: u32 = 0o600;
/// Suffix of the ledger that a restore prepares, added to the ledger's name.
pub const RESTORING: &str = ".restoring";
/// Suffix of the previous ledger that a restore keeps, added to the ledger's name and followed by a number.
pub const KEPT: &str = ".before-restore-";

/// Suffixes of the files beside a ledger that belong to it, added to the ledger's name.
const COMPANIONS: [&str; 6] = ["-wal", "-shm", "-journal", RESTORING, KEEPING, PARTIAL];
/// Suffix of the copy of the old ledger while the copy is incomplete.
pub const KEEPING: &str = ".keeping";
/// Suffix of a backup while it is incomplete.
pub const PARTIAL: &str = ".partial";
/// Suffix of a ledger that is being created, added to the ledger's name and followed by the creator's process id.
pub(in crate::sqlite) const BUILDING: &str = ".creating-";
/// First bytes of an SQLite database.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Size in bytes of the header of an SQLite database up to the application id, which is its end.
const HEADER: usize = 72;
/// Offset of the format in the header.
const USER_VERSION: usize = 60;

/// Returns whether a path names a ledger, or a file that belongs to one, whether or not it exists.
///
/// `open` is the path of the ledger that this process may have open. That ledger is recognised by its name and by its
/// inode, because it must not be opened here; other ledgers by the application id in their header.
#[must_use]
pub fn is_of_ledger(open: &Path, path: &Path) -> bool {
    let (open, path) = (resolved(open), resolved(path));
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_kept =
        || name(&path).is_some_and(|kept| kept.starts_with(&(name(&open).unwrap_or_default() + KEPT)));
    let mut own = COMPANIONS.iter().map(|suffix| beside(&open, suffix));
    if same_file(&open, &path) || own.any(|own| same_file(&own, &path)) {
        return true;
    }
    let mut others = COMPANIONS.iter().filter_map(|suffix| without_suffix(&path, suffix));
    // A second name of the open ledger is not opened either.
    let is_ledger = |path: &Path| same_file(path, &open) || has_our_header(path);
    (folder(&path) == folder(&open) && is_kept())
        || is_ledger(&path)
        || others.any(|ledger| is_ledger(&ledger))
}

/// Returns a path with all links resolved. Of a path that does not exist, the folder is resolved.
fn resolved(path: &Path) -> PathBuf {
    let in_folder = || Some(dunce::canonicalize(folder(path)).ok()?.join(path.file_name()?));
    dunce::canonicalize(path).ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// Returns whether two resolved paths name one file, which may have several hard links.
fn same_file(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| file_id(path).ok().flatten();
    one == other || id(one).is_some_and(|one| id(other) == Some(one))
}

/// Device and number of a file, which do not depend on its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sqlite) struct FileId(u64, u64);

/// Returns the identity of the file at a path; `None` on systems that do not have one.
///
/// # Errors
/// Fails if no file exists at the path, or if it cannot be examined.
pub(in crate::sqlite) fn file_id(path: &Path) -> io::Result<Option<FileId>> {
    let meta = path.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Ok(Some(FileId(meta.dev(), meta.ino())))
    }
    #[cfg(not(unix))]
    {
        let _ = meta;
        Ok(None)
    }
}

fn without_suffix(path: &Path, suffix: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?.strip_suffix(suffix)?;
    (!name.is_empty()).then(|| path.with_file_name(name))
}

/// Returns whether a file begins like a ledger.
fn has_our_header(path: &Path) -> bool {
    header_number(path, HEADER - 4) == Some(APPLICATION_ID)
}

/// Returns whether a file begins like a ledger of the format that this program writes.
pub fn has_current_header(path: &Path) -> bool {
    has_our_header(path) && header_number(path, USER_VERSION) == Some(FORMAT)
}

fn header_number(path: &Path, at: usize) -> Option<i64> {
    let header = read_header(path).filter(|header| header.starts_with(SQLITE))?;
    let number = header.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*number).into())
}

/// Removes a temporary file with its companions if it is empty or a ledger. Another file of that name stays.
pub fn remove_ours(path: &Path) {
    if path.metadata().is_ok_and(|meta| meta.len() > 0) && !has_our_header(path) {
        return;
    }
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(beside(path, suffix));
    }
}

/// Reads the beginning of a file. A pipe or a device is not read.
fn read_header(path: &Path) -> Option<[u8; HEADER]> {
    let mut header = [0; HEADER];
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    Some(header)
}

/// Returns a path with a suffix added to its file name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the folder that contains a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a file that only its owner can read, regardless of the umask.
///
/// # Errors
/// Fails if a file already exists at the path, or if the file cannot be created.
pub fn private(path: &Path) -> io::Result<File> {
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
pub fn make_private(path: &Path) -> io::Result<()> {
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
pub fn open_to_others(path: &Path) -> Option<u32> {
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
pub fn link_count(meta: &std::fs::Metadata) -> u64 {
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
pub fn place(from: &Path, to: &Path) -> io::Result<()> {
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
pub fn sync_folder(path: &Path) -> io::Result<()> {
    // Other systems cannot open folders, but make names durable without a sync.
    if cfg!(unix) { File::open(folder(path))?.sync_all() } else { Ok(()) }
}

/// Lock on a folder, held until it is dropped or its process ends. The lock creates no file.
pub struct FolderLock(Option<File>);

impl FolderLock {
    /// Waits for the lock on the folder that contains a file.
    ///
    /// # Errors
    /// Fails with `WouldBlock` if another process holds the lock for longer than `patience`.
    pub fn take(path: &Path, patience: Duration) -> io::Result<Self> {
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
    pub fn is_held(&self) -> bool {
        self.0.is_some()
    }
}

/// Removes temporary files of dead creators. A creator holds the folder's lock while it builds, so a temporary file
/// found under the lock has no living creator.
pub(in crate::sqlite) fn sweep(path: &Path, lock: &FolderLock) {
    let Some(name) = path.file_name().filter(|_| lock.is_held()) else { return };
    let prefix = format!("{}{BUILDING}", name.to_string_lossy());
    let Ok(entries) = std::fs::read_dir(folder(path)) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

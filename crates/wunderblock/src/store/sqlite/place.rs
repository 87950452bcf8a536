//! Files put in their place: readable by their owner only, whole, and never over another.
//!
//! None of these may open a ledger's own file: closing it again would drop the locks that SQLite holds for the whole
//! process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The mode of ledgers and of copies of them: their owner reads and writes, nobody else does anything.
#[cfg(unix)]
const PRIVATE: u32 = 0o600;
/// What a restore adds to a ledger's name for the one it prepares.
pub(crate) const RESTORING: &str = ".restoring";
/// What a restore adds to a ledger's name, before a number, for the one that was there.
pub(crate) const KEPT: &str = ".before-restore-";

/// A path with something added to its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The folder a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a file that only its owner can read, whatever the umask.
///
/// # Errors
/// When something is there already, or the file cannot be created.
pub(crate) fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, PRIVATE);
    let file = options.open(path)?;
    // The umask may have taken bits from the owner, too.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(PRIVATE))?;
    Ok(file)
}

/// Takes a file from everybody but its owner, and the log and its index beside it. Where files have no modes, the folder's
/// permissions are all there is.
///
/// # Errors
/// When the mode cannot be changed.
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

/// The mode of a file that others than its owner may read or write.
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

/// Gives a whole file its name, and fails where something has that name already.
///
/// A hard link does that in one step. Where there are none the name is looked up first: whoever needs more holds the
/// folder's lock.
///
/// # Errors
/// `AlreadyExists`, or when the file cannot be linked or renamed.
pub(crate) fn place(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from)?,
        Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
            return Err(error);
        }
        Err(_) if to.symlink_metadata().is_ok() => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from, to)?,
    }
    sync_folder(to)
}

/// Makes the names in a file's folder durable.
///
/// # Errors
/// When the folder cannot be synced.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // Other systems do not open folders, and keep names without being asked.
    if cfg!(unix) { File::open(folder(path))?.sync_all() } else { Ok(()) }
}

/// A folder's lock, held until it is dropped or its holder dies. It leaves no file behind.
pub(crate) struct FolderLock(Option<File>);

impl FolderLock {
    /// Waits for the lock of the folder that a file is in.
    ///
    /// # Errors
    /// `WouldBlock` when another process holds it for longer than `patience`.
    pub(crate) fn take(path: &Path, patience: Duration) -> io::Result<Self> {
        let end = Instant::now() + patience;
        // A file system without locks, or a folder that may not be read: then there is none to hold.
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

    /// Whether it is held: what a holder leaves behind is then certainly nobody's.
    pub(crate) fn is_held(&self) -> bool {
        self.0.is_some()
    }
}

//! Writes a file so that its path always has the old content or the new one, whole.
//!
//! The new content is written to a second file and synced. Then it replaces the old file by a rename. Where a rename
//! is impossible (a folder that cannot be written, a file that is mounted, a file of another owner), the content is
//! copied over the old file.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use wunderblock_settings::private_file;

/// Maximum number of names that are tried for a second file: a killed process may have left some.
const NAMES: u32 = 100;

/// New content of a file, before it replaces the old content. Without [`AtomicFile::replace`], the old content stays.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    /// The second file.
    file: File,
    path: PathBuf,
    /// Whether the second file is beside the target, so that a rename can replace the target.
    is_beside: bool,
    /// The file to replace; a link is resolved.
    target: PathBuf,
}

impl AtomicFile {
    /// Begins new content for a file, whose links must be resolved.
    ///
    /// # Errors
    /// Fails if the file exists and cannot be written, or if it does not exist and cannot be created.
    pub(crate) fn create(target: &Path) -> io::Result<Self> {
        let exists = match target.metadata() {
            Ok(meta) if meta.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            // The permissions of the file count, and not only those of its folder.
            Ok(_) => OpenOptions::new().write(true).open(target).map(|_| true)?,
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let made = match second_file(folder.unwrap_or(Path::new("."))) {
            Ok((file, path)) => Ok((file, path, true)),
            Err(_) if exists => second_file(&std::env::temp_dir()).map(|(file, path)| (file, path, false)),
            Err(error) => Err(error),
        };
        let (file, path, is_beside) = made?;
        Ok(Self { file, path, is_beside, target: target.to_owned() })
    }

    /// Returns whether the target has the same content.
    pub(crate) fn is_same(&mut self) -> io::Result<bool> {
        let old = File::open(&self.target)?;
        if old.metadata()?.len() != self.file.metadata()?.len() {
            return Ok(false);
        }
        self.file.seek(SeekFrom::Start(0))?;
        let mut old = io::BufReader::new(old).bytes();
        for byte in io::BufReader::new(&self.file).bytes() {
            if old.next().transpose()? != Some(byte?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Replaces the content of the target. An existing file keeps its mode and its owner; a new file is readable by its
    /// owner only.
    ///
    /// # Errors
    /// Fails if the content cannot be stored; the target then has its old content.
    pub(crate) fn replace(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let old = self.target.metadata().ok();
        let renames = self.is_beside && old.as_ref().is_none_or(|old| self.takes_after(old));
        match (
            if renames { std::fs::rename(&self.path, &self.target) } else { Err(ErrorKind::Other.into()) },
            old,
        ) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(_)) => self.overwrite(),
            (Err(error), None) => Err(error),
        }
    }

    /// Gives the second file the mode and the owner of the old file. Returns whether that was possible.
    fn takes_after(&self, old: &Metadata) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            let Ok(new) = self.file.metadata() else { return false };
            let is_others = (new.uid(), new.gid()) != (old.uid(), old.gid());
            // A change of the owner removes bits of the mode, so the mode comes last.
            if is_others && fchown(&self.file, Some(old.uid()), Some(old.gid())).is_err() {
                return false;
            }
        }
        self.file.set_permissions(old.permissions()).is_ok()
    }

    /// Copies the content over the target. What the target grows by is written first: on a full disk, only that can
    /// fail, and the old content is then still there.
    fn overwrite(&mut self) -> io::Result<()> {
        let mut target = OpenOptions::new().write(true).open(&self.target)?;
        let (old, new) = (target.metadata()?.len(), self.file.metadata()?.len());
        let mut copy = |from: u64, to: u64| {
            self.file.seek(SeekFrom::Start(from))?;
            target.seek(SeekFrom::Start(from))?;
            io::copy(&mut (&self.file).take(to.saturating_sub(from)), &mut target)?;
            target.sync_all()
        };
        if let Err(error) = copy(old, new) {
            target.set_len(old)?;
            return Err(error);
        }
        copy(0, old.min(new))?;
        target.set_len(new)?;
        target.sync_all()
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After a rename, the path does not exist.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Replaces the content of a file, whose links must be resolved.
///
/// # Errors
/// See [`AtomicFile::create`] and [`AtomicFile::replace`].
pub(crate) fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = AtomicFile::create(target)?;
    new.write_all(bytes)?;
    new.replace()
}

/// Creates a file for new content, with a name that does not depend on the target's, which may have the maximum length.
fn second_file(folder: &Path) -> io::Result<(File, PathBuf)> {
    let mut taken = ErrorKind::AlreadyExists.into();
    for number in 0..NAMES {
        let path = folder.join(format!(".wunderblock-{}-{number}", std::process::id()));
        match private_file().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{read, write};

    /// Replaces a file in a folder in which no second file can be created.
    fn replace_in_place(target: &Path, bytes: &[u8]) {
        let mut new = AtomicFile::create(target).unwrap();
        new.is_beside = false;
        new.write_all(bytes).unwrap();
        new.replace().unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_renamed_over_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let (target, name) = (folder.path().join("target"), folder.path().join("name"));
        write(&target, "old content").unwrap();
        std::fs::hard_link(&target, &name).unwrap();
        for bytes in [&b"new"[..], b"", b"content that is longer than the old one", &[7; 300_000]] {
            replace_in_place(&target, bytes);
            assert!(read(&target).unwrap() == bytes && read(&name).unwrap() == bytes);
        }
        replace(&target, b"renamed").unwrap();
        assert_eq!((read(&target).unwrap(), read(&name).unwrap()), (b"renamed".to_vec(), vec![7; 300_000]));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn content_that_is_dropped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x".repeat(255));
        AtomicFile::create(&target).unwrap().write_all(b"half").unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        replace(&target, b"whole").unwrap();
        assert_eq!(read(&target).unwrap(), b"whole");
        assert_eq!(AtomicFile::create(folder.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
    }
}

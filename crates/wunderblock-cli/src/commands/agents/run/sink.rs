//! The destinations of our own output streams.

use rustix::termios::isatty;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// One of our output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Out,
    Err,
}

impl To {
    pub(super) fn stream(self) -> Box<dyn Write> {
        match self {
            Self::Out => Box::new(std::io::stdout().lock()),
            Self::Err => Box::new(std::io::stderr().lock()),
        }
    }

    /// Calls a function with the stream's file.
    pub(super) fn with<T>(self, look: impl FnOnce(&dyn AsFd) -> T) -> T {
        match self {
            Self::Out => look(&std::io::stdout()),
            Self::Err => look(&std::io::stderr()),
        }
    }

    /// Returns whether the stream is a terminal, which a person can see.
    pub(super) fn is_terminal(self) -> bool {
        self.with(|file| isatty(file.as_fd()))
    }

    /// Returns the device and inode of the stream's file, or `None` if the stream is closed.
    fn file(self) -> Option<(u64, u64)> {
        let file = self.with(|file| file.as_fd().try_clone_to_owned()).ok()?;
        let meta = File::from(file).metadata().ok()?;
        Some((meta.dev(), meta.ino()))
    }

    /// Returns whether both streams go to the same file, so that the order of their output must be kept.
    pub(super) fn are_one() -> bool {
        Self::Out.file().is_some_and(|file| Self::Err.file() == Some(file))
    }
}

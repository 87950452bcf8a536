//! Where our own streams go.

use rustix::termios::isatty;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// One of our streams.
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

    /// Runs something on its file.
    pub(super) fn with<T>(self, look: impl FnOnce(&dyn AsFd) -> T) -> T {
        match self {
            Self::Out => look(&std::io::stdout()),
            Self::Err => look(&std::io::stderr()),
        }
    }

    /// Whether a person looks at it.
    pub(super) fn is_terminal(self) -> bool {
        self.with(|file| isatty(file.as_fd()))
    }

    /// The file behind it: device and number. None where it is closed.
    fn file(self) -> Option<(u64, u64)> {
        let file = self.with(|file| file.as_fd().try_clone_to_owned()).ok()?;
        let meta = File::from(file).metadata().ok()?;
        Some((meta.dev(), meta.ino()))
    }

    /// Whether both streams go to the same file: then their order is kept.
    pub(super) fn are_one() -> bool {
        Self::Out.file().is_some_and(|file| Self::Err.file() == Some(file))
    }
}

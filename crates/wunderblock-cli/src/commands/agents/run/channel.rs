//! One stream of a running command: its output is spooled, held in memory, and shown in the way that suits its
//! reader.

use super::sink::To;
use crate::commands::agents::reduce::MAX_BYTES;
use crate::drawing::terminal::without_colour;
use rustix::termios::isatty;
use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;
use wunderblock_settings::spool::{Spool, SpoolHead};

/// Way in which a command's output reaches its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Shown as it comes, because a person reads it on a terminal.
    Through,
    /// Shortened at the end, but the first lines are shown earlier if the command is slow.
    Shortened,
    /// Shortened at the end.
    AtEnd,
}

/// Time after which a running command's first lines are shown. Most commands end sooner, and lines that were shown
/// can no longer be shortened.
pub(super) const SLOW: Duration = Duration::from_secs(1);
/// Maximum number of first lines shown.
const FIRST_LINES: usize = 10;
/// Maximum length of the first lines, in bytes.
const FIRST_BYTES: usize = 2_000;

/// Length in bytes of an output whose first lines are shown although the command is not slow.
const MUCH: usize = 8 << 20;

/// Minimum length in bytes of an output that is shortened.
const LARGE: usize = 512;

/// A stream of a command.
pub(super) struct Channel {
    /// Our end of the stream; `None` after its end.
    pub(super) from: Option<OwnedFd>,
    pub(super) to: To,
    pub(super) way: Way,
    spool: Spooling,
    held: Vec<u8>,
    /// Number of bytes received, including those that are not held.
    all: u64,
    /// Length in bytes of the first lines that were shown.
    shown: usize,
    buffer: Vec<u8>,
    /// Set if the stream is a terminal.
    returns: Option<Returns>,
    /// Whether the reader of our output has gone.
    unread: bool,
}

/// Undoes the line ends of a terminal, which writes `\r\n` for each `\n` of a command.
#[derive(Debug, Default)]
struct Returns {
    /// Whether a `\r` is held back until the next byte is known.
    is_held: bool,
}

impl Returns {
    fn undo(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut undone = Vec::with_capacity(bytes.len() + 1);
        for &byte in bytes {
            if std::mem::take(&mut self.is_held) && byte != b'\n' {
                undone.push(b'\r');
            }
            self.is_held = byte == b'\r';
            if !self.is_held {
                undone.push(byte);
            }
        }
        undone
    }
}

/// The spool file that receives the output as it comes.
enum Spooling {
    /// No output has arrived yet, so there is no file.
    Ready(PathBuf, SpoolHead),
    Begun(Spool),
    /// There is no file, because it could not be created or the output is too long to be stored.
    Off,
}

/// Output of a command on one stream.
pub(super) struct Written {
    pub(super) to: To,
    pub(super) way: Way,
    /// The bytes; `None` if there were too many to store, so that they were passed on unchanged.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) shown: usize,
    /// Whether nobody reads what is not shown yet.
    pub(super) unread: bool,
    /// Spool file with the bytes, until they are stored in the ledger.
    pub(super) spool: Option<Spool>,
}

impl Channel {
    /// Creates the channel. Without a place for a spool file, the output is only in memory until it is stored.
    pub(super) fn new(from: OwnedFd, to: To, way: Way, spool: Option<(PathBuf, SpoolHead)>) -> Self {
        let spool = spool.map_or(Spooling::Off, |(db, head)| Spooling::Ready(db, head));
        let buffer = vec![0; 64 << 10];
        let returns = isatty(&from).then(Returns::default);
        Self {
            from: Some(from),
            to,
            way,
            spool,
            held: Vec::new(),
            all: 0,
            shown: 0,
            buffer,
            returns,
            unread: false,
        }
    }

    /// Returns the number of bytes received so far.
    pub(super) fn received(&self) -> u64 {
        self.all
    }

    /// Returns whether the output is too long to be held, and is passed on unchanged.
    pub(super) fn passes(&self) -> bool {
        self.all > MAX_BYTES
    }

    /// Ends the stream, because nobody reads our output any more. The command notices at its next write, as without
    /// `run`.
    pub(super) fn close(&mut self) {
        self.unread = true;
        self.from = None;
    }

    /// Reads the available output. The stream ends when the command closes it, or when our reader is gone.
    pub(super) fn take(&mut self) -> std::io::Result<()> {
        let Some(from) = &self.from else { return Ok(()) };
        let count = match rustix::io::read(from, &mut self.buffer) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(()),
            // All processes have closed their end of the terminal.
            Err(rustix::io::Errno::IO) => 0,
            Err(error) => return Err(error.into()),
        };
        let new = self.buffer.get(..count).unwrap_or_default();
        if new.is_empty() {
            self.from = None;
            return Ok(());
        }
        let passed = self.passes();
        self.all += count as u64;
        if self.all > MAX_BYTES {
            if let Spooling::Begun(spool) = std::mem::replace(&mut self.spool, Spooling::Off) {
                spool.remove();
            }
            let older = std::mem::take(&mut self.held);
            let unseen = if self.way == Way::Through { &[] } else { older.get(self.shown..).unwrap_or(&[]) };
            let gone = !passed && !self.to.write(unseen)?;
            if gone || !self.to.write(new)? {
                self.close();
            }
            return Ok(());
        }
        let is_large = |bytes: usize| bytes >= LARGE && self.way != Way::Through;
        if is_large(self.held.len() + count) && !is_large(self.held.len()) {
            // Loads the reduction's tables on a separate thread before they are needed: loading takes 2 ms.
            std::thread::spawn(|| wunderblock_reduce::detect(&"warning: 1\n".repeat(64)));
        }
        let written = match &mut self.returns {
            Some(returns) => Cow::Owned(returns.undo(new)),
            None => Cow::Borrowed(new),
        };
        self.held.extend_from_slice(&written);
        self.spool.append(&written);
        if self.way == Way::Through && !self.to.write(new)? {
            self.close();
        }
        // A reader that wants only the first lines, as `head` does, must not wait until the memory is full.
        if self.held.len() >= MUCH { self.show_first() } else { Ok(()) }
    }

    /// Shows the first whole lines once, if they are safe to show early. Lines that are not UTF-8, or might be taken
    /// for a mark or a terminal control, are held back until the end of the output.
    pub(super) fn show_first(&mut self) -> std::io::Result<()> {
        if self.way != Way::Shortened || self.shown > 0 || self.passes() {
            return Ok(());
        }
        let first = self.held.get(..self.held.len().min(FIRST_BYTES)).unwrap_or_default();
        let lines = first.split_inclusive(|byte| *byte == b'\n').take(FIRST_LINES);
        let end: usize = lines.filter(|line| line.ends_with(b"\n")).map(<[u8]>::len).sum();
        // The shortened output has no colours, either.
        let text = std::str::from_utf8(first.get(..end).unwrap_or_default()).unwrap_or_default();
        let plain = without_colour(text);
        if plain.contains(['⟨', '\0', '\x1b', '\r']) {
            self.way = Way::AtEnd;
            return Ok(());
        }
        self.shown = text.len();
        if !self.to.write(plain.as_bytes())? {
            self.close();
        }
        Ok(())
    }

    /// Returns the complete output.
    pub(super) fn written(self) -> Written {
        let passes = self.passes();
        let Self { to, way, mut held, shown, spool, returns, unread, .. } = self;
        held.extend(returns.filter(|returns| returns.is_held).map(|_| b'\r'));
        let spool = match spool {
            Spooling::Begun(spool) => Some(spool),
            Spooling::Ready(..) | Spooling::Off => None,
        };
        Written { to, way, bytes: (!passes).then_some(held), shown, unread, spool }
    }
}

impl Spooling {
    fn append(&mut self, bytes: &[u8]) {
        if let Self::Ready(db, head) = self {
            *self = Spool::begin(db, head).map_or(Self::Off, Self::Begun);
        }
        if let Self::Begun(spool) = self {
            spool.append(bytes);
        }
    }
}

impl To {
    /// Writes bytes. Returns whether anyone reads the written bytes. A missing reader is not an error, because the
    /// command's exit code still counts.
    pub(super) fn write(self, bytes: &[u8]) -> std::io::Result<bool> {
        let mut to = self.stream();
        match to.write_all(bytes).and_then(|()| to.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            written => written.map(|()| true),
        }
    }
}

//! One stream of a command at work: what comes is spooled, held, and shown as its reader wants it.

use super::sink::To;
use crate::commands::reduce::MAX_BYTES;
use crate::spool::{Spool, SpoolHead};
use rustix::termios::isatty;
use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

/// How a command's output reaches its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// As it comes: a person reads it on a terminal.
    Through,
    /// Shortened at the end, its first lines as soon as the command is known to be slow.
    Shortened,
    /// Shortened at the end.
    AtEnd,
}

/// A command that works for longer than this shows its first lines: what is shown is not shortened any more, and most
/// commands end sooner.
pub(super) const SLOW: Duration = Duration::from_secs(1);
/// Maximum lines that are shown then.
const FIRST_LINES: usize = 10;
/// Maximum bytes of them.
const FIRST_BYTES: usize = 2_000;

/// Bytes from which on an output is shortened.
const LARGE: usize = 512;

/// A stream of a command.
pub(super) struct Channel {
    /// None: it is at its end.
    pub(super) from: Option<OwnedFd>,
    pub(super) to: To,
    pub(super) way: Way,
    spool: Spooling,
    held: Vec<u8>,
    /// Bytes that came in all.
    all: u64,
    /// Bytes of the first lines that were shown.
    shown: usize,
    buffer: Vec<u8>,
    /// Where it is a terminal.
    returns: Option<Returns>,
}

/// Undoes what a terminal does to lines: it writes `\r\n` for each `\n` of a command.
#[derive(Debug, Default)]
struct Returns {
    /// Whether a `\r` waits for what comes after it.
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

/// Where what comes is written at once.
enum Spooling {
    /// Nothing has come.
    Ready(PathBuf, SpoolHead),
    Begun(Spool),
    /// Not possible here, or more came than is kept.
    Off,
}

/// What a command wrote to a stream.
pub(super) struct Written {
    pub(super) to: To,
    pub(super) way: Way,
    /// None: more came than is kept; it was passed on as it is.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) shown: usize,
    /// The file that has it, until it is kept.
    pub(super) spool: Option<Spool>,
}

impl Channel {
    pub(super) fn new(from: OwnedFd, (to, way): (To, Way), (db, head): (PathBuf, SpoolHead)) -> Self {
        let spool = Spooling::Ready(db, head);
        let buffer = vec![0; 64 << 10];
        let returns = isatty(&from).then(Returns::default);
        Self { from: Some(from), to, way, spool, held: Vec::new(), all: 0, shown: 0, buffer, returns }
    }

    /// Bytes that came so far.
    pub(super) fn received(&self) -> u64 {
        self.all
    }

    /// Whether more came than is held: it passes by.
    pub(super) fn passes(&self) -> bool {
        self.all > MAX_BYTES
    }

    /// Reads what has come. The stream ends where the command has closed it, or its reader has.
    pub(super) fn take(&mut self) -> std::io::Result<()> {
        let Some(from) = &self.from else { return Ok(()) };
        let count = match rustix::io::read(from, &mut self.buffer) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(()),
            // All that had a terminal's end have closed it.
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
                self.from = None;
            }
            return Ok(());
        }
        let is_large = |bytes: usize| bytes >= LARGE && self.way != Way::Through;
        if is_large(self.held.len() + count) && !is_large(self.held.len()) {
            // What tools print is known before it is needed: reading its tables takes 2 ms.
            std::thread::spawn(|| wunderblock_reduce::detect(&"warning: 1\n".repeat(64)));
        }
        let written = match &mut self.returns {
            Some(returns) => Cow::Owned(returns.undo(new)),
            None => Cow::Borrowed(new),
        };
        self.held.extend_from_slice(&written);
        self.spool.append(&written);
        if self.way == Way::Through && !self.to.write(new)? {
            self.from = None;
        }
        Ok(())
    }

    /// Shows the first whole lines, once, where what they are can be seen already: a line that might be taken for a mark,
    /// or is no UTF-8, waits for the end.
    pub(super) fn show_first(&mut self) -> std::io::Result<()> {
        if self.way != Way::Shortened || self.shown > 0 || self.passes() {
            return Ok(());
        }
        let first = self.held.get(..self.held.len().min(FIRST_BYTES)).unwrap_or_default();
        let lines = first.split_inclusive(|byte| *byte == b'\n').take(FIRST_LINES);
        let end: usize = lines.filter(|line| line.ends_with(b"\n")).map(<[u8]>::len).sum();
        let text = std::str::from_utf8(first.get(..end).unwrap_or_default()).unwrap_or_default();
        if text.contains(['⟨', '\0', '\x1b', '\r']) {
            self.way = Way::AtEnd;
            return Ok(());
        }
        self.shown = text.len();
        if !self.to.write(text.as_bytes())? {
            self.from = None;
        }
        Ok(())
    }

    /// What it came to.
    pub(super) fn written(self) -> Written {
        let passes = self.passes();
        let Self { to, way, mut held, shown, spool, returns, .. } = self;
        held.extend(returns.filter(|returns| returns.is_held).map(|_| b'\r'));
        let spool = match spool {
            Spooling::Begun(spool) => Some(spool),
            Spooling::Ready(..) | Spooling::Off => None,
        };
        Written { to, way, bytes: (!passes).then_some(held), shown, spool }
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
    /// Writes. Whether somebody reads it: a reader that has gone is no failure, the command's exit code is still
    /// the answer.
    pub(super) fn write(self, bytes: &[u8]) -> std::io::Result<bool> {
        let mut to = self.stream();
        match to.write_all(bytes).and_then(|()| to.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            written => written.map(|()| true),
        }
    }
}

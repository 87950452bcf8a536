//! Forwards the keyboard to a command on a terminal that replaces ours.
//!
//! Keys are forwarded as they are typed. The command's terminal has the settings that the command gave it, so it
//! echoes, edits lines and turns keys into signals. Meanwhile, our own terminal is in raw mode and does not echo,
//! edit lines or send signals. Our terminal gets its settings back when `run` ends, stops, or moves to the
//! background.

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
use rustix::io::Errno;
use rustix::process::{Pid, getpgrp};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};
use std::os::fd::{AsFd, OwnedFd};

/// Keyboard input for a command.
pub(super) struct Keyboard {
    terminal: OwnedFd,
    /// The original settings of our terminal.
    found: Termios,
    is_raw: bool,
    /// Whether the command's terminal still needs our settings. While `run` is in the background, our terminal has the
    /// settings of a shell's prompt.
    is_new: bool,
    /// Our end of the command's terminal.
    to: OwnedFd,
    /// Keys for which the command's terminal has no room yet.
    waiting: Vec<u8>,
}

/// Result of reading the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Keys,
    /// The key that stops a job (Ctrl-Z), if nothing else can stop the command: no shell would continue the first
    /// group of a session, so the kernel ignores the signal there.
    Stop,
    /// The keyboard or the command's terminal is gone.
    Gone,
}

impl Keyboard {
    /// Opens the keyboard of our terminal for the command's pseudo-terminal. Returns `None` without a terminal.
    pub(super) fn of(to: impl AsFd) -> std::io::Result<Option<Self>> {
        let own = open("/dev/tty", OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
        let terminal = match own {
            Ok(terminal) => terminal,
            Err(_) if isatty(std::io::stdin()) => std::io::stdin().as_fd().try_clone_to_owned()?,
            Err(_) => return Ok(None),
        };
        let to = to.as_fd().try_clone_to_owned()?;
        // A command that does not read its input must not block the reading of its output.
        fcntl_setfl(&to, fcntl_getfl(&to)? | OFlags::NONBLOCK)?;
        let found = tcgetattr(&terminal)?;
        let is_new = !is_foreground(&terminal);
        Ok(Some(Self { terminal, found, is_raw: false, is_new, to, waiting: Vec::new() }))
    }

    /// Takes the keyboard if `run` is in the foreground. Returns whether it is.
    pub(super) fn attend(&mut self) -> bool {
        let is_ours = is_foreground(&self.terminal);
        if is_ours && !self.is_raw {
            if let Ok(found) = tcgetattr(&self.terminal) {
                self.found = found;
            }
            if std::mem::take(&mut self.is_new) {
                let _ = tcsetattr(&self.to, OptionalActions::Now, &self.found);
            }
            let mut raw = self.found.clone();
            raw.make_raw();
            let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &raw);
        }
        self.is_raw = is_ours;
        is_ours
    }

    /// Restores the settings of our terminal.
    pub(super) fn release(&mut self) {
        if std::mem::take(&mut self.is_raw) {
            let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &self.found);
        }
    }

    /// Forgets the raw mode after `run` was stopped, because another program may have changed the settings in the
    /// meantime.
    pub(super) fn continued(&mut self) {
        self.is_raw = false;
    }

    /// Returns the event to wait for: room for waiting keys if there are any, otherwise new keys.
    pub(super) fn awaited(&self) -> Option<PollFd<'_>> {
        if self.waiting.is_empty() {
            self.is_raw.then(|| PollFd::new(&self.terminal, PollFlags::IN))
        } else {
            Some(PollFd::new(&self.to, PollFlags::OUT))
        }
    }

    /// Forwards typed keys to the command. `leader` is the command's process, the first of its session.
    pub(super) fn take(&mut self, leader: Option<Pid>) -> std::io::Result<Typed> {
        let mut typed = Typed::Keys;
        if self.waiting.is_empty() {
            let mut keys = [0; 1024];
            let count = match rustix::io::read(&self.terminal, &mut keys) {
                Ok(0) | Err(Errno::IO) => return Ok(Typed::Gone),
                Ok(count) => count,
                Err(Errno::INTR | Errno::AGAIN) => return Ok(Typed::Keys),
                Err(error) => return Err(error.into()),
            };
            self.waiting.extend(keys.iter().take(count));
            if let Some(at) = self.stop(leader).and_then(|key| self.waiting.iter().position(|k| *k == key)) {
                self.waiting.remove(at);
                typed = Typed::Stop;
            }
        }
        match rustix::io::write(&self.to, &self.waiting) {
            Ok(count) => drop(self.waiting.drain(..count)),
            Err(Errno::INTR | Errno::AGAIN) => {}
            // The command and its terminal have ended.
            Err(_) => return Ok(Typed::Gone),
        }
        Ok(typed)
    }

    /// Returns the key that stops the command, if one is set and the command's own group is in the foreground.
    fn stop(&self, leader: Option<Pid>) -> Option<u8> {
        let settings = tcgetattr(&self.to).ok()?;
        let is_alone = tcgetpgrp(&self.to).ok() == leader;
        let is_key = settings.local_modes.contains(LocalModes::ISIG);
        (is_alone && is_key).then(|| settings.special_codes[SpecialCodeIndex::VSUSP])
    }
}

/// Returns whether the terminal's keys go to us. Without process groups, as in some containers, the terminal's keys
/// always go to us.
fn is_foreground(terminal: &OwnedFd) -> bool {
    tcgetpgrp(terminal).map_or(true, |group| group == getpgrp())
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.release();
    }
}

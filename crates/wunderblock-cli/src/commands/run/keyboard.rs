//! The keyboard of a person, for a command on a terminal that stands in for ours.
//!
//! Keys go on as they are typed: the stand-in has the settings that the command gave it, so it echoes, edits lines and
//! turns keys into signals. Ours does nothing of that meanwhile (raw mode), and is as it was when `run` ends, stops or is
//! in the background.

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
use rustix::io::Errno;
use rustix::process::{Pid, getpgrp};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};
use std::os::fd::{AsFd, OwnedFd};

/// Keys on their way to a command.
pub(super) struct Keyboard {
    terminal: OwnedFd,
    /// The settings of our terminal, as they were found.
    found: Termios,
    is_raw: bool,
    /// Whether the command's terminal has no settings to begin with: in the background ours has those of a shell's prompt.
    is_new: bool,
    /// Our end of the command's terminal.
    to: OwnedFd,
    /// Keys that the command's terminal has no room for yet.
    waiting: Vec<u8>,
}

/// What came from the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Keys,
    /// The key that stops a job (Ctrl-Z), where nobody behind the command's terminal can stop it: a session's first
    /// group has no shell that would continue it, so the kernel ignores the signal.
    Stop,
    /// There is no keyboard any more.
    Gone,
}

impl Keyboard {
    /// The keyboard of our terminal, for the command behind this end of a stand-in. None where there is none.
    pub(super) fn of(to: impl AsFd) -> std::io::Result<Option<Self>> {
        let own = open("/dev/tty", OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
        let terminal = match own {
            Ok(terminal) => terminal,
            Err(_) if isatty(std::io::stdin()) => std::io::stdin().as_fd().try_clone_to_owned()?,
            Err(_) => return Ok(None),
        };
        let to = to.as_fd().try_clone_to_owned()?;
        // A command that does not read must not hold up what it writes.
        fcntl_setfl(&to, fcntl_getfl(&to)? | OFlags::NONBLOCK)?;
        let found = tcgetattr(&terminal)?;
        let is_new = !is_foreground(&terminal);
        Ok(Some(Self { terminal, found, is_raw: false, is_new, to, waiting: Vec::new() }))
    }

    /// Takes the keyboard while `run` is in the foreground. Whether it is.
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

    /// Gives the terminal back as it was.
    pub(super) fn release(&mut self) {
        if std::mem::take(&mut self.is_raw) {
            let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &self.found);
        }
    }

    /// The terminal may have other settings now: somebody else had it while `run` was stopped.
    pub(super) fn continued(&mut self) {
        self.is_raw = false;
    }

    /// What to wait for: room for keys that wait, else keys.
    pub(super) fn awaited(&self) -> Option<PollFd<'_>> {
        if self.waiting.is_empty() {
            self.is_raw.then(|| PollFd::new(&self.terminal, PollFlags::IN))
        } else {
            Some(PollFd::new(&self.to, PollFlags::OUT))
        }
    }

    /// Passes on what was typed to a command, the first process of its session.
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
            // The command has ended, and its terminal with it.
            Err(_) => return Ok(Typed::Gone),
        }
        Ok(typed)
    }

    /// The key that stops the command, if it is one now and the command's own group is in the foreground.
    fn stop(&self, leader: Option<Pid>) -> Option<u8> {
        let settings = tcgetattr(&self.to).ok()?;
        let is_alone = tcgetpgrp(&self.to).ok() == leader;
        let is_key = settings.local_modes.contains(LocalModes::ISIG);
        (is_alone && is_key).then(|| settings.special_codes[SpecialCodeIndex::VSUSP])
    }
}

/// Whether we are what a terminal's keys are for. Where it has no groups, as in a container, we are.
fn is_foreground(terminal: &OwnedFd) -> bool {
    tcgetpgrp(terminal).map_or(true, |group| group == getpgrp())
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.release();
    }
}

//! A pseudo-terminal that replaces our terminal for the command. The command's output passes through the
//! pseudo-terminal and is stored.
//!
//! The command is the first process of a session on this terminal, so it has everything a terminal offers: colours
//! and columns, `/dev/tty`, keys and their signals. No safe function can open a session between the fork and the
//! start of a command. Therefore `run` starts itself with the hidden command `on-terminal`, opens the session there,
//! and becomes the command.

use super::sink::To;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Both ends of a pseudo-terminal.
pub(super) struct StandIn {
    /// Our end, which reads what the command writes.
    pub(super) reader: OwnedFd,
    /// The command's end.
    pub(super) command: OwnedFd,
}

impl StandIn {
    /// Creates a pseudo-terminal with the settings and the size of a terminal.
    pub(super) fn of(terminal: impl AsFd) -> std::io::Result<Self> {
        let reader = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&reader, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&reader)?;
        unlockpt(&reader)?;
        let name = ptsname(&reader, Vec::new())?;
        let command = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        tcsetattr(&command, OptionalActions::Now, &tcgetattr(&terminal)?)?;
        resize(&reader, terminal);
        Ok(Self { reader, command })
    }
}

/// Gives a pseudo-terminal the size of a terminal. If the terminal has no size, nothing changes.
pub(super) fn resize(reader: impl AsFd, terminal: impl AsFd) {
    if let Ok(size) = tcgetwinsize(terminal) {
        let _ = tcsetwinsize(reader, size);
    }
}

/// Opens a session with one of our streams as its terminal, and becomes the command. Returns the error of the step
/// that failed.
pub(super) fn open_session(mut command: Command) -> std::io::Error {
    let opened = setsid().and_then(|_| {
        let terminal = [To::Out, To::Err].into_iter().find(|to| to.is_terminal());
        terminal.map_or(Ok(()), |to| to.with(|file| ioctl_tiocsctty(file)))
    });
    match opened {
        Ok(()) => command.exec(),
        Err(error) => error.into(),
    }
}

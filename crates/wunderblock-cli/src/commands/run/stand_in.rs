//! A terminal for the command in the place of ours: what it writes there passes through and is kept.
//!
//! The command is the first process of a session on it, so it finds all of a terminal: colours and columns, `/dev/tty`,
//! keys and their signals. No safe call opens a session between the fork and the start of a command, so `run` starts
//! itself (`on-terminal`, which is not listed), opens the session there, and becomes the command.

use super::sink::To;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Both ends of a terminal.
pub(super) struct StandIn {
    /// What is written to it is read here.
    pub(super) reader: OwnedFd,
    /// The command's end.
    pub(super) command: OwnedFd,
}

impl StandIn {
    /// One with the settings and the size of a terminal.
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

/// Gives a stand-in the size of a terminal. A terminal without a size leaves it as it is.
pub(super) fn resize(reader: impl AsFd, terminal: impl AsFd) {
    if let Ok(size) = tcgetwinsize(terminal) {
        let _ = tcsetwinsize(reader, size);
    }
}

/// Takes one of our streams as the terminal of a session of our own, and becomes the command. The error of either.
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

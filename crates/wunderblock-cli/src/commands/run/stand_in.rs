//! A terminal for the command in the place of ours: what it writes there passes through and is kept.
//!
//! The command still finds a terminal, so it colours and counts columns as without `run`. Only its output goes there: it
//! keeps our terminal as its own, with the keyboard, its signals and `/dev/tty`. Nothing is changed on the way: the
//! stand-in does no output processing, ours does.

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use std::os::fd::{AsFd, OwnedFd};

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
        let mut settings = tcgetattr(&terminal)?;
        settings.output_modes.remove(OutputModes::OPOST);
        tcsetattr(&command, OptionalActions::Now, &settings)?;
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

//! Signals during a run: they are for the command, and `run` survives them to show the command's output.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::flag;
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Origin;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Signals that would end `run`, and that a command may handle.
const PASSED: [i32; 6] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];

/// Time for which a signal that ended the command may still be on its way to us.
const ON_ITS_WAY: Duration = Duration::from_millis(100);

/// The signals that reach `run`, readable as soon as one arrives.
///
/// Signals of the keyboard (`INT`, `QUIT`) reach the command without us: the kernel sends them to the whole group, or
/// the key is typed into the command's own terminal. A signal sent by a process may have reached `run` alone, so it
/// is passed on. A second `TERM` does no harm to a command that received the first one.
pub(super) struct Signals {
    over: Arc<AtomicBool>,
    delivery: SignalDelivery<UnixStream, WithOrigin>,
}

/// Meaning of a signal for `run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The command may have ended.
    Child,
    /// `run` was stopped and continues.
    Continued,
    /// The terminal's size has changed.
    Resized,
    /// The command must receive this signal.
    PassOn(i32),
}

impl Signals {
    /// Handles all these signals from now on, so that none of them ends `run`. A command started later is not
    /// affected, because a new program resets handled signals (unlike ignored ones) to their defaults.
    pub(super) fn heed() -> std::io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        for signal in PASSED {
            flag::register_conditional_default(signal, Arc::clone(&over))?;
        }
        let (read, write) = UnixStream::pair()?;
        let all = PASSED.iter().copied().chain([SIGCHLD, SIGCONT, SIGWINCH]);
        let delivery = SignalDelivery::with_pipe(read, write, WithOrigin::default(), all)?;
        Ok(Self { over, delivery })
    }

    /// Returns the signals received since the last call.
    pub(super) fn pending(&mut self) -> impl Iterator<Item = Asked> + use<> {
        self.delivery.pending().filter_map(|origin: Origin| match origin.signal {
            SIGCHLD => Some(Asked::Child),
            SIGCONT => Some(Asked::Continued),
            SIGWINCH => Some(Asked::Resized),
            signal => origin.process.is_some().then_some(Asked::PassOn(signal)),
        })
    }

    /// Lets the next signal end `run`, starting a moment after the end of the command.
    ///
    /// A signal that ended the command may have been sent to the whole group and may still be on its way to one of
    /// our idle threads. Without the delay, under load, one in several hundred runs was ended by the signal and
    /// showed no output.
    pub(super) fn end(&self) {
        let over = Arc::clone(&self.over);
        std::thread::spawn(move || {
            std::thread::sleep(ON_ITS_WAY);
            over.store(true, Ordering::SeqCst);
        });
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }
}

/// Sends a signal to a process, or to the group that it leads. A process that has already ended is ignored.
pub(super) fn send(pid: u32, is_group: bool, signal: i32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) {
        let _ = if is_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
    }
}

//! Signals while a command works: they are for the command. What it wrote before it ended by one is still shown.

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

/// Signals that would end `run`, and that a command may wait for.
const PASSED: [i32; 6] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];

/// How long a signal that the command ended by may be on its way to us.
const ON_ITS_WAY: Duration = Duration::from_millis(100);

/// The signals that reach `run`, readable as soon as one has come.
///
/// What a keyboard sends (`INT`, `QUIT`) reaches the command by itself: the kernel sends it to all of the group, or it is
/// typed into the command's own terminal. What a process sends may have reached `run` alone, so it is passed on; a command that gets `TERM` twice has got it.
pub(super) struct Signals {
    over: Arc<AtomicBool>,
    delivery: SignalDelivery<UnixStream, WithOrigin>,
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The command may have ended.
    Child,
    /// We were stopped, and go on.
    Continued,
    /// The terminal has another size.
    Resized,
    /// The command gets this signal.
    PassOn(i32),
}

impl Signals {
    /// From here on none of them ends `run`. A command that is started after this has none of it: what is handled, not
    /// ignored, is as it was in a new program.
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

    /// What has come since the last call.
    pub(super) fn pending(&mut self) -> impl Iterator<Item = Asked> + use<> {
        self.delivery.pending().filter_map(|origin: Origin| match origin.signal {
            SIGCHLD => Some(Asked::Child),
            SIGCONT => Some(Asked::Continued),
            SIGWINCH => Some(Asked::Resized),
            signal => origin.process.is_some().then_some(Asked::PassOn(signal)),
        })
    }

    /// The command has ended: from a moment later on the next of them ends `run`.
    ///
    /// The one that the command ended by, sent to all of the group, may still be on its way to a thread of ours that is
    /// not at work: under load, one of some hundred runs was ended by it, and nothing of its output was shown.
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

/// Sends a process, or the group it is the first of, a signal. One that has ended meanwhile needs none.
pub(super) fn send(pid: u32, is_group: bool, signal: i32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) {
        let _ = if is_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
    }
}

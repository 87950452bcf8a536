//! Signals while a command works: they are for the command. What it wrote before it ended by one is still shown.

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals as Waiting};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that would end us.
///
/// A keyboard's (`INT`, `QUIT`) reach the command by themselves. Those that are sent to one process (`TERM`, `HUP`) may
/// have reached us alone, so they are passed on; a command that gets them twice has got them.
pub(super) struct Signals {
    over: Arc<AtomicBool>,
    waiting: Handle,
    passed: Option<Waiting>,
}

impl Signals {
    /// From here on none of them ends us. A command that is started after this has none of it: what is handled, not
    /// ignored, is as it was in a new program.
    pub(super) fn heed() -> std::io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] {
            flag::register_conditional_default(signal, Arc::clone(&over))?;
        }
        let passed = Waiting::new([SIGTERM, SIGHUP])?;
        Ok(Self { over, waiting: passed.handle(), passed: Some(passed) })
    }

    /// Passes on to a process what it may not have got.
    pub(super) fn pass_on(&mut self, pid: u32) {
        let Some(mut passed) = self.passed.take() else { return };
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
        std::thread::spawn(move || {
            for signal in passed.forever() {
                let _ = kill_process(pid, if signal == SIGTERM { Signal::TERM } else { Signal::HUP });
            }
        });
    }

    /// The command has ended: the next of them ends us.
    pub(super) fn end(self) {
        self.over.store(true, Ordering::SeqCst);
        self.waiting.close();
    }
}

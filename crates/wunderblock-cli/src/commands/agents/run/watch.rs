//! A running command: waits for its output, its signals and its end in one place.

use super::channel::{Channel, SLOW};
use super::keyboard::{Keyboard, Typed};
use super::signals::{Asked, Signals, send};
use super::sink::To;
use super::stand_in::resize;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_current_process_group};
use signal_hook::consts::{SIGCONT, SIGINT, SIGQUIT, SIGSTOP};
use std::io::Write;
use std::os::fd::AsFd;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Time to wait for remaining output after the command's end. A process that the command started may hold the stream
/// much longer, but callers of the command do not wait for that.
const GRACE: Duration = Duration::from_secs(3);
/// Interval at which the remaining output is checked.
const STEP: Duration = Duration::from_millis(50);
/// Maximum number of bytes in a pipe with the largest size that needs no privileges.
const PIPE_BYTES: u64 = 1 << 20;

/// A running command.
pub(super) struct Watched {
    pub(super) child: Child,
    pub(super) channels: Vec<Channel>,
    pub(super) signals: Signals,
    /// Whether the command has its own session on a terminal that replaces ours, so that signals go to its group.
    pub(super) has_session: bool,
    pub(super) keyboard: Option<Keyboard>,
    /// Interval of the messages on stderr that say the command is still running.
    pub(super) heartbeat: Option<Duration>,
    /// Signals to send to the command unless it ends earlier, each with its time.
    pub(super) held: Vec<(Instant, i32)>,
}

/// Delay before an interrupt is passed on to the command. If the interrupt was sent to the whole group, the command
/// has already received it. Most commands end immediately, and a second interrupt would cut their cleanup short.
const INTERRUPT_DELAY: Duration = Duration::from_millis(200);

/// Time for which the command stays stopped after the stop key. Our own group stops at the same time, so the delay is
/// not noticed. If no shell would continue our group, the kernel ignores the key, and so does `run`.
const RESUME_DELAY: Duration = Duration::from_millis(100);
/// Interval at which a run in the background checks whether it has the keyboard, because no event reports that.
const AWAY: Duration = Duration::from_secs(1);

/// The end of a command: its status and its streams.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) channels: Vec<Channel>,
    /// Whether a process that the command started still holds one of its streams.
    pub(super) left: bool,
}

impl Watched {
    /// Waits for the command and its output. A stream whose reader is gone is closed, so that the command notices at
    /// its next write, as it would without `run`.
    pub(super) fn end(mut self) -> std::io::Result<Ended> {
        let begun = Instant::now();
        let mut pulse = self.heartbeat.map(|every| Pulse { every, next: every, said: 0, at: Duration::ZERO });
        let mut over: Option<(ExitStatus, Leftover)> = None;
        loop {
            if over.is_none()
                && let Some(status) = self.child.try_wait()?
            {
                self.signals.end();
                over = Some((status, Leftover::of(&self.channels)));
            }
            if let Some((status, leftover)) = &mut over {
                let closed = self.channels.iter().all(|channel| channel.from.is_none());
                let left = !closed && leftover.is_idle(&self.channels);
                if closed || left {
                    return Ok(Ended { status: *status, channels: self.channels, left });
                }
            }
            let worked = begun.elapsed();
            let pulse_at = pulse.as_ref().map(|pulse| pulse.next);
            let first_at = (worked < SLOW).then_some(SLOW);
            let held_at = self.held.iter().map(|(due, _)| due.saturating_duration_since(begun));
            let next = held_at.chain(pulse_at).chain(first_at).min().map(|next| next.saturating_sub(worked));
            let is_away = self.keyboard.as_mut().is_some_and(|keyboard| !keyboard.attend());
            let next = next.into_iter().chain(is_away.then_some(AWAY)).min();
            self.wait(if over.is_some() { Some(STEP) } else { next })?;
            if over.is_none() {
                self.send_due();
            }
            if begun.elapsed() >= SLOW && over.is_none() {
                self.channels.iter_mut().try_for_each(Channel::show_first)?;
            }
            if let Some(pulse) = &mut pulse {
                pulse.beat(begun.elapsed(), &self.channels);
            }
        }
    }

    /// Sends the due signals, unless the command has ended.
    fn send_due(&mut self) {
        let now = Instant::now();
        if let Ok(None) = self.child.try_wait() {
            self.held.iter().filter(|(due, _)| *due <= now).for_each(|(_, signal)| self.send(*signal));
        }
        self.held.retain(|(due, _)| *due > now);
    }

    fn send(&self, signal: i32) {
        send(self.child.id(), self.has_session, signal);
    }

    /// Forwards typed keys. The stop key stops the command and then our group, so that our shell takes the terminal.
    /// When the shell continues us, the command continues too.
    fn take_keys(&mut self) -> std::io::Result<()> {
        let Some(keyboard) = &mut self.keyboard else { return Ok(()) };
        match keyboard.take(i32::try_from(self.child.id()).ok().and_then(Pid::from_raw))? {
            Typed::Keys => {}
            Typed::Gone => self.keyboard = None,
            Typed::Stop => {
                keyboard.release();
                self.send(SIGSTOP);
                self.held.push((Instant::now() + RESUME_DELAY, SIGCONT));
                kill_current_process_group(Signal::TSTP)?;
            }
        }
        Ok(())
    }

    /// Waits for an event, up to a maximum time, and handles it.
    fn wait(&mut self, at_most: Option<Duration>) -> std::io::Result<()> {
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let (mut readable, mut gone) = (Vec::new(), Vec::new());
        let (out, err) = (std::io::stdout(), std::io::stderr());
        let is_typed;
        {
            let mut files = vec![PollFd::new(&self.signals, PollFlags::IN)];
            let open = || self.channels.iter().enumerate().filter(|(_, channel)| channel.from.is_some());
            for (_, channel) in open() {
                if let Some(from) = &channel.from {
                    files.push(PollFd::new(from, PollFlags::IN));
                }
                let to = if channel.to == To::Out { out.as_fd() } else { err.as_fd() };
                files.push(PollFd::from_borrowed_fd(to, PollFlags::empty()));
            }
            let keys = self.keyboard.as_ref().and_then(Keyboard::awaited);
            let streams = files.len();
            files.extend(keys);
            match poll(&mut files, timeout.as_ref()) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            is_typed = files.get(streams).is_some_and(|keys| !keys.revents().is_empty());
            for ((at, _), pair) in open().zip(files.get(1..streams).unwrap_or_default().chunks(2)) {
                let events = |end: usize| pair.get(end).map_or(PollFlags::empty(), PollFd::revents);
                if events(1).intersects(PollFlags::ERR | PollFlags::HUP) {
                    gone.push(at);
                } else if !events(0).is_empty() {
                    readable.push(at);
                }
            }
        }
        for asked in self.signals.pending() {
            match asked {
                Asked::Child => {}
                Asked::PassOn(signal @ (SIGINT | SIGQUIT)) if !self.has_session => {
                    self.held.push((Instant::now() + INTERRUPT_DELAY, signal));
                }
                Asked::PassOn(signal) => send(self.child.id(), self.has_session, signal),
                Asked::Continued => self.keyboard.iter_mut().for_each(Keyboard::continued),
                Asked::Resized => {
                    for channel in &self.channels {
                        if let Some(from) = &channel.from {
                            channel.to.with(|terminal| resize(from, terminal));
                        }
                    }
                }
            }
        }
        for at in gone {
            self.channels.get_mut(at).map(Channel::close);
        }
        for at in readable {
            self.channels.get_mut(at).map_or(Ok(()), Channel::take)?;
        }
        if is_typed { self.take_keys() } else { Ok(()) }
    }
}

/// Output that arrives after the command's end.
struct Leftover {
    since: Instant,
    looked: Instant,
    /// Number of bytes received when the command ended, and at the last check.
    then: u64,
    before: u64,
}

impl Leftover {
    fn of(channels: &[Channel]) -> Self {
        let now = Instant::now();
        let all = received(channels);
        Self { since: now, looked: now, then: all, before: all }
    }

    /// Returns whether output has stopped although the stream is still open. `run` always waits for output that is
    /// passed on unchanged.
    fn is_idle(&mut self, channels: &[Channel]) -> bool {
        if self.looked.elapsed() < STEP {
            return false;
        }
        let all = received(channels);
        let quiet = all == self.before || all - self.then > PIPE_BYTES;
        (self.looked, self.before) = (Instant::now(), all);
        self.since.elapsed() >= GRACE && quiet && !channels.iter().any(Channel::passes)
    }
}

fn received(channels: &[Channel]) -> u64 {
    channels.iter().map(Channel::received).sum()
}

/// Messages that say from time to time that the command is still running.
struct Pulse {
    every: Duration,
    next: Duration,
    /// Number of bytes received at the last change, and the time of that change.
    said: u64,
    at: Duration,
}

impl Pulse {
    fn beat(&mut self, worked: Duration, channels: &[Channel]) {
        let all = received(channels);
        if all > self.said {
            (self.said, self.at) = (all, worked);
        }
        if worked < self.next {
            return;
        }
        self.next = worked + self.every;
        let (worked, quiet) = (worked.as_secs(), (worked - self.at).as_secs());
        let last = if all == 0 { String::new() } else { format!(", the last {quiet} s ago") };
        // A terminal in raw mode does not return to the start of a line by itself.
        let end = if To::Err.is_terminal() { "\r\n" } else { "\n" };
        let _ = write!(
            std::io::stderr().lock(),
            "wunderblock: still running after {worked} s: {all} bytes{last}{end}"
        );
    }
}

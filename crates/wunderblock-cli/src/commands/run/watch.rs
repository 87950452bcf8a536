//! A command at work: its streams, its signals and its end, waited for in one place.

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

/// Something that a command started may hold its stream long after it has ended. Callers of the command do not
/// wait for that; they wait this long for what is still on its way.
const GRACE: Duration = Duration::from_secs(3);
/// How often it is looked at.
const STEP: Duration = Duration::from_millis(50);
/// What a pipe holds at most, by the largest setting that needs no rights.
const PIPE_BYTES: u64 = 1 << 20;

/// A command at work.
pub(super) struct Watched {
    pub(super) child: Child,
    pub(super) channels: Vec<Channel>,
    pub(super) signals: Signals,
    /// Whether the command has a session of its own, on a terminal in the place of ours: it is reached as a group then.
    pub(super) has_session: bool,
    pub(super) keyboard: Option<Keyboard>,
    /// How often a word on stderr says that it lives.
    pub(super) heartbeat: Option<Duration>,
    /// Signals that the command gets unless it ends before, and when.
    pub(super) held: Vec<(Instant, i32)>,
}

/// How long an interrupt waits. One that was sent to the whole group has reached the command already: most end at once,
/// and a second one would break off their cleaning up.
const INTERRUPT_DELAY: Duration = Duration::from_millis(200);

/// How long a command stays stopped that a key stopped. Our own group stops at the same time, so this passes unseen; where
/// no shell would continue our group, the kernel ignores the key, and so do we.
const RESUME_DELAY: Duration = Duration::from_millis(100);
/// How often a run in the background looks whether it has the keyboard: nothing tells it.
const AWAY: Duration = Duration::from_secs(1);

/// How a command ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) channels: Vec<Channel>,
    /// Whether something it started still holds a stream of its.
    pub(super) left: bool,
}

impl Watched {
    /// Waits for the command, and for what it writes. A stream whose reader has gone is closed: the command learns of it
    /// by its own next write, as without `run`.
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

    /// Passes on what the command did not end by.
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

    /// Passes on what was typed. The key that stops a job stops the command, and then us, so that our shell learns of it
    /// and has the terminal; when that continues us, the command goes on, too.
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

    /// Waits until something happens, at most so long, and takes it.
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
            self.channels.get_mut(at).map(|channel| channel.from.take());
        }
        for at in readable {
            self.channels.get_mut(at).map_or(Ok(()), Channel::take)?;
        }
        if is_typed { self.take_keys() } else { Ok(()) }
    }
}

/// What still comes after the command's end.
struct Leftover {
    since: Instant,
    looked: Instant,
    /// Bytes when the command ended, and when it was looked last.
    then: u64,
    before: u64,
}

impl Leftover {
    fn of(channels: &[Channel]) -> Self {
        let now = Instant::now();
        let all = received(channels);
        Self { since: now, looked: now, then: all, before: all }
    }

    /// Whether nothing comes any more, though the stream is held. What passes by goes as fast as somebody takes it.
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

/// A word now and then that a command lives.
struct Pulse {
    every: Duration,
    next: Duration,
    /// Bytes that had come when it was last said, and when the last of them came.
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
        // A terminal whose keyboard we have does not return to the beginning of a line by itself.
        let end = if To::Err.is_terminal() { "\r\n" } else { "\n" };
        let _ = write!(
            std::io::stderr().lock(),
            "wunderblock: still running after {worked} s: {all} bytes{last}{end}"
        );
    }
}

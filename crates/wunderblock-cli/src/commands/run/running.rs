//! A command at work, and those who read what it writes.

use super::signals::Signals;
use super::{To, not_started};
use crate::commands::reduce::MAX_BYTES;
use crate::exit::Failure;
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A command at work. None: that stream was left alone.
pub(super) struct Running {
    child: Child,
    out: Option<Reader>,
    err: Option<Reader>,
}

/// What a command wrote, and how it ended.
pub(super) struct Written {
    pub(super) status: ExitStatus,
    pub(super) out: Option<Vec<u8>>,
    pub(super) err: Option<Vec<u8>>,
    /// Whether something it started still holds a stream of its.
    pub(super) left: bool,
}

impl Running {
    /// Both streams through one pipe, in the order in which they were written.
    pub(super) fn both(command: &mut Command) -> Result<Self, Failure> {
        let (reader, writer) = std::io::pipe()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        let child = command.spawn().map_err(|error| not_started(command, &error))?;
        // The command keeps copies of the pipe's end; while it has them the reader would wait for ever.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { child, out: Some(Reader::of(reader, To::Out)), err: None })
    }

    pub(super) fn apart(command: &mut Command, (out, err): (bool, bool)) -> Result<Self, Failure> {
        let stdio = |is_pipe| if is_pipe { Stdio::piped() } else { Stdio::inherit() };
        command.stdout(stdio(out)).stderr(stdio(err));
        let mut child = command.spawn().map_err(|error| not_started(command, &error))?;
        let out = child.stdout.take().map(|stdout| Reader::of(stdout, To::Out));
        let err = child.stderr.take().map(|stderr| Reader::of(stderr, To::Err));
        Ok(Self { child, out, err })
    }

    pub(super) fn is_read(&self) -> bool {
        self.out.is_some() || self.err.is_some()
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the command, and for what it wrote.
    pub(super) fn end(mut self, signals: Signals) -> Result<Written, Failure> {
        let status = self.child.wait()?;
        signals.end();
        let over = Instant::now();
        let (out, out_left) = self.out.map(|reader| reader.end(over)).transpose()?.unzip();
        let (err, err_left) = self.err.map(|reader| reader.end(over)).transpose()?.unzip();
        Ok(Written { status, out, err, left: out_left.unwrap_or(false) || err_left.unwrap_or(false) })
    }
}

/// Something that a command started may hold its stream long after it has ended. Whoever waits for the command does not
/// wait for that; so long is waited for what is still on its way.
const GRACE: Duration = Duration::from_secs(3);
/// How often it is looked at.
const STEP: Duration = Duration::from_millis(50);
/// What a pipe holds at most, by the largest setting that needs no rights.
const PIPE_BYTES: u64 = 1 << 20;

/// Reads a stream on a thread of its own.
struct Reader {
    read: Arc<Mutex<Held>>,
    done: Receiver<std::io::Result<()>>,
}

/// What was read so far.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    /// How much came in all.
    all: u64,
    /// More came than is held: what was held is gone, the rest passes by.
    passes: bool,
}

impl Reader {
    fn of(stream: impl Read + Send + 'static, to: To) -> Self {
        let read = Arc::new(Mutex::new(Held::default()));
        let (tell, done) = channel();
        let shared = Arc::clone(&read);
        std::thread::spawn(move || tell.send(take_all(stream, &shared, to)));
        Self { read, done }
    }

    fn held<T>(&self, look: impl FnOnce(&mut Held) -> T) -> T {
        look(&mut self.read.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was read, and whether somebody still holds the stream.
    fn end(self, over: Instant) -> std::io::Result<(Vec<u8>, bool)> {
        let then = self.held(|held| held.all);
        let mut before = then;
        loop {
            match self.done.recv_timeout(STEP) {
                Ok(read) => {
                    read?;
                    return Ok((self.held(|held| std::mem::take(&mut held.bytes)), false));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(std::io::Error::other("the reader of the command's output ended early"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let (all, passes) = self.held(|held| (held.all, held.passes));
            // What passes by goes as fast as somebody takes it.
            let idle = all == before || all - then > PIPE_BYTES;
            if over.elapsed() >= GRACE && idle && !passes {
                return Ok((self.held(|held| std::mem::take(&mut held.bytes)), true));
            }
            before = all;
        }
    }
}

/// All that comes, up to the size that is held; the rest passes by, and so does then what was held.
fn take_all(mut stream: impl Read, read: &Mutex<Held>, to: To) -> std::io::Result<()> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        let count = match stream.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let new = chunk.get(..count).unwrap_or_default();
        let mut held = read.lock().unwrap_or_else(PoisonError::into_inner);
        held.all += count as u64;
        if !held.passes && held.bytes.len() as u64 + count as u64 <= MAX_BYTES {
            held.bytes.extend_from_slice(new);
            continue;
        }
        held.passes = true;
        let older = std::mem::take(&mut held.bytes);
        drop(held);
        // Nobody reads any more: the command learns of it by its own next write.
        let mut to = to.stream();
        if let Err(error) = to.write_all(&older).and_then(|()| to.write_all(new)) {
            return if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) };
        }
    }
}

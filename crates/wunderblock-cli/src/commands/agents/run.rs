//! `run`: runs a command unchanged, and stores its output. The output is shortened unless a person watches it.
//!
//! ```text
//!  command ─► pipe, or a terminal in the place of ours ─► spool, as it comes ─► at the end: the ledger
//!                                                     └─► terminal: as it comes · else: shortened, at the end
//! ```
//!
//! As a prefix of other commands, `run` must cost almost nothing and never get in the way. Whatever fails on our
//! side, the command's own output and exit code reach the caller.

mod channel;
#[cfg(target_os = "linux")]
mod guarded;
mod keyboard;
mod signals;
mod sink;
mod stand_in;
mod watch;

use crate::args::{Global, RunArgs};
use crate::commands::agents::reduce::{How, exact, outcome};
use crate::output::console::{print_json, say};
use crate::output::exit::{Exit, FAILED, Failure, USAGE};
use channel::{Channel, Way, Written};
#[cfg(target_os = "linux")]
pub(crate) use guarded::guarded;
use keyboard::Keyboard;
use rustix::termios::isatty;
use serde_json::{Value, json};
use signals::Signals;
use sink::To;
use stand_in::{StandIn, open_session};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;
use watch::{Ended, Watched};
use wunderblock::report::OutputReport;
use wunderblock::store::StoreError;
use wunderblock::{Engine, Keep, Output, OutputOptions, ShortenedOutput};
use wunderblock_core::id::Handle;
use wunderblock_core::stub::grouped;
use wunderblock_settings::spool::{Spool, SpoolHead};
use wunderblock_settings::{Settings, outputs_session};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &RunArgs) -> Exit {
    let how = How::of(&wanted.how)?;
    let request = RunRequest { global, settings, how, line: line(wanted), cwd: cwd() };
    let watched = request.start(wanted)?;
    // Opening the ledger while the command runs costs no extra time, and the output is read in the meantime.
    let at_work = std::thread::spawn(move || watched.end());
    let engine = settings.write_soon().await.map_err(Failure::from);
    let ended = at_work
        .join()
        .map_err(|_| std::io::Error::other("the command's output was not read to its end"))??;
    let code = code(ended.status);
    if request.finish(engine.as_ref(), ended).await? {
        settings.take_in().await;
    }
    Ok(ExitCode::from(code))
}

/// Settings of a whole run.
struct RunRequest<'a> {
    global: &'a Global,
    settings: &'a Settings,
    how: How<'a>,
    line: String,
    cwd: String,
}

fn line(wanted: &RunArgs) -> String {
    wanted.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn cwd() -> String {
    std::env::current_dir().map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default()
}

impl RunRequest<'_> {
    /// Starts the command.
    fn start(&self, wanted: &RunArgs) -> Result<Watched, Failure> {
        let signals = Signals::heed()?;
        let out = self.ends(To::Out)?;
        // With a single channel for both streams, their order is kept.
        let err = (!self.global.json && !To::are_one()).then(|| self.ends(To::Err)).transpose()?;
        let terminal = std::iter::once(&out).chain(&err).find(|ends| ends.is_terminal);
        let mut command = command(&wanted.command, terminal.is_some())?;
        if let Some(terminal) = terminal
            && isatty(std::io::stdin())
        {
            command.stdin(terminal.command.try_clone()?);
        }
        let has_session = terminal.is_some();
        let keyboard = terminal.map_or(Ok(None), |terminal| Keyboard::of(&terminal.reader))?;
        command.stderr(err.as_ref().unwrap_or(&out).command.try_clone()?);
        let mut channels = Vec::new();
        for (to, ends) in [(To::Out, Some(out)), (To::Err, err)] {
            let Some(Ends { reader, command: end, .. }) = ends else { continue };
            channels.push(self.channel(reader, to)?);
            if to == To::Out {
                command.stdout(end);
            }
        }
        let child = command.spawn().map_err(|error| not_started(command.get_program(), &error))?;
        let heartbeat = wanted.heartbeat.map(|seconds| Duration::from_secs(seconds.get()));
        Ok(Watched { child, channels, signals, has_session, keyboard, heartbeat, held: Vec::new() })
    }

    /// Creates the two ends of a stream: ours to read from, and the command's to write to.
    fn ends(&self, to: To) -> std::io::Result<Ends> {
        if !self.global.json
            && to.is_terminal()
            && let Ok(StandIn { reader, command }) = to.with(|terminal| StandIn::of(terminal))
        {
            return Ok(Ends { reader, command, is_terminal: true });
        }
        let (reader, writer) = std::io::pipe()?;
        Ok(Ends { reader: reader.into(), command: writer.into(), is_terminal: false })
    }

    fn channel(&self, from: OwnedFd, to: To) -> Result<Channel, Failure> {
        let way = match (self.global.json, to.is_terminal()) {
            (true, _) => Way::AtEnd,
            (false, true) => Way::Through,
            (false, false) if self.how.is_budget() => Way::AtEnd,
            (false, false) => Way::Shortened,
        };
        let head = SpoolHead {
            call: call_name(to)?,
            session: self.how.session.to_owned(),
            tenant: self.settings.config().tenant.as_str().to_owned(),
            command: self.line.clone(),
            cwd: self.cwd.clone(),
        };
        let spool = self.settings.keeps().then(|| (self.settings.db.clone(), head));
        Ok(Channel::new(from, to, way, spool))
    }

    /// Stores the command's output, and prints what has not been shown yet. Returns whether the ledger could be written;
    /// if it is locked, spool files are left for the next command.
    async fn finish(&self, engine: Result<&Engine, &Failure>, ended: Ended) -> Result<bool, Failure> {
        let (code, mut is_free) = (code(ended.status), true);
        if ended.left {
            say(
                self.global,
                "wunderblock: the command left a process running that still holds its output; further output of that \
                 process is not kept",
            );
        }
        let (mut told, mut words) = (Value::Null, Vec::new());
        for written in ended.channels.into_iter().map(Channel::written) {
            let Some(bytes) = &written.bytes else {
                say(
                    self.global,
                    "wunderblock: more than 1 GiB of output was passed on unchanged, and is not kept",
                );
                continue;
            };
            // An empty stdout is stored, because it records that the command ran; an empty stderr says nothing.
            if written.to == To::Err && bytes.is_empty() {
                continue;
            }
            let kept = match is_free {
                true => self.keep(engine, &written, bytes, code).await,
                false => Err(locked()),
            };
            is_free = is_free && !kept.as_ref().is_err_and(is_locked);
            let unseen = bytes.get(written.shown..).unwrap_or_default();
            let text = match (&kept, written.way) {
                (_, Way::Through) => &[],
                _ if written.unread => &[],
                (Ok(Kept { short: Some(short), .. }), _) => short.reduced.text.as_bytes(),
                (Err(_) | Ok(_), _) => unseen,
            };
            if self.global.json {
                told = match &kept {
                    Ok(Kept { short: Some(short), .. }) => serde_json::to_value(OutputReport::new(short))?,
                    // If the ledger cannot be used, the command's output is still reported.
                    _ => json!({ "text": String::from_utf8_lossy(unseen), "handle": null }),
                };
            } else {
                written.to.write(text)?;
            }
            match kept {
                Ok(kept) => words.extend(kept.words(&written, bytes)),
                Err(error) => {
                    let becomes = match is_locked(&error) && written.spool.is_some() {
                        true => "shown in full, and kept by the next command",
                        false => "not kept, and shown in full",
                    };
                    say(self.global, &format!("wunderblock: the output is {becomes}: {}", error.text()));
                }
            }
            if let Some(spool) = written.spool.filter(|_| is_free) {
                spool.remove();
            }
        }
        if self.global.json {
            print_json(&json!({ "exit_code": code, "command": self.line, "output": told }))?;
        } else if !words.is_empty() {
            say(self.global, &format!("wunderblock: {}", words.join("; ")));
        }
        Ok(is_free)
    }

    /// Stores the output of a stream, and shortens it unless it was shown as it arrived.
    async fn keep(
        &self,
        engine: Result<&Engine, &Failure>,
        written: &Written,
        bytes: &[u8],
        code: u8,
    ) -> Result<Kept, Failure> {
        let engine = match engine {
            Ok(engine) => engine,
            Err(failure) if is_locked(failure) => return Err(locked()),
            Err(failure) => return Err(Failure::Door(failure.code(), failure.text())),
        };
        let input = Output::run_input(&self.line, &self.cwd, Some(code.into()));
        let call = written.spool.as_ref().map(Spool::call);
        let output = Output { bytes, tool: "run", input: &input, failed: code != 0, call };
        let session = outputs_session(engine, self.how.session, Some(Path::new(&self.cwd))).await?;
        if written.way == Way::Through || written.unread {
            let handle = output.keep(&session).await?;
            return Ok(Kept { handle: Some(handle), short: None });
        }
        let wish = OutputOptions { shown: written.shown, ..self.how.wanted(Some(&self.line), &exact) };
        let short = output.shorten(&session, Keep::Always, &wish).await?;
        Ok(Kept { handle: short.handle, short: Some(short) })
    }
}

fn locked() -> Failure {
    Failure::from(wunderblock::Error::Store(StoreError::Locked))
}

fn is_locked(failure: &Failure) -> bool {
    matches!(failure, Failure::Engine(wunderblock::Error::Store(StoreError::Locked)))
}

/// Both ends of a stream.
struct Ends {
    reader: OwnedFd,
    command: OwnedFd,
    /// Whether the stream is a terminal that replaces ours.
    is_terminal: bool,
}

/// Opens a session on the terminal that `run` created, and becomes the command.
pub(crate) fn on_terminal(wanted: &[OsString]) -> Exit {
    let command = command(wanted, false)?;
    let (program, error) = (command.get_program().to_owned(), open_session(command));
    Err(not_started(&program, &error))
}

/// Result of storing a stream's output.
struct Kept {
    handle: Option<Handle>,
    /// The shortened output; `None` if the output was shown as it arrived.
    short: Option<ShortenedOutput>,
}

/// Minimum length in bytes of an output that is reported although a person has seen all of it.
const WORTH_SAYING: usize = 512;

/// Minimum tokens of an output that is reported although it could not be shortened.
const LARGE: u64 = 2_000;

impl Kept {
    /// Describes what was saved, or where the output is stored. `None` if the reader has seen all of a short output.
    fn words(&self, written: &Written, bytes: &[u8]) -> Option<String> {
        let about = if written.to == To::Err { "stderr: " } else { "" };
        match (&self.short, self.handle) {
            (Some(short), Some(_)) => {
                let shown = bytes.get(..written.shown).and_then(|first| std::str::from_utf8(first).ok());
                Some(outcome(short, about, shown.map_or(0, exact)))
            }
            // The reader has a large output whole, and expected fewer tokens.
            (Some(short), None) if short.reduced.tokens_before >= LARGE => Some(outcome(short, about, 0)),
            (None, Some(handle)) if bytes.len() >= WORTH_SAYING => {
                Some(format!("{about}{} bytes · {}", grouped(bytes.len() as u64), handle.short()))
            }
            _ => None,
        }
    }
}

/// Returns an id for the call that stores a stream's output; the id is unique among current runs.
fn call_name(to: To) -> Result<String, Failure> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_err(std::io::Error::other)?.as_nanos();
    let stream = if to == To::Err { "e" } else { "" };
    Ok(format!("run-{now:x}-{:x}{stream}", std::process::id()))
}

/// Exit code of shells for a command that cannot be started.
const NOT_STARTED: u8 = 127;

/// Creates the command: the program itself, or our program if a session must be opened first.
fn command(wanted: &[OsString], opens_session: bool) -> Result<Command, Failure> {
    let (program, arguments) =
        wanted.split_first().ok_or_else(|| Failure::Door(USAGE, "no command was given".to_owned()))?;
    if opens_session {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["on-terminal", "--"]).args(wanted);
        return Ok(command);
    }
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

fn not_started(program: &OsStr, error: &std::io::Error) -> Failure {
    let program = program.to_string_lossy();
    let next = match error.kind() {
        ErrorKind::NotFound if program.contains(' ') => "give a shell command line after `run -- sh -c`",
        ErrorKind::NotFound => "check the name and PATH",
        ErrorKind::PermissionDenied => "make it executable",
        _ => "it did not run",
    };
    Failure::Door(
        NOT_STARTED,
        format!("{} cannot be started: {error}; {next}", crate::drawing::terminal::clean(&program)),
    )
}

/// Returns the command's exit code. If a signal ended the command, the exit code is 128 plus the signal's number, as
/// in shells.
fn code(status: ExitStatus) -> u8 {
    let code = wunderblock::process::exit_code(status).unwrap_or(i32::from(FAILED));
    u8::try_from(code & 0xff).unwrap_or(FAILED)
}

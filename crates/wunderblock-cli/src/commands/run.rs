//! `run`: a command as it is, but what it writes into a pipe is shortened, and kept.
//!
//! A prefix must cost next to nothing and must never be in the way: no vocabulary is loaded (a token is taken for four
//! bytes), and whatever goes wrong on our side, the command's own output and exit code reach the caller.

mod running;
mod signals;

use super::reduce::How;
use crate::args::{Global, RunArgs};
use crate::console::{print_json, say};
use crate::exit::{Exit, FAILED, Failure, USAGE};
use crate::settings::Settings;
use running::Running;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use wunderblock::report::OutputReport;
use wunderblock::{Engine, Keep, Output, ShortenedOutput};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &RunArgs) -> Exit {
    let how = How::of(&wanted.how)?;
    let (out, err) = (Sink::of(&std::io::stdout()), Sink::of(&std::io::stderr()));
    let mut command = command(wanted)?;
    let mut signals = signals::Signals::heed()?;
    let running = match (global.json, out, err) {
        (true, ..) => Running::both(&mut command)?,
        (false, Sink::Pipe(one), Sink::Pipe(other)) if one == other => Running::both(&mut command)?,
        (false, out, err) => Running::apart(&mut command, (out.is_pipe(), err.is_pipe()))?,
    };
    // The ledger is opened while the command works: then it costs no time.
    let engine = if running.is_read() { Some(settings.write().await) } else { None };
    signals.pass_on(running.pid());
    let written = running.end(signals)?;
    let line = wanted.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let code = code(written.status);
    if written.left {
        say(
            global,
            "wunderblock: the command left something running that still holds its output; what that writes from here on \
             is not kept",
        );
    }
    let mut told = Value::Null;
    for (bytes, to) in [(written.out, To::Out), (written.err, To::Err)] {
        // That a command ran is kept though it said nothing; that it did not complain is not.
        let Some(bytes) = bytes.filter(|bytes| to == To::Out || !bytes.is_empty()) else { continue };
        let kept = shorten(engine.as_ref(), &how, (&line, &bytes, code)).await;
        match (&kept, global.json) {
            (Ok(kept), true) => told = serde_json::to_value(OutputReport::new(kept))?,
            (Ok(kept), false) => to.write(kept.reduced.text.as_bytes())?,
            // The ledger is of no use now; the command's words still are.
            (Err(_), true) => told = json!({ "text": String::from_utf8_lossy(&bytes), "handle": null }),
            (Err(_), false) => to.write(&bytes)?,
        }
        if let Err(error) = kept {
            say(global, &format!("wunderblock: the output is not kept, and shown in full: {error}"));
        }
    }
    if global.json {
        print_json(&json!({ "exit_code": code, "command": line, "output": told }))?;
    }
    Ok(ExitCode::from(code))
}

async fn shorten(
    engine: Option<&Result<Engine, Failure>>,
    how: &How<'_>,
    (line, bytes, code): (&str, &[u8], u8),
) -> Result<ShortenedOutput, String> {
    let engine = match engine {
        Some(Ok(engine)) => engine,
        Some(Err(error)) => return Err(error.text()),
        None => return Err("no ledger was opened".to_owned()),
    };
    let cwd = std::env::current_dir().map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default();
    let input = json!({ "command": line, "cwd": cwd, "exit_code": code }).to_string();
    let output = Output { bytes, tool: "run", input: &input, failed: code != 0 };
    let about = |text: &str| text.len().div_ceil(4) as u64;
    let wish = how.wanted(Some(line), &about);
    let session = engine.session_by_id(how.session.clone());
    output.shorten(&session, Keep::Always, &wish).await.map_err(|error| Failure::from(error).text())
}

/// The exit code of shells for a command that cannot be started.
const NOT_STARTED: u8 = 127;

/// Where one of our streams goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    /// Into a pipe or socket, known by its device and number: somebody reads it.
    Pipe((u64, u64)),
    /// To a terminal or into a file: not ours to touch.
    Other,
}

impl Sink {
    fn of(stream: &impl AsFd) -> Self {
        let Ok(meta) = stream.as_fd().try_clone_to_owned().map(File::from).and_then(|file| file.metadata())
        else {
            return Self::Other;
        };
        if meta.file_type().is_fifo() || meta.file_type().is_socket() {
            Self::Pipe((meta.dev(), meta.ino()))
        } else {
            Self::Other
        }
    }

    fn is_pipe(self) -> bool {
        matches!(self, Self::Pipe(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    Out,
    Err,
}

impl To {
    fn stream(self) -> Box<dyn Write> {
        match self {
            Self::Out => Box::new(std::io::stdout().lock()),
            Self::Err => Box::new(std::io::stderr().lock()),
        }
    }

    /// Writes. That whoever read it has gone is no failure: the command's exit code is still the answer.
    fn write(self, bytes: &[u8]) -> std::io::Result<()> {
        let mut to = self.stream();
        to.write_all(bytes)
            .and_then(|()| to.flush())
            .or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    }
}

fn command(wanted: &RunArgs) -> Result<Command, Failure> {
    let (program, arguments) = wanted
        .command
        .split_first()
        .ok_or_else(|| Failure::Door(USAGE, "no command was given".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    let program = command.get_program().to_string_lossy().into_owned();
    let next = match error.kind() {
        ErrorKind::NotFound if program.contains(' ') => "a line for a shell goes after `run -- sh -c`",
        ErrorKind::NotFound => "check the name and PATH",
        ErrorKind::PermissionDenied => "it may not be executed",
        _ => "it did not run",
    };
    Failure::Door(
        NOT_STARTED,
        format!("{} cannot be started: {error}; {next}", crate::terminal::clean(&program)),
    )
}

/// The command's own exit code; 128 and the signal's number where a signal ended it, as shells say it.
fn code(status: ExitStatus) -> u8 {
    let code =
        status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(i32::from(FAILED));
    u8::try_from(code & 0xff).unwrap_or(FAILED)
}

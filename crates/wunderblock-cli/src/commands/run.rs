//! `run`: a command as it is, but what it writes into a pipe is shortened, and kept.
//!
//! A prefix must cost next to nothing and must never be in the way: no vocabulary is loaded (a token is taken for four
//! bytes), and whatever goes wrong on our side, the command's own output and exit code reach the caller.

use super::reduce::{How, MAX_BYTES, report};
use super::{print_json, say};
use crate::args::{Global, RunArgs};
use crate::exit::{FAILED, Failure, USAGE};
use crate::settings::Settings;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread::JoinHandle;
use wunderblock::{Engine, Keep, Kept, Output};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &RunArgs) -> Result<ExitCode, Failure> {
    let how = How::of(&wanted.how)?;
    let (out, err) = (Sink::of(&std::io::stdout()), Sink::of(&std::io::stderr()));
    let mut command = command(wanted)?;
    let running = match (global.json, out, err) {
        (true, ..) => Running::both(&mut command)?,
        (false, Sink::Pipe(one), Sink::Pipe(other)) if one == other => Running::both(&mut command)?,
        (false, out, err) => Running::apart(&mut command, (out.is_pipe(), err.is_pipe()))?,
    };
    // The ledger is opened while the command works: then it costs no time.
    let engine = if running.is_read() { Some(settings.write().await) } else { None };
    let written = running.end()?;
    let line = wanted.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let code = code(written.status);
    let mut told = Value::Null;
    for (bytes, to) in [(written.out, To::Out), (written.err, To::Err)] {
        // That a command ran is kept though it said nothing; that it did not complain is not.
        let Some(bytes) = bytes.filter(|bytes| to == To::Out || !bytes.is_empty()) else { continue };
        let kept = shorten(engine.as_ref(), &how, (&line, &bytes, code)).await;
        match (&kept, global.json) {
            (Ok(kept), true) => told = report(kept),
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
) -> Result<Kept, String> {
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
    let session = engine.session(how.session.clone());
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
    fn write(self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Out => {
                let mut out = std::io::stdout().lock();
                out.write_all(bytes)?;
                out.flush()
            }
            Self::Err => std::io::stderr().lock().write_all(bytes),
        }
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

/// A command at work, and those who read what it writes. None: that stream was left alone.
struct Running {
    child: Child,
    out: Option<Reader>,
    err: Option<Reader>,
}

type Reader = JoinHandle<std::io::Result<Vec<u8>>>;

/// What a command wrote, and how it ended.
struct Written {
    status: ExitStatus,
    out: Option<Vec<u8>>,
    err: Option<Vec<u8>>,
}

impl Running {
    /// Both streams through one pipe, in the order in which they were written.
    fn both(command: &mut Command) -> Result<Self, Failure> {
        let (reader, writer) = std::io::pipe()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        let child = command.spawn().map_err(|error| not_started(command, &error))?;
        // The command keeps copies of the pipe's end; while it has them the reader would wait for ever.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { child, out: Some(read(reader, To::Out)), err: None })
    }

    fn apart(command: &mut Command, (out, err): (bool, bool)) -> Result<Self, Failure> {
        let stdio = |is_pipe| if is_pipe { Stdio::piped() } else { Stdio::inherit() };
        command.stdout(stdio(out)).stderr(stdio(err));
        let mut child = command.spawn().map_err(|error| not_started(command, &error))?;
        let out = child.stdout.take().map(|stdout| read(stdout, To::Out));
        let err = child.stderr.take().map(|stderr| read(stderr, To::Err));
        Ok(Self { child, out, err })
    }

    fn is_read(&self) -> bool {
        self.out.is_some() || self.err.is_some()
    }

    fn end(mut self) -> Result<Written, Failure> {
        let out = self.out.map(joined).transpose()?;
        let err = self.err.map(joined).transpose()?;
        Ok(Written { status: self.child.wait()?, out, err })
    }
}

fn read(reader: impl Read + Send + 'static, to: To) -> Reader {
    std::thread::spawn(move || all(reader, to))
}

fn joined(reader: Reader) -> std::io::Result<Vec<u8>> {
    reader
        .join()
        .unwrap_or_else(|_| Err(std::io::Error::other("the reader of the command's output ended early")))
}

/// All that comes, up to the size that is held; the rest passes by, and so does then what was held.
fn all(mut reader: impl Read, to: To) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.by_ref().take(MAX_BYTES).read_to_end(&mut bytes)?;
    let mut next = [0; 1];
    if bytes.len() as u64 == MAX_BYTES && reader.read(&mut next)? == 1 {
        to.write(&std::mem::take(&mut bytes))?;
        to.write(&next)?;
        match to {
            To::Out => std::io::copy(&mut reader, &mut std::io::stdout().lock())?,
            To::Err => std::io::copy(&mut reader, &mut std::io::stderr().lock())?,
        };
    }
    Ok(bytes)
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

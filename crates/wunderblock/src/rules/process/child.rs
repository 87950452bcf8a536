//! Runs a program and, if it exceeds a limit, ends the program together with everything it has started.

mod head;

use super::program::{CapturedOutput, ProcessOutput, Program, ProgramEnd};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use wunderblock_summary::CallFailure;

pub(crate) use head::head;

/// Interval at which a program is polled for its end.
const TICK: Duration = Duration::from_millis(5);
/// Grace period for processes that a program leaves behind and that hold its output open.
const GRACE: Duration = Duration::from_millis(250);
/// Time in which a program that is asked to end must do so.
const ASKED: Duration = Duration::from_millis(500);
/// Maximum number of bytes kept from the end of stderr.
const ERRORS_BYTES: usize = 2_000;
/// Bytes per read of stdout.
const PIECE_BYTES: usize = 16 << 10;

/// Runs a program to its end, whatever its exit status. Calls `progress` with the number of bytes written, and stops
/// the program if `progress` returns false.
///
/// # Errors
/// Fails if the program does not start ([`CallFailure::Unreachable`]), takes too long, writes too much
/// ([`CallFailure::Broken`]), or is stopped.
pub fn run(
    program: &Program,
    stdin: &[u8],
    progress: &mut dyn FnMut(usize) -> bool,
) -> Result<ProcessOutput, CallFailure> {
    let (name, mut command) = prepare(program)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = start(name, &mut command)?;
    let errors = listen(&mut child, stdin);
    let stdout = child.stdout.take();
    let (end, bytes) = RunningProgram::of(program, name, stdout).follow(&mut child, progress)?;
    let status = match end {
        ProgramEnd::Exited(status) => status,
        ProgramEnd::TimedOut => return Err(CallFailure::TimedOut),
        ProgramEnd::Stopped => return Err(CallFailure::Stopped),
        ProgramEnd::TooLong => {
            let most = program.output;
            return Err(CallFailure::Broken(format!("`{name}` wrote more than {most} bytes")));
        }
    };
    // Processes left behind may hold stderr open, too.
    let errors = errors.recv_timeout(GRACE).unwrap_or_default();
    let errors = String::from_utf8_lossy(&errors).trim().to_owned();
    Ok(ProcessOutput { status, text: String::from_utf8_lossy(&bytes).into_owned(), errors })
}

/// Runs a program without input and returns what it wrote on both streams, in one order, whatever ended it. Calls
/// `progress` with the number of bytes written, and stops the program if `progress` returns false.
///
/// # Errors
/// Fails if the program does not start ([`CallFailure::Unreachable`]) or cannot be waited for
/// ([`CallFailure::Broken`]).
pub fn capture(
    program: &Program,
    progress: &mut dyn FnMut(usize) -> bool,
) -> Result<CapturedOutput, CallFailure> {
    let (name, mut command) = prepare(program)?;
    let no_pipe = |error: io::Error| CallFailure::Unreachable(format!("no pipe for `{name}`: {error}"));
    let (reader, writer) = io::pipe().map_err(no_pipe)?;
    command.stdin(Stdio::null()).stdout(writer.try_clone().map_err(no_pipe)?).stderr(writer);
    let mut child = start(name, &mut command)?;
    // The command holds our copies of the pipe's end; with them open, the output would never end.
    drop(command);
    let (end, bytes) = RunningProgram::of(program, name, Some(reader)).follow(&mut child, progress)?;
    Ok(CapturedOutput { end, bytes })
}

/// Returns the name of a program, and the command that runs it. The program gets a separate process group, so that
/// everything it starts can be ended with it.
fn prepare(program: &Program) -> Result<(&str, Command), CallFailure> {
    let Some((name, arguments)) = program.argv.split_first() else {
        return Err(CallFailure::Unreachable("no program is named".to_owned()));
    };
    let mut command = Command::new(name);
    command.args(arguments).process_group(0);
    if let Some(cwd) = &program.cwd {
        command.current_dir(cwd);
    }
    Ok((name, command))
}

fn start(name: &str, command: &mut Command) -> Result<Child, CallFailure> {
    command.spawn().map_err(|error| CallFailure::Unreachable(format!("`{name}` does not start: {error}")))
}

/// Feeds stdin to a program, and collects its stderr. Each pipe has a separate thread: otherwise a program that
/// writes before it has read its input would block, and so would we.
fn listen(child: &mut Child, stdin: &[u8]) -> Receiver<Vec<u8>> {
    if let Some(mut pipe) = child.stdin.take() {
        let stdin = stdin.to_vec();
        // A program may ignore its input, so a failed write is ignored.
        std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    }
    let (sender, errors) = mpsc::channel();
    if let Some(stderr) = child.stderr.take() {
        std::thread::spawn(move || sender.send(tail(stderr)));
    }
    errors
}

/// Reads stderr to its end and returns the last `ERRORS_BYTES` bytes.
fn tail(mut stderr: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut piece = [0; 4_096];
    while let Ok(read @ 1..) = stderr.read(&mut piece) {
        kept.extend_from_slice(piece.get(..read).unwrap_or_default());
        if kept.len() > 2 * ERRORS_BYTES {
            kept.drain(..kept.len() - ERRORS_BYTES);
        }
    }
    let start = kept.len().saturating_sub(ERRORS_BYTES);
    kept.split_off(start)
}

fn read(mut stdout: impl Read, pieces: &Sender<Vec<u8>>) {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match stdout.read(&mut piece) {
            Ok(0) => return,
            Ok(read) if pieces.send(piece.get(..read).unwrap_or_default().to_vec()).is_ok() => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

/// A running program with its limits and its output.
struct RunningProgram<'a> {
    program: &'a Program,
    name: &'a str,
    end: Instant,
    pieces: Receiver<Vec<u8>>,
}

impl<'a> RunningProgram<'a> {
    /// Begins to read the output of a program that has just been started.
    fn of(program: &'a Program, name: &'a str, stdout: Option<impl Read + Send + 'static>) -> Self {
        let end = Instant::now() + Duration::from_millis(u64::try_from(program.time.0).unwrap_or_default());
        let (sender, pieces) = mpsc::channel();
        if let Some(stdout) = stdout {
            std::thread::spawn(move || read(stdout, &sender));
        }
        Self { program, name, end, pieces }
    }

    /// Follows a program to its end, or ends it with everything it has started. Returns its output up to then.
    fn follow(
        self,
        child: &mut Child,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(ProgramEnd, Vec<u8>), CallFailure> {
        let mut bytes = Vec::new();
        let end = self.watch(child, &mut bytes, progress).inspect_err(|_| end_all(child))?;
        if !matches!(end, ProgramEnd::Exited(_)) {
            end_all(child);
            bytes.extend(self.pieces.try_iter().flatten());
        }
        Ok((end, bytes))
    }

    fn watch(
        &self,
        child: &mut Child,
        bytes: &mut Vec<u8>,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<ProgramEnd, CallFailure> {
        let mut is_open = true;
        let mut ended: Option<(ExitStatus, Instant)> = None;
        loop {
            if !progress(bytes.len()) {
                return Ok(ProgramEnd::Stopped);
            }
            if is_open {
                match self.pieces.recv_timeout(TICK) {
                    Ok(piece) => bytes.extend(piece),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => is_open = false,
                }
            } else {
                std::thread::sleep(TICK);
            }
            if bytes.len() as u64 > self.program.output.0 {
                return Ok(ProgramEnd::TooLong);
            }
            if ended.is_none() {
                let status = child.try_wait().map_err(|error| {
                    CallFailure::Broken(format!("`{}` cannot be waited for: {error}", self.name))
                })?;
                ended = status.map(|status| (status, Instant::now()));
            }
            match ended {
                Some((status, _)) if !is_open => return Ok(ProgramEnd::Exited(status)),
                Some((status, at)) if at.elapsed() > GRACE => {
                    // Processes left behind still hold the output open, so they are ended, and the output that has
                    // arrived is returned.
                    end_group(child);
                    return Ok(ProgramEnd::Exited(status));
                }
                _ if Instant::now() >= self.end => return Ok(ProgramEnd::TimedOut),
                _ => {}
            }
        }
    }
}

/// Ends a program and everything it has started. The program is asked first, because it may have started processes
/// outside of its group, which only it knows.
fn end_all(child: &mut Child) {
    signal("-TERM", &child.id().to_string());
    let end = Instant::now() + ASKED;
    while Instant::now() < end && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(TICK);
    }
    end_group(child);
    let _ = child.kill();
    let _ = child.wait();
}

/// Kills the process group by its id.
fn end_group(child: &Child) {
    signal("-KILL", &format!("-{}", child.id()));
}

/// Sends a signal with the system's `kill` program, because there is no safe call that signals another process.
fn signal(name: &str, to: &str) {
    let _ = Command::new("kill").args([name, "--", to]).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;
    use wunderblock_core::units::{Bytes, Millis};

    fn shell(script: &str, stdin: &[u8]) -> Result<ProcessOutput, CallFailure> {
        let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
        let program = Program { argv, cwd: None, time: Millis(2_000), output: Bytes(100_000) };
        run(&program, stdin, &mut |_| true)
    }

    #[test]
    fn a_program_gets_its_input_and_gives_its_output_whatever_its_status() {
        let output = shell("tr a b; echo oh >&2; exit 3", b"banana").unwrap();
        assert_eq!((output.text.as_str(), output.errors.as_str()), ("bbnbnb", "oh"));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn neither_side_waits_for_the_other() {
        let much = vec![b'a'; 1 << 20];
        assert_eq!(shell("echo fine", &much).unwrap().text, "fine\n");
        let loud = shell("head -c 300000 /dev/zero >&2; echo fine", b"").unwrap();
        assert_eq!((loud.text.as_str(), loud.errors.len()), ("fine\n", ERRORS_BYTES));
    }

    #[test]
    fn a_program_without_end_is_ended_with_all_it_has_started() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let script = format!("(sleep 3; touch {}) & sleep 60", mark.display());
        let argv = vec!["sh".to_owned(), "-c".to_owned(), script];
        let program = Program { argv, cwd: None, time: Millis(200), output: Bytes(10) };
        assert_eq!(run(&program, b"", &mut |_| true), Err(CallFailure::TimedOut));
        std::thread::sleep(Duration::from_millis(3_300));
        assert!(!mark.exists(), "what it had started went on");
    }

    #[test]
    fn both_streams_are_captured_in_order_whatever_ends_the_program() {
        let capture = |script: &str, time, output, most: usize| {
            let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
            let program = Program { argv, cwd: None, time: Millis(time), output: Bytes(output) };
            capture(&program, &mut |bytes| bytes <= most).unwrap()
        };
        let all = capture("echo a; echo b >&2; echo c; cat; exit 3", 5_000, 100, 100);
        assert_eq!((all.bytes.as_slice(), all.end.code()), (&b"a\nb\nc\n"[..], Some(3)));
        let killed = capture("echo a; kill -TERM $$", 5_000, 100, 100);
        assert_eq!((killed.bytes.as_slice(), killed.end.code()), (&b"a\n"[..], Some(143)));
        let late = capture("echo a; sleep 60", 300, 100, 100);
        assert_eq!((late.bytes.as_slice(), late.end), (&b"a\n"[..], ProgramEnd::TimedOut));
        let long = capture("yes", 5_000, 100, usize::MAX);
        assert_eq!((long.bytes.len() > 100, long.end), (true, ProgramEnd::TooLong));
        let stopped = capture("echo a; sleep 60", 5_000, 100, 0);
        assert_eq!((stopped.bytes.as_slice(), stopped.end), (&b"a\n"[..], ProgramEnd::Stopped));
    }

    #[test]
    fn what_a_program_leaves_behind_is_not_waited_for() {
        assert_eq!(shell("sleep 30 & echo done", b"").unwrap().text, "done\n");
    }

    #[test]
    fn too_much_output_and_a_stop_end_it() {
        assert!(matches!(shell("yes", b""), Err(CallFailure::Broken(_))));
        let argv = ["sleep", "30"].map(str::to_owned).to_vec();
        let program = Program { argv, cwd: None, time: Millis(20_000), output: Bytes(10) };
        assert_eq!(run(&program, b"", &mut |_| false), Err(CallFailure::Stopped));
        let missing = Program { argv: vec!["/no/such/program".into()], ..program };
        assert!(matches!(run(&missing, b"", &mut |_| true), Err(CallFailure::Unreachable(_))));
    }
}

//! Reads the beginning of a command's output within a time limit, for providers of state.

use super::end_all;
use crate::limits;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Runs a command in a directory and returns the beginning of its stdout.
///
/// # Errors
/// Returns the reason why there is no output.
pub(crate) fn head(command: &[String], cwd: &Path) -> Result<String, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("the command is empty".to_owned());
    };
    let end = Instant::now() + Duration::from_millis(limits::PROVIDER_TIME);
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // The command gets a separate process group, so that everything it starts can be ended with it.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("`{program}` does not start: {error}"))?;
    let Some(stdout) = child.stdout.take() else { return Err(format!("`{program}` has no output")) };
    // A separate thread reads the output: otherwise a command that writes more than the pipe holds would block, and
    // so would we.
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(read_head(stdout)));
    wait(&mut child, program, end)?;
    // Processes that the command left behind may hold the pipe open.
    let left = end.saturating_duration_since(Instant::now());
    let Ok(bytes) = receiver.recv_timeout(left) else {
        end_all(&mut child);
        return Err(format!("the output of `{program}` does not end"));
    };
    let mut bytes = bytes.map_err(|error| format!("the output of `{program}` cannot be read: {error}"))?;
    let is_cut = bytes.len() > limits::PROVIDER_BYTES;
    bytes.truncate(limits::PROVIDER_BYTES);
    let mut text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    if is_cut {
        text.push_str(&format!("\n⟨cut: the first {} bytes⟩", limits::PROVIDER_BYTES));
    }
    Ok(text)
}

/// Returns the beginning of stdout. Reads and discards the rest of the output, so that the writer can finish.
fn read_head(mut stdout: ChildStdout) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stdout.by_ref().take(limits::PROVIDER_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    io::copy(&mut stdout, &mut io::sink())?;
    Ok(bytes)
}

fn wait(child: &mut Child, program: &str, end: Instant) -> Result<(), String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("`{program}` failed: {status}")),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                end_all(child);
                return Err(format!("`{program}` took longer than {} ms", limits::PROVIDER_TIME));
            }
            Err(error) => return Err(format!("`{program}` cannot be waited for: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<String, String> {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        head(&command, &std::env::temp_dir())
    }

    #[test]
    fn a_commands_output_is_the_text() {
        assert_eq!(shell("printf 'on main\\n\\n'").unwrap(), "on main");
    }

    #[test]
    fn a_command_that_fails_hangs_or_is_not_there_says_so() {
        assert!(shell("exit 3").unwrap_err().contains("failed"));
        let missing = head(&["/no/such/program".to_owned()], &std::env::temp_dir());
        assert!(missing.unwrap_err().contains("does not start"));
        assert!(head(&[], &std::env::temp_dir()).is_err());
        assert!(shell("sleep 60").unwrap_err().contains("took longer"));
    }

    #[test]
    fn a_command_that_writes_without_end_is_cut() {
        let text = shell("head -c 300000 /dev/zero | tr '\\0' a").unwrap();
        assert!(text.contains("⟨cut: the first"));
        assert!(text.len() < limits::PROVIDER_BYTES + 100);
    }
}

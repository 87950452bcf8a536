//! Runs the program for a chore: in a separate folder, isolated from the machine's environment.

use serde::de::DeserializeOwned;
use serde_json::Value;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Result of a chore. Any error ends the chore.
pub(crate) type ChoreResult<T> = Result<T, Box<dyn Error>>;

/// Runs a chore of this program in a child process and parses the JSON that the child prints.
pub(crate) fn own_child<T: DeserializeOwned>(args: &[&str], paths: &[&Path]) -> ChoreResult<T> {
    let output =
        Command::new(std::env::current_exe()?).args(args).args(paths).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("`{}` ended with {}", args.join(" "), output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The program, and the folder it runs in.
pub(crate) struct Sandbox {
    binary: PathBuf,
    home: PathBuf,
}

impl Sandbox {
    /// Prepares an existing folder. The folder's settings exclude the machine's managed instructions.
    pub(crate) fn new(binary: &Path, home: &Path) -> ChoreResult<Self> {
        let binary = binary.canonicalize().map_err(|error| format!("{}: {error}", binary.display()))?;
        let program = Self { binary, home: home.to_owned() };
        std::fs::create_dir_all(program.path("config/wunderblock"))?;
        program.write("config/wunderblock/config.toml", "[instructions]\nmanaged = []\n")?;
        Ok(program)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> ChoreResult<()> {
        std::fs::write(self.path(name), content).map_err(|error| format!("{name}: {error}").into())
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(args)
            .env_clear()
            .env("HOME", &self.home)
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("WUNDERBLOCK_DB", self.path("ledger.db"))
            .env("TZ", "UTC")
            .current_dir(&self.home)
            .stdin(Stdio::null());
        command
    }

    /// Runs the program and returns its output, whether it succeeds or not.
    pub(crate) fn run(&self, args: &[&str]) -> ChoreResult<Output> {
        Ok(self.command(args).output()?)
    }

    /// Runs the program and returns its stdout, or an error if it fails.
    pub(crate) fn bytes(&self, args: &[&str]) -> ChoreResult<Vec<u8>> {
        let done = self.run(args)?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("`{}`: {}: {}", args.join(" "), done.status, said.trim()).into());
        }
        Ok(done.stdout)
    }

    /// Runs the program and returns its stdout as text.
    pub(crate) fn text(&self, args: &[&str]) -> ChoreResult<String> {
        Ok(String::from_utf8(self.bytes(args)?)?)
    }

    /// Runs the program and parses its stdout as JSON lines.
    pub(crate) fn lines(&self, args: &[&str]) -> ChoreResult<Vec<Value>> {
        self.text(args)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }

    /// Appends lines to a session and returns the answers.
    pub(crate) fn append(&self, tenant: &str, session: &str, lines: &str) -> ChoreResult<Vec<Value>> {
        let args = ["--tenant", tenant, "append", session];
        let mut command = self.command(&args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().ok_or("no pipe")?;
        // A program that fails early closes its stdin; its stderr then reports the reason.
        let _ = stdin.write_all(lines.as_bytes());
        drop(stdin);
        let done = child.wait_with_output()?;
        let answered = String::from_utf8(done.stdout)?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("`append {session}`: {}: {answered}{}", done.status, said.trim()).into());
        }
        answered.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }
}

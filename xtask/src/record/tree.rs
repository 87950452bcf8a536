//! A throw-away copy of the repository, in which the session's commands run.

use super::sanitise::{AUTHOR, Sanitiser};
use crate::program::ChoreResult;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Number of cases per property test in the copy. A few cases are enough, because the session only has to show the
/// commands.
const PROPTEST_CASES: &str = "8";
/// Fixed date of the session's commits, so that every recording has the same commit hashes.
const COMMIT_DATE: &str = "2026-11-20T10:00:00+00:00";

/// A copy of the repository. Dropping this value deletes the copy.
pub(super) struct RepositoryCopy {
    root: PathBuf,
    sanitiser: Sanitiser,
    _folder: TempDir,
}

/// Result of a command.
pub(super) struct CommandOutput {
    /// Standard output and standard error, interleaved in their original order.
    pub(super) output: String,
    /// The exit code; -1 if a signal ended the command.
    pub(super) code: i32,
}

impl RepositoryCopy {
    /// Copies one revision of a repository, with its history.
    pub(super) fn copy(repository: &Path, rev: &str) -> ChoreResult<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("wunderblock");
        let commit = done(
            Command::new("git").arg("-C").arg(repository).args(["rev-parse", "--verify", rev]).output()?,
        )?;
        done(
            Command::new("git")
                .args(["clone", "--quiet", "--no-checkout"])
                .arg(repository)
                .arg(&root)
                .output()?,
        )?;
        let mut tree = Self { sanitiser: Sanitiser::new(&root), root, _folder: folder };
        tree.behind(&format!("git checkout --quiet -B main {} && git remote remove origin", commit.trim()))?;
        // The names of real authors and committers must not appear in the recording.
        for people in ["%an\t%ae", "%cn\t%ce"] {
            let names = tree.behind(&format!("git log --format='{people}' | sort -u"))?;
            for (name, address) in names.lines().filter_map(|line| line.split_once('\t')) {
                tree.sanitiser.add(name, AUTHOR.0);
                tree.sanitiser.add(address, AUTHOR.1);
            }
        }
        Ok(tree)
    }

    /// Links the build directory to a permanent one. With a permanent build directory, a second recording is faster
    /// and shows less of cargo's work.
    pub(super) fn build_in(&self, target: &Path) -> ChoreResult<()> {
        std::fs::create_dir_all(target)?;
        Ok(std::os::unix::fs::symlink(target.canonicalize()?, self.path("target"))?)
    }

    /// The sanitiser for the copy's output.
    pub(super) fn sanitiser(&self) -> &Sanitiser {
        &self.sanitiser
    }

    /// Returns the commit that is checked out.
    pub(super) fn commit(&self) -> ChoreResult<String> {
        Ok(self.behind("git rev-parse HEAD")?.trim().to_owned())
    }

    /// Returns the absolute path of a path in the scenario.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Runs a command of the session.
    pub(super) fn bash(&self, command: &str) -> ChoreResult<CommandOutput> {
        let output =
            self.command("bash").args(["-c", "exec bash -c \"$1\" 2>&1", "bash", command]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(CommandOutput { output: self.sanitiser.clean(&text), code: output.status.code().unwrap_or(-1) })
    }

    /// Runs a command that is not part of the session and must succeed.
    pub(super) fn behind(&self, command: &str) -> ChoreResult<String> {
        let ran = self.bash(command)?;
        if ran.code == 0 {
            Ok(ran.output)
        } else {
            Err(format!("`{command}` failed:\n{}", ran.output).into())
        }
    }

    /// Searches with ripgrep. Returns `None` if there is no match.
    pub(super) fn search(&self, arguments: &[&str]) -> ChoreResult<Option<String>> {
        let output = self.command("rg").arg("--sort=path").args(arguments).output()?;
        match output.status.code() {
            Some(0) => Ok(Some(self.sanitiser.clean(&String::from_utf8_lossy(&output.stdout)))),
            Some(1) => Ok(None),
            _ => Err(format!("rg {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
        }
    }

    /// Creates a command whose environment hides this machine and that uses no network.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env_clear();
        for kept in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        command.envs([
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            ("PAGER", "cat"),
            ("CARGO_NET_OFFLINE", "true"),
            ("CARGO_TERM_PROGRESS_WHEN", "never"),
            ("PROPTEST_CASES", PROPTEST_CASES),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", AUTHOR.0),
            ("GIT_AUTHOR_EMAIL", AUTHOR.1),
            ("GIT_COMMITTER_NAME", AUTHOR.0),
            ("GIT_COMMITTER_EMAIL", AUTHOR.1),
            ("GIT_AUTHOR_DATE", COMMIT_DATE),
            ("GIT_COMMITTER_DATE", COMMIT_DATE),
        ]);
        command
    }
}

fn done(output: Output) -> ChoreResult<String> {
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
    }
}

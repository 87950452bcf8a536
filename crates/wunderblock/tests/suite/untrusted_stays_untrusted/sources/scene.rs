//! A directory for files, and the sources read from it as lines.

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use wunderblock::sources::{FoundSources, InstructionRules, SourceQuery, Workspace, instructions};
use wunderblock_core::instruction::{Finding, InstructionFile};

pub(crate) struct Scene {
    _dir: TempDir,
    /// Directory that contains all files; the project is its subdirectory `repo`.
    pub(crate) top: PathBuf,
    pub(crate) rules: InstructionRules,
}

impl Scene {
    /// Creates a project with these files. Paths are relative to the project.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(top.join("repo/.git")).unwrap();
        let scene = Self { _dir: dir, top, rules: InstructionRules::default() };
        for (path, text) in files {
            scene.write(path, text);
        }
        scene
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.top.join("repo")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.repo().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[cfg(unix)]
    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn workspace(&self, cwd: &str) -> Workspace {
        Workspace::find(&self.path(cwd), &self.rules.markers).unwrap()
    }

    /// Reads the sources for a working directory, with these paths touched.
    pub(crate) fn read(&self, cwd: &str, touched: &[&str]) -> FoundSources {
        let touched: Vec<String> = touched.iter().map(|path| (*path).to_owned()).collect();
        let workspace = self.workspace(cwd);
        instructions(&SourceQuery {
            workspace: &workspace,
            rules: &self.rules,
            touched: &touched,
            frozen: None,
            scanned: None,
        })
    }

    /// Returns the sources as lines.
    pub(crate) fn shown(&self, cwd: &str, touched: &[&str]) -> Vec<String> {
        self.lines(&self.read(cwd, touched))
    }

    pub(crate) fn lines(&self, found: &FoundSources) -> Vec<String> {
        let head = found.head.iter().map(|file| self.file("", file));
        let nested = found.nested.iter().map(|file| self.file("+ ", file));
        let findings = found.findings.iter().map(|finding| self.finding(finding));
        head.chain(nested).chain(findings).collect()
    }

    fn file(&self, mark: &str, file: &InstructionFile) -> String {
        let text: String = file.pieces.iter().map(|piece| piece.text.as_str()).collect();
        let text = text.trim().replace('\n', "|");
        let line = format!("{mark}{} ({}, {}): {text}", file.path, file.level.label(), file.reason.label());
        self.local(&line)
    }

    fn finding(&self, finding: &Finding) -> String {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        self.local(&format!("! {}{line} {:?}: {}", finding.source, finding.what, finding.detail))
    }

    fn local(&self, line: &str) -> String {
        line.replace(&*self.top.to_string_lossy(), "TOP")
    }
}

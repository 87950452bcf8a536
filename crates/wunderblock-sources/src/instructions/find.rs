//! Finds all instruction files that apply, in the order of the hierarchy.

use super::ignored::Ignored;
use super::loader::{FindingList, ImportScope, Loader};
use super::rule::{RuleFile, rules};
use super::rules::InstructionRules;
use super::scan::scan;
use crate::file::{read, resolve_inside};
use crate::limits::{MAX_IGNORE_FILE, MAX_SCAN_ENTRIES, MAX_SCANNED, MAX_TOUCHED};
use crate::workspace::{Workspace, downward, normalised};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use wunderblock_core::authority::InstructionLevel;
use wunderblock_core::instruction::{Finding, FindingKind, InstructionFile, LoadReason};

/// Query for instruction files.
#[derive(Clone, Copy, Debug)]
pub struct SourceQuery<'a> {
    /// Working directory and project.
    pub workspace: &'a Workspace,
    /// Names and places of instruction files.
    pub rules: &'a InstructionRules,
    /// Paths that the session has touched: relative to the root, or absolute. Paths outside the root are ignored.
    pub touched: &'a [String],
    /// Ignore files as they were when the session began: paths relative to the root, and texts. These ignore files
    /// apply instead of the present ones, and differences become findings.
    pub frozen: Option<&'a [(String, String)]>,
    /// Result of an earlier scan ([`FoundSources::scanned`]). These files are read again, without another scan.
    pub scanned: Option<&'a [String]>,
}

/// Instruction files and findings of a query.
#[derive(Clone, Debug)]
pub struct FoundSources {
    /// Files that apply from the beginning: managed policy, the user's own files, files of the directories from the
    /// root to the working directory, their rules for all paths, and scanned files.
    pub head: Vec<InstructionFile>,
    /// Files that apply because of touched paths and are not in `head`: files of the paths' directories from the root
    /// down, and rules whose patterns match the paths.
    pub nested: Vec<InstructionFile>,
    /// Ignore files that apply: paths relative to the root, and texts.
    pub ignore: Vec<(String, String)>,
    /// Files found by the scan, relative to the root, sorted; empty without a scan.
    pub scanned: Vec<String>,
    /// Files that could not be read, were ignored, or take effect later.
    pub findings: Vec<Finding>,
    /// Working directory and project.
    pub workspace: Workspace,
}

/// Reads all instruction files that apply.
///
/// Each file is read once, at its first place in the order. Ignore files are read in the directories from the root to
/// the working directory, and in every directory that the scan visits, but not elsewhere. A file larger than
/// 4 MiB is not read. Problems become findings; the function itself cannot fail.
#[must_use]
pub fn instructions(wanted: &SourceQuery<'_>) -> FoundSources {
    let (workspace, rules) = (wanted.workspace, wanted.rules);
    let mut findings = FindingList::default();
    let way = downward(&workspace.root, &workspace.cwd);
    let here = ignore_files(wanted, &way, &mut findings);
    let mut force = wanted.frozen.map_or_else(|| here.clone(), <[_]>::to_vec);
    if wanted.frozen.is_some() {
        deferred(wanted, &here, &mut findings);
    }
    let mut ignored = Ignored::new(&force, &mut findings);
    let scanned = match wanted.scanned {
        Some(scanned) => scanned.to_vec(),
        None if !rules.scan => Vec::new(),
        None => {
            let found = scan(workspace, rules, &ignored);
            if wanted.frozen.is_some() {
                let mut now = force.clone();
                add_ignore_files(workspace, &found.ignore, &mut now, &mut findings);
                for (path, _) in now.iter().skip(force.len()) {
                    findings.add(path, None, FindingKind::Deferred, deferral("is new"));
                }
            } else if add_ignore_files(workspace, &found.ignore, &mut force, &mut findings) {
                // Problems in ignore files that have already been read are reported only once.
                ignored = Ignored::new(&force, &mut findings);
            }
            if found.is_partial {
                let detail = format!(
                    "the scan ended after {MAX_SCAN_ENTRIES} files; keep large directories out with an ignore file"
                );
                findings.unusable(".", None, detail);
            }
            candidates(workspace, rules, &found.directories, &ignored, &mut findings)
        }
    };
    let loader = Loader::new(workspace, rules, &ignored, findings);
    let mut reading = SourceRead { loader, rules, scoped: Vec::new() };
    let head = reading.head(&way, &scanned);
    let nested = reading.nested(&way, wanted.touched);
    let findings = reading.loader.findings.into_vec();
    FoundSources { head, nested, ignore: force, scanned, findings, workspace: workspace.clone() }
}

struct SourceRead<'a> {
    loader: Loader<'a>,
    rules: &'a InstructionRules,
    /// Rules that apply only to some paths, each with its level.
    scoped: Vec<(RuleFile, InstructionLevel)>,
}

impl SourceRead<'_> {
    fn head(&mut self, way: &[PathBuf], scanned: &[String]) -> Vec<InstructionFile> {
        let mut out = Vec::new();
        for path in &self.rules.managed {
            self.loader.named(path, InstructionLevel::Managed, &mut out);
        }
        for path in &self.rules.user {
            self.loader.named(path, InstructionLevel::User, &mut out);
        }
        for directory in way {
            self.directory(directory, &LoadReason::SessionStart, &mut out);
        }
        for directory in way {
            self.rules_of(directory, &LoadReason::SessionStart, &mut out);
        }
        let root = self.loader.workspace.root.clone();
        for path in scanned.iter().take(MAX_SCANNED) {
            let path = normalised(&root.join(path));
            let level = self.level(path.parent().unwrap_or(&root));
            self.loader.found(&path, ImportScope::new(level, LoadReason::Scan), &mut out);
        }
        out
    }

    fn nested(&mut self, way: &[PathBuf], touched: &[String]) -> Vec<InstructionFile> {
        let root = self.loader.workspace.root.clone();
        let paths: BTreeSet<PathBuf> =
            touched.iter().take(MAX_TOUCHED).map(|path| normalised(&root.join(path))).collect();
        let paths: Vec<PathBuf> =
            paths.into_iter().filter(|path| path.starts_with(&root) && *path != root).collect();
        let known: HashSet<&PathBuf> = way.iter().collect();
        let mut directories: BTreeMap<PathBuf, &PathBuf> = BTreeMap::new();
        for path in &paths {
            let bottom = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&root) };
            for directory in downward(&root, bottom) {
                if !known.contains(&directory) {
                    directories.entry(directory).or_insert(path);
                }
            }
        }
        let mut out = Vec::new();
        for (directory, path) in &directories {
            let reason = LoadReason::Nested(self.loader.workspace.name(path).into());
            self.directory(directory, &reason, &mut out);
            self.rules_of(directory, &reason, &mut out);
        }
        for (rule, level) in std::mem::take(&mut self.scoped) {
            if let Some(path) = rule.names(&paths) {
                let reason = LoadReason::PathRule(self.loader.workspace.name(path).into());
                rule.take(&mut self.loader, ImportScope::new(level, reason), &mut out);
            }
        }
        out
    }

    /// Reads the instruction files of a directory.
    fn directory(&mut self, directory: &Path, reason: &LoadReason, out: &mut Vec<InstructionFile>) {
        let place = ImportScope::new(self.level(directory), reason.clone());
        for names in &self.rules.names {
            for name in names {
                if self.loader.found(&directory.join(name), place.clone(), out) {
                    break;
                }
            }
        }
    }

    /// Reads the rules of a directory. Rules for all paths apply immediately; other rules apply only if a matching
    /// path is touched.
    fn rules_of(&mut self, directory: &Path, reason: &LoadReason, out: &mut Vec<InstructionFile>) {
        let level = self.level(directory);
        let place = ImportScope::new(level, reason.clone());
        for name in &self.rules.rule_dirs {
            for rule in rules(&mut self.loader, directory, name, &place) {
                if rule.is_general() {
                    rule.take(&mut self.loader, place.clone(), out);
                } else {
                    self.scoped.push((rule, level));
                }
            }
        }
    }

    fn level(&self, directory: &Path) -> InstructionLevel {
        let is_root = directory == self.loader.workspace.root;
        if is_root { InstructionLevel::Project } else { InstructionLevel::Directory }
    }
}

/// Returns the present ignore files of some directories and, for other directories, the present versions of frozen
/// ignore files.
fn ignore_files(
    wanted: &SourceQuery<'_>,
    way: &[PathBuf],
    findings: &mut FindingList,
) -> Vec<(String, String)> {
    let root = &wanted.workspace.root;
    let names: Vec<&String> =
        wanted.rules.ignore.iter().filter(|(_, on)| **on).map(|(name, _)| name).collect();
    let usual = way.iter().flat_map(|directory| names.iter().map(move |name| directory.join(name)));
    let frozen = wanted.frozen.unwrap_or_default().iter().map(|(path, _)| normalised(&root.join(path)));
    let mut seen = HashSet::new();
    let paths: BTreeSet<PathBuf> = usual.chain(frozen).filter(|path| seen.insert(path.clone())).collect();
    let mut found = Vec::new();
    add_ignore_files(wanted.workspace, &paths, &mut found, findings);
    found
}

/// Reads the ignore files that are not in the list yet. Returns whether any file was added.
fn add_ignore_files(
    workspace: &Workspace,
    paths: &BTreeSet<PathBuf>,
    files: &mut Vec<(String, String)>,
    findings: &mut FindingList,
) -> bool {
    let before = files.len();
    for path in paths {
        let name = workspace.name(path);
        if files.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let text = resolve_inside(path, &workspace.root).and_then(|canonical| {
            canonical.map(|canonical| read(&canonical, MAX_IGNORE_FILE).map(|file| file.text)).transpose()
        });
        match text {
            Ok(Some(text)) => files.push((name, text)),
            Ok(None) => {}
            Err(why) => findings.unusable(&name, None, format!("{why}; nothing it says holds")),
        }
    }
    files.len() > before
}

/// Reports ignore files that differ from those at the beginning of the session.
fn deferred(wanted: &SourceQuery<'_>, now: &[(String, String)], findings: &mut FindingList) {
    let frozen: BTreeMap<&str, &str> =
        wanted.frozen.unwrap_or_default().iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let now: BTreeMap<&str, &str> = now.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let all: BTreeSet<&str> = frozen.keys().chain(now.keys()).copied().collect();
    for path in all {
        let how = match (frozen.get(path), now.get(path)) {
            (Some(then), Some(now)) if then == now => continue,
            (Some(_), Some(_)) => "has changed",
            (Some(_), None) => "is gone",
            (None, _) => "is new",
        };
        findings.add(path, None, FindingKind::Deferred, deferral(how));
    }
}

fn deferral(how: &str) -> String {
    format!("{how} since the session began; that takes effect in the next session")
}

/// Returns the paths, relative to the root, of files in some directories that have an instruction file's name. Among
/// alternative names, the first existing one is used.
fn candidates(
    workspace: &Workspace,
    rules: &InstructionRules,
    directories: &BTreeSet<PathBuf>,
    ignored: &Ignored,
    findings: &mut FindingList,
) -> Vec<String> {
    let mut found = BTreeSet::new();
    for directory in directories {
        for names in &rules.names {
            for path in names.iter().map(|name| directory.join(name)) {
                if path.symlink_metadata().is_err() {
                    continue;
                }
                let name = workspace.name(&path);
                let Some(why) = ignored.why(Path::new(&name)) else {
                    found.insert(name);
                    break;
                };
                findings.add(&name, None, FindingKind::Ignored, why);
            }
        }
    }
    if found.len() > MAX_SCANNED {
        let detail = format!(
            "the scan found {} instruction files; only the first {MAX_SCANNED} are read",
            found.len()
        );
        findings.unusable(".", None, detail);
    }
    found.into_iter().take(MAX_SCANNED).collect()
}

//! Rules: Markdown files of a rule directory, some of which apply only to certain paths.

use super::loader::{Denied, FileBody, FindingList, ImportScope, Loader, SourceFile};
use crate::file::resolve;
use crate::front_matter;
use crate::limits::{MAX_RULE_DEPTH, MAX_RULE_PATTERNS, MAX_RULES};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use wunderblock_core::instruction::InstructionFile;

/// A rule that was read.
pub(super) struct RuleFile {
    source: SourceFile,
    /// Offset in bytes at which the rule's text starts, and the number of lines before it.
    body: (usize, u64),
    /// Base directory of the patterns, and the patterns; `None` if the rule always applies.
    scope: Option<(PathBuf, GlobSet)>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RuleFrontMatter {
    paths: Option<Paths>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Paths {
    One(String),
    Many(Vec<String>),
}

impl RuleFile {
    /// Returns whether the rule applies to all paths.
    pub(super) fn is_general(&self) -> bool {
        self.scope.is_none()
    }

    /// Returns the first path that any of the rule's patterns matches.
    pub(crate) fn names<'p>(&self, paths: &'p [PathBuf]) -> Option<&'p Path> {
        let (base, patterns) = self.scope.as_ref()?;
        let is_named =
            |path: &&PathBuf| path.strip_prefix(base).is_ok_and(|inside| patterns.is_match(inside));
        paths.iter().find(is_named).map(PathBuf::as_path)
    }

    /// Adds the rule's text to the instruction files.
    pub(crate) fn take(&self, loader: &mut Loader<'_>, place: ImportScope, out: &mut Vec<InstructionFile>) {
        let text = self.source.file.text.get(self.body.0..).unwrap_or_default();
        loader.take(&self.source, place, FileBody { text, lines_before: self.body.1 }, out);
    }
}

/// Returns the rules in a rule directory of `base`, sorted by path. A rule with unreadable front matter is omitted,
/// because the paths to which it applies are unknown.
pub(crate) fn rules(
    loader: &mut Loader<'_>,
    base: &Path,
    directory: &str,
    place: &ImportScope,
) -> Vec<RuleFile> {
    let top = base.join(directory);
    let mut found = Vec::new();
    let files = files(loader, &top);
    for path in files {
        match loader.open(&path, place) {
            Ok(source) => match rule(base, source, &mut loader.findings) {
                Ok(rule) => found.push(rule),
                Err((name, line, why)) => {
                    let detail = format!("{why}; the rule is left out");
                    loader.findings.unusable(&name, Some(line), detail);
                }
            },
            Err(Denied::Absent) => {}
            Err(denied) => loader.tell(&path, denied),
        }
    }
    found
}

fn rule(
    base: &Path,
    source: SourceFile,
    findings: &mut FindingList,
) -> Result<RuleFile, (String, u64, String)> {
    let text = &source.file.text;
    let read = front_matter::read::<RuleFrontMatter>(text).map_err(|bad| {
        let why = format!("{} (a pattern that begins with * or {{ needs quotes)", bad.detail);
        (source.name.clone(), bad.line, why)
    })?;
    let body = (text.len() - read.body.len(), read.lines);
    let listed = match read.front.paths {
        None => return Ok(RuleFile { source, body, scope: None }),
        Some(Paths::One(line)) => vec![line],
        Some(Paths::Many(list)) => list,
    };
    let line_of = |pattern: &str| {
        let at = text
            .lines()
            .take(usize::try_from(read.lines).unwrap_or(usize::MAX))
            .position(|line| line.contains(pattern));
        u64::try_from(at.unwrap_or_default()).unwrap_or_default().saturating_add(1)
    };
    let mut set = GlobSetBuilder::new();
    let mut valid = 0;
    for pattern in listed.iter().flat_map(|line| parts(line)).take(MAX_RULE_PATTERNS) {
        match GlobBuilder::new(pattern.trim_start_matches("./")).literal_separator(true).build() {
            Ok(glob) => {
                set.add(glob);
                valid += 1;
            }
            Err(error) => {
                let detail = format!("this pattern does not hold: {error}");
                findings.unusable(&source.name, Some(line_of(pattern)), detail);
            }
        }
    }
    if valid == 0 {
        let why = "`paths` names no pattern that holds".to_owned();
        return Err((source.name.clone(), line_of("paths"), why));
    }
    match set.build() {
        Ok(set) => Ok(RuleFile { source, body, scope: Some((base.to_owned(), set)) }),
        Err(error) => {
            let line = line_of("paths");
            Err((source.name.clone(), line, format!("its patterns cannot be used together: {error}")))
        }
    }
}

/// Splits a line of patterns at commas outside braces.
fn parts(line: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let split = line.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    split.map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Returns the `.md` files in a directory, at any depth, sorted by path. Links are followed if they stay inside the
/// project.
fn files(loader: &mut Loader<'_>, top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![(top.to_owned(), 0)];
    while let Some((directory, depth)) = waiting.pop() {
        let canonical = match resolve(&directory) {
            Ok(Some(canonical)) => canonical,
            Ok(None) => continue,
            Err(why) => {
                loader.tell(&directory, Denied::Unusable(why));
                continue;
            }
        };
        let why = if !seen.insert(canonical.clone()) || depth > MAX_RULE_DEPTH {
            Some("is not followed: it leads back to where it began, or too deep")
        } else if depth > 0 && top.starts_with(&canonical) {
            Some("is not followed: it leads to a directory that holds the rules, not to rules")
        } else if !canonical.starts_with(&loader.workspace.root) {
            Some("leads outside of the project, and is not read")
        } else {
            None
        };
        if let Some(why) = why {
            loader.tell(&directory, Denied::Unusable(why.to_owned()));
            continue;
        }
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten().take(4 * MAX_RULES) {
            let path = entry.path();
            let is_dir =
                entry.file_type().is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && path.is_dir()));
            if is_dir {
                waiting.push((path, depth + 1));
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
        if found.len() > MAX_RULES {
            let why = format!("has more than {MAX_RULES} rules; the rest is left out");
            loader.tell(top, Denied::Unusable(why));
            break;
        }
    }
    found.sort();
    found.truncate(MAX_RULES);
    found
}

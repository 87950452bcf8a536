//! Files excluded by ignore files. The syntax is that of gitignore, but `.gitignore` files themselves are not used.

use super::loader::FindingList;
use crate::limits::MAX_IGNORE_FILES;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};

/// Name of Gemini Code Assist's ignore file. An empty file of this name excludes its whole directory.
const EMPTY_MEANS_ALL: &str = ".aiexclude";

/// Ignore files that apply.
#[derive(Default)]
pub(super) struct Ignored {
    /// Ignore files grouped by name, deepest first. Within a group, a deeper file overrides a shallower one; groups
    /// are independent of each other.
    groups: Vec<(String, Vec<IgnoreMatcher>)>,
}

struct IgnoreMatcher {
    path: String,
    /// Directory of the file, relative to the root.
    directory: PathBuf,
    text: String,
    patterns: Gitignore,
}

impl Ignored {
    /// Reads ignore files, each given as a path relative to the root and a text. Invalid patterns become findings;
    /// the others apply.
    pub(crate) fn new(files: &[(String, String)], findings: &mut FindingList) -> Self {
        let mut ignored = Self::default();
        for (path, text) in files.iter().take(MAX_IGNORE_FILES) {
            let file = IgnoreMatcher::new(path, text, findings);
            let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
            match ignored.groups.iter_mut().find(|(group, _)| *group == name) {
                Some((_, group)) => group.push(file),
                None => ignored.groups.push((name, vec![file])),
            }
        }
        for (_, group) in &mut ignored.groups {
            group.sort_by_key(|file| std::cmp::Reverse(file.directory.components().count()));
        }
        if files.len() > MAX_IGNORE_FILES {
            let detail = format!("only the first {MAX_IGNORE_FILES} of {} ignore files hold", files.len());
            findings.unusable(files.last().map_or("", |(path, _)| path), None, detail);
        }
        ignored
    }

    /// Returns a description of the reason why a file is excluded, or `None` if it is not excluded. `relative` is the
    /// file's path from the root.
    ///
    /// As in git, a file in an excluded directory cannot be included again.
    pub(crate) fn why(&self, relative: &Path) -> Option<String> {
        if self.groups.is_empty() {
            return None;
        }
        let mut way: Vec<&Path> = relative.ancestors().filter(|path| !path.as_os_str().is_empty()).collect();
        way.reverse();
        let last = way.len().saturating_sub(1);
        way.iter().enumerate().find_map(|(depth, path)| self.entry(path, depth < last))
    }

    /// Returns the reason why an entry is excluded, given that its directory is not excluded.
    pub(crate) fn entry(&self, relative: &Path, is_dir: bool) -> Option<String> {
        self.groups.iter().find_map(|(_, group)| {
            for file in group {
                let Ok(inside) = relative.strip_prefix(&file.directory) else { continue };
                match file.patterns.matched(inside, is_dir) {
                    Match::None => {}
                    Match::Whitelist(_) => return None,
                    Match::Ignore(pattern) => return Some(file.reason(pattern.original())),
                }
            }
            None
        })
    }
}

impl IgnoreMatcher {
    fn new(path: &str, text: &str, findings: &mut FindingList) -> Self {
        let mut builder = GitignoreBuilder::new("");
        for (at, line) in text.lines().enumerate() {
            if let Err(error) = builder.add_line(None, line) {
                let line = u64::try_from(at).unwrap_or(u64::MAX).saturating_add(1);
                findings.unusable(path, Some(line), format!("this pattern does not hold: {error}"));
            }
        }
        if path.rsplit('/').next() == Some(EMPTY_MEANS_ALL) && text.trim().is_empty() {
            // A pattern of two stars is always valid.
            let _ = builder.add_line(None, "**");
        }
        let patterns = builder.build().unwrap_or_else(|error| {
            let detail = format!("its patterns cannot be used together and none holds: {error}");
            findings.unusable(path, None, detail);
            Gitignore::empty()
        });
        let directory = Path::new(path).parent().map(Path::to_owned).unwrap_or_default();
        Self { path: path.to_owned(), directory, text: text.to_owned(), patterns }
    }

    fn reason(&self, pattern: &str) -> String {
        let same = |line: &str| line == pattern || line.trim_end() == pattern;
        // The last matching pattern decides, so the last of several equal lines is named.
        let line = self.text.lines().enumerate().filter(|(_, line)| same(line)).last();
        match line {
            Some((at, _)) => format!("kept out by {}, line {}: {pattern}", self.path, at + 1),
            None => format!("kept out by {}, which is empty and so keeps out everything", self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(files: &[(&str, &str)]) -> (Ignored, FindingList) {
        let mut findings = FindingList::default();
        let files: Vec<_> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let ignored = Ignored::new(&files, &mut findings);
        (ignored, findings)
    }

    #[test]
    fn what_is_kept_out() {
        let (ignored, findings) = ignored(&[
            (".geminiignore", "# a comment\n*.md\n!AGENTS.md\nvendor/\n/top.txt\n"),
            ("sub/.geminiignore", "!local.md\n"),
            ("other/.aiexclude", "\n"),
        ]);
        let cases = [
            ("a.md", Some(".geminiignore, line 2")),
            ("deep/er/a.md", Some(".geminiignore, line 2")),
            ("AGENTS.md", None),
            ("deep/AGENTS.md", None),
            ("vendor/AGENTS.md", Some(".geminiignore, line 4")),
            ("a/vendor/x/AGENTS.md", Some(".geminiignore, line 4")),
            ("vendor", None),
            ("top.txt", Some(".geminiignore, line 5")),
            ("a/top.txt", None),
            ("sub/local.md", None),
            ("sub/a.md", Some(".geminiignore, line 2")),
            ("local.md", Some(".geminiignore, line 2")),
            ("other/AGENTS.md", Some("other/.aiexclude, which is empty")),
        ];
        for (path, expected) in cases {
            let why = ignored.why(Path::new(path));
            assert_eq!(why.is_some(), expected.is_some(), "{path}: {why:?}");
            assert!(why.unwrap_or_default().contains(expected.unwrap_or_default()), "{path}");
        }
        assert!(findings.into_vec().is_empty());
    }

    #[test]
    fn a_bad_pattern_does_not_take_the_others_along() {
        let (ignored, findings) = ignored(&[(".geminiignore", "ok.md\na[\nz[b-a]\n")]);
        assert!(ignored.why(Path::new("ok.md")).is_some());
        let findings = findings.into_vec();
        assert!(findings.iter().all(|finding| finding.line.is_some_and(|line| line > 1)), "{findings:?}");
        assert!(!findings.is_empty());
    }
}

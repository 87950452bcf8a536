//! Removes traces of the machine from a recording, so that the same scenario reads the same wherever it is played.

use crate::program::ChoreResult;
use regex::Regex;
use std::path::Path;

/// Path at which the copy of the repository appears to be.
pub(super) const ROOT: &str = "/home/dev/wunderblock";
const HOME: &str = "/home/dev";
/// Name and address of the apparent author of all commits.
pub(super) const AUTHOR: (&str, &str) = ("Wunderblock developers", "dev@example.org");

/// Minimum length of a replaced name, in bytes. Shorter names would also match inside words.
const SHORTEST_NAME: usize = 4;

/// Traces of a machine: absolute paths other than those under [`HOME`], and addresses of a registry.
const BETRAYAL: &str = r"(?:^|[^/\w.-])/(?:tmp|root|work|Users|mnt|var|opt|private)\b|registry\+|index\.crates\.io|static\.crates\.io";

/// Replaces names and paths that belong to this machine.
#[derive(Default)]
pub(super) struct Sanitiser {
    /// Pairs of a text and its replacement. The longest text comes first, because it may contain others.
    pairs: Vec<(String, String)>,
}

impl Sanitiser {
    /// Creates a sanitiser for a copy of the repository at `root`.
    pub(super) fn new(root: &Path) -> Self {
        let mut this = Self::default();
        for path in [Some(root.to_path_buf()), root.canonicalize().ok()].into_iter().flatten() {
            this.add(&path.to_string_lossy(), ROOT);
            if let Some(parent) = path.parent() {
                this.add(&parent.to_string_lossy(), HOME);
            }
        }
        let home = std::env::var("HOME").unwrap_or_default();
        for (variable, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let seeming = format!("{HOME}/{folder}");
            this.add(&format!("{home}/{folder}"), &seeming);
            this.add(&std::env::var(variable).unwrap_or_default(), &seeming);
        }
        this
    }

    /// Adds a text to replace.
    pub(super) fn add(&mut self, from: &str, to: &str) {
        if from.len() >= SHORTEST_NAME && from != to {
            self.pairs.push((from.to_owned(), to.to_owned()));
            self.pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        }
    }

    /// Returns the text without traces of this machine.
    pub(super) fn clean(&self, text: &str) -> String {
        self.pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    /// Rejects a text that still contains a trace of this machine.
    pub(super) fn check(&self, text: &str) -> ChoreResult<()> {
        if let Some((from, _)) = self.pairs.iter().find(|(from, _)| text.contains(from)) {
            return Err(format!("the recording still names `{from}`").into());
        }
        let betrayal = Regex::new(BETRAYAL)?;
        for (index, line) in text.lines().enumerate() {
            // An escaped line end in JSON would put the letter `n` before the next line's first path.
            let line = line.replace("\\n", "  ").replace("\\t", "  ");
            if let Some(found) = betrayal.find(&line) {
                let before: String =
                    line.get(..found.start()).unwrap_or_default().chars().rev().take(80).collect();
                let before: String = before.chars().rev().collect();
                return Err(format!("line {} names `{}`, after `{before}`", index + 1, found.as_str()).into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_is_replaced_first() {
        let mut sanitiser = Sanitiser::default();
        sanitiser.add("/data/me", "/home/dev");
        sanitiser.add("/data/me/copy", ROOT);
        assert_eq!(
            sanitiser.clean("at /data/me/copy/src and /data/me/.x"),
            format!("at {ROOT}/src and /home/dev/.x")
        );
    }

    #[test]
    fn what_betrays_a_machine_is_refused() {
        let sanitiser = Sanitiser::default();
        for text in
            ["see /tmp/x", concat!("(/ro", "ot/.cargo)"), "\"registry+https://somewhere\"", r"a\n/tmp/x"]
        {
            assert!(sanitiser.check(text).is_err(), "{text}");
        }
        for text in ["mysql://root:pw@host", "/home/dev/work", "src/tmp/x", "a/var/b"] {
            assert!(sanitiser.check(text).is_ok(), "{text}");
        }
    }
}

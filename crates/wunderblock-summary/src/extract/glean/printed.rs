//! Reads what a program prints about its own work, namely aider's edits, its commits, and the commits that it takes
//! back.

use super::{Found, Said};
use crate::extract::calls::act::Deed;
use crate::extract::calls::decision::Verdict;
use crate::extract::calls::{outcome, skill};
use std::borrow::Cow;
use wunderblock_core::units::Seq;

/// A commit that was not taken back.
#[derive(Clone, Debug)]
pub(super) struct Commit {
    hash: String,
    /// Files that were edited for the commit.
    files: Vec<String>,
    /// Reply whose work the commit contains.
    reply: Option<Seq>,
}

/// Maximum number of lines read from a text.
const LINES_MAX: usize = 400;

/// Origin of text from an environment, as named by the reader of SWE-agent's logs.
const ENVIRONMENT: &str = "environment";
/// Origins of the outputs of programs that the user runs or that act for the user.
const PRINTS: [&str; 12] = [
    "aider",
    "attachment:diagnostics",
    "bash",
    "bash-stderr",
    "bash-stdout",
    ENVIRONMENT,
    "local-command-stderr",
    "local-command-stdout",
    "local_command",
    "new-diagnostics",
    "tool output",
    "user_shell_command",
];
/// Beginnings of lines in which aider reports that a reply's edits were not made.
const REFUSES: [&str; 2] = ["The LLM did not conform to the edit format", "Skipping edits"];
/// Beginning of the line in which aider reports that nothing was taken back.
const KEPT: &str = "The last commit was not made by aider";
/// Beginning of the line in which aider reports that the user broke the reply off.
const INTERRUPTED: &str = "^C KeyboardInterrupt";
/// Shorter form of [`INTERRUPTED`], which aider prints at an empty prompt, too.
const INTERRUPT: &str = "^C";

impl<'a> Found<'a> {
    /// Reads a text that a program inserted.
    pub(super) fn printed(&mut self, at: Seq, what: &str, text: Cow<'a, str>) {
        if wunderblock_core::section::Section::ALL.iter().any(|section| section.name() == what) {
            return;
        }
        if what == ENVIRONMENT && self.acted(at, &text) {
            self.others.push(Said { at, text });
            return;
        }
        let mut edited: Vec<String> = Vec::new();
        let mut is_users = false;
        for line in text.lines().take(LINES_MAX) {
            let line = line.trim_start_matches(['>', ' ']);
            let before = line
                .strip_prefix("Committing ")
                .and_then(|rest| rest.strip_suffix(" before applying edits."));
            if let Some(path) = before {
                // The user made these changes, or they belong to a reply whose edits were made only in part: aider
                // prints nothing about those edits.
                is_users = true;
                edited.push(path.to_owned());
                self.files.touch(at, at, &Deed::Changed, path);
            } else if let Some(path) = line.strip_prefix("Applied edit to ") {
                edited.push(path.trim().to_owned());
                self.touch(at, at, &Deed::Changed, path.trim());
            } else if let Some(path) =
                line.strip_prefix("Added ").and_then(|rest| rest.split_once(" to the chat"))
            {
                self.touch(at, at, &Deed::Read, path.0.trim());
            } else if line.starts_with("Commit ") {
                let whose = if is_users { " (what stood uncommitted before)" } else { "" };
                self.done.push(Said { at, text: Cow::Owned(format!("{line}{whose}")) });
                let hash = line.split(' ').nth(1).unwrap_or_default().to_owned();
                let reply = self.newest_replies().next_back().map(|reply| reply.at).filter(|_| !is_users);
                self.commits.push(Commit { hash, files: std::mem::take(&mut edited), reply });
                is_users = false;
            } else if let Some(place) = self.commit_behind(line, &["Removed: "]) {
                self.undo(at, place..place + 1);
            } else if let Some(place) =
                self.commit_behind(line, &["Now at: ", "HEAD is: ", "HEAD is now at "])
            {
                self.undo(at, place + 1..self.commits.len());
            } else if REFUSES.iter().any(|words| line.starts_with(words)) {
                self.judge_newest(Verdict::NotApplied);
            } else if line.starts_with(KEPT) {
                self.trouble(at, "`/undo`", line);
            } else if line.starts_with(INTERRUPT) {
                // The part of the reply that had already arrived is recorded after this line. If this line appears at
                // a prompt, a user turn follows.
                self.is_interrupted = true;
                if line.starts_with(INTERRUPTED) {
                    self.judge_newest(Verdict::BrokenOff);
                }
            }
        }
        // Instructions and notices speak of errors, too, and an error in a demonstration does not belong to this work.
        let line = outcome::error_line(&text).filter(|line| line.len() < 300 && PRINTS.contains(&what));
        if let Some(line) = line {
            self.trouble(at, "printed", line.trim_start_matches(['>', ' ']));
        }
        if let Some(skill) = self.steps.last_mut().and_then(|step| step.skill.as_mut()) {
            skill::read(skill, at, &text);
        }
        self.others.push(Said { at, text });
    }

    /// Records a judgement on the newest reply, unless a commit contains the reply's work.
    fn judge_newest(&mut self, verdict: Verdict) {
        let newest = self.newest_replies().next_back().map(|reply| reply.at);
        let newest = newest.filter(|at| !self.commits.iter().any(|commit| commit.reply == Some(*at)));
        self.verdicts.extend(newest.map(|at| (at, verdict)));
    }

    /// Returns the index of the commit that a line names after one of the given words.
    fn commit_behind(&self, line: &str, words: &[&str]) -> Option<usize> {
        let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
        let hash = rest.split_whitespace().next()?;
        self.commits.iter().position(|commit| commit.hash == hash)
    }

    /// Takes commits back. Commits that are taken back no longer count as done. The claims in the replies behind
    /// these commits no longer count either, nor do the replies' changes to files that no other commit changed.
    fn undo(&mut self, at: Seq, which: std::ops::Range<usize>) {
        let undone: Vec<Commit> = self.commits.drain(which).collect();
        let is_undone = |said: &Said<'_>| {
            let hash = said.text.strip_prefix("Commit ").and_then(|rest| rest.split(' ').next());
            hash.is_some_and(|hash| undone.iter().any(|gone| gone.hash == hash))
        };
        self.done.retain(|said| !is_undone(said));
        // A reply is taken back only if none of its commits is left.
        let stands = |reply: &Seq| self.commits.iter().any(|commit| commit.reply == Some(*reply));
        let gone: Vec<Seq> =
            undone.iter().filter_map(|gone| gone.reply).filter(|reply| !stands(reply)).collect();
        self.verdicts.extend(gone.into_iter().map(|reply| (reply, Verdict::TakenBack)));
        for path in undone.iter().flat_map(|gone| &gone.files) {
            self.files.uncount(path);
            if !self.commits.iter().any(|commit| commit.files.contains(path)) {
                self.files.touch(at, at, &Deed::Reverted, path);
            }
        }
    }
}

//! What a program prints of its own work: aider its edits, its commits, and those it takes back.

use super::{Found, Said};
use crate::summarize::extract::act::Deed;
use crate::summarize::extract::decision::Verdict;
use crate::summarize::extract::{outcome, skill};
use std::borrow::Cow;
use wunderblock_core::units::Seq;

/// A commit that stands.
#[derive(Clone, Debug)]
pub(super) struct Commit {
    hash: String,
    /// The files that were edited for it.
    files: Vec<String>,
    /// The reply it holds the work of.
    reply: Option<Seq>,
}

/// A longer text is read no further, in lines.
const LINES_MAX: usize = 400;

/// What comes in from an environment, as the reader of SWE-agent's logs calls it.
const ENVIRONMENT: &str = "environment";
/// What SWE-agent shows before the task.
const DEMONSTRATION: &str = "demonstration";
/// How aider begins a line that says that a reply's edits were not made,
const REFUSES: [&str; 2] = ["The LLM did not conform to the edit format", "Skipping edits"];
/// one that says that it took nothing back,
const KEPT: &str = "The last commit was not made by aider";
/// and one that says that its user broke the reply off; the shorter one stands at an empty prompt, too.
const INTERRUPTED: &str = "^C KeyboardInterrupt";
const INTERRUPT: &str = "^C";

impl<'a> Found<'a> {
    /// What some program put in.
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
                // By its user, or by a reply whose edits were made in part: nothing is printed of those.
                is_users = true;
                edited.push(path.to_owned());
                self.files.touch((at, at), &Deed::Changed, path);
            } else if let Some(path) = line.strip_prefix("Applied edit to ") {
                edited.push(path.trim().to_owned());
                self.touch((at, at), &Deed::Changed, path.trim());
            } else if let Some(path) =
                line.strip_prefix("Added ").and_then(|rest| rest.split_once(" to the chat"))
            {
                self.touch((at, at), &Deed::Read, path.0.trim());
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
                // What had come of a reply is recorded behind this; at a prompt a user's turn is.
                self.is_interrupted = true;
                if line.starts_with(INTERRUPTED) {
                    self.judge_newest(Verdict::BrokenOff);
                }
            }
        }
        // An error of a demonstration is none of this work.
        let line = outcome::error_line(&text).filter(|line| line.len() < 300 && what != DEMONSTRATION);
        if let Some(line) = line {
            self.trouble(at, "printed", line.trim_start_matches(['>', ' ']));
        }
        if let Some(skill) = self.steps.last_mut().and_then(|step| step.skill.as_mut()) {
            skill::read(skill, at, &text);
        }
        self.others.push(Said { at, text });
    }

    /// Says what became of the newest reply, unless a commit holds its work.
    fn judge_newest(&mut self, verdict: Verdict) {
        let newest = self.newest_replies().next_back().map(|reply| reply.at);
        let newest = newest.filter(|at| !self.commits.iter().any(|commit| commit.reply == Some(*at)));
        self.verdicts.extend(newest.map(|at| (at, verdict)));
    }

    /// Which commit a line names behind one of these words.
    fn commit_behind(&self, line: &str, words: &[&str]) -> Option<usize> {
        let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
        let hash = rest.split_whitespace().next()?;
        self.commits.iter().position(|commit| commit.hash == hash)
    }

    /// Commits that were taken back are not done, nor is what their replies say, nor what they changed in files that no
    /// other commit changed.
    fn undo(&mut self, at: Seq, which: std::ops::Range<usize>) {
        let undone: Vec<Commit> = self.commits.drain(which).collect();
        let is_undone = |said: &Said<'_>| {
            let hash = said.text.strip_prefix("Commit ").and_then(|rest| rest.split(' ').next());
            hash.is_some_and(|hash| undone.iter().any(|gone| gone.hash == hash))
        };
        self.done.retain(|said| !is_undone(said));
        // A reply of whose commits one stands is not taken back as a whole.
        let stands = |reply: &Seq| self.commits.iter().any(|commit| commit.reply == Some(*reply));
        let gone: Vec<Seq> =
            undone.iter().filter_map(|gone| gone.reply).filter(|reply| !stands(reply)).collect();
        self.verdicts.extend(gone.into_iter().map(|reply| (reply, Verdict::TakenBack)));
        for path in undone.iter().flat_map(|gone| &gone.files) {
            self.files.uncount(path);
            if !self.commits.iter().any(|commit| commit.files.contains(path)) {
                self.files.touch((at, at), &Deed::Reverted, path);
            }
        }
    }
}

//! What was done and how it ended: files, commands, errors.

use super::{COMMAND, Pick, counted};
use crate::summarize::extract::act::{Deed, Kind};
use crate::summarize::extract::glean::{File, Step, Trouble};
use crate::summarize::extract::item::{ItemText, SummaryItem};
use crate::summarize::extract::plain::code;
use std::collections::{HashMap, HashSet};
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;

impl Pick<'_> {
    pub(super) fn files_read(&mut self) {
        let found = self.found;
        let mut files: Vec<(&str, u32, Seq)> = found
            .files
            .iter()
            .filter(|file| !file.is_changed())
            .map(|file| (file.path.as_str(), file.read, file.last_read))
            .collect();
        let mut seen: HashSet<&str> = files.iter().map(|(path, ..)| *path).collect();
        let unanswered =
            found.unanswered().filter(|(_, deed, path)| *deed == Deed::Read && seen.insert(path));
        files.extend(unanswered.map(|(at, _, path)| (path, 1, at)));
        for (path, count, at) in files {
            let name = counted(&code(path, self.marks()), count);
            let weight = self.span.newness(at) + i64::from(count.min(10)) * 50;
            self.items.push(SummaryItem::new(
                Fill::FilesRead,
                ItemText::Packed { label: "read", name },
                at,
                weight,
            ));
        }
    }

    pub(super) fn files_modified(&mut self) {
        let found = self.found;
        for file in found.files.iter().filter(|file| file.is_changed()) {
            let File { path, changed, removed, last_changed, .. } = file;
            let lead = format!(
                "{} {}",
                if *removed { "removed" } else { "changed" },
                counted(&code(path, self.marks()), *changed)
            );
            let text = ItemText::Line { lead, quote: String::new(), tail: String::new() };
            let weight = self.span.newness(*last_changed) + i64::from((*changed).min(10)) * 40;
            self.items.push(SummaryItem::new(Fill::FilesModified, text, *last_changed, weight));
        }
        let mut seen: HashSet<&str> =
            found.files.iter().filter(|file| file.is_changed()).map(|file| file.path.as_str()).collect();
        let waiting = found.unanswered().filter(|(_, deed, path)| *deed != Deed::Read && seen.insert(path));
        for (at, deed, path) in waiting {
            let name = counted(&code(path, self.marks()), 1);
            let lead = match (self.waits(at), deed) {
                (true, Deed::Removed) => format!("removing {name}, no result yet"),
                (true, _) => format!("changing {name}, no result yet"),
                (false, Deed::Removed) => format!("removed {name}"),
                (false, _) => format!("changed {name}"),
            };
            let text = ItemText::Line { lead, quote: String::new(), tail: String::new() };
            self.items.push(SummaryItem::new(Fill::FilesModified, text, at, 1_500));
        }
    }

    pub(super) fn commands(&mut self) {
        let found = self.found;
        let mut folded: HashMap<&str, (u32, usize)> = HashMap::new();
        for (place, step) in found.steps.iter().enumerate() {
            if matches!(step.kind, Kind::Run | Kind::Other) {
                let fold = folded.entry(step.what.as_str()).or_default();
                *fold = (fold.0 + 1, place);
            }
        }
        let mut folded: Vec<(u32, usize)> = folded.into_values().collect();
        folded.sort_by_key(|(_, place)| *place);
        for (count, place) in folded {
            let Some(step) = found.steps.get(place) else { continue };
            let failed = step.outcome.as_ref().is_some_and(|outcome| outcome.failed);
            let weight =
                self.span.newness(step.at) + i64::from(count.min(8)) * 60 + if failed { 150 } else { 0 }
                    - if step.shows { 900 } else { 0 };
            let (lead, quote) = self.told(step, count);
            self.items.push(SummaryItem::quote(Fill::Commands, &lead, quote, step.at, weight));
        }
    }

    /// Whether a result may still come. In some formats results say not whose they are: they have come, then.
    fn waits(&self, at: Seq) -> bool {
        self.found.others.last().into_iter().chain(self.found.users.last()).all(|said| said.at < at)
            && self.found.steps.last().is_none_or(|step| step.at == at)
    }

    /// A step and how it ended.
    pub(super) fn told(&self, step: &Step, count: u32) -> (String, String) {
        let what = counted(&code(&self.words(&step.what, COMMAND), self.marks()), count);
        let Some(outcome) = &step.outcome else {
            let waits = if self.waits(step.at) { " → no result yet" } else { "" };
            return (format!("{what}{waits}"), String::new());
        };
        let mut lead = what;
        if outcome.failed {
            lead.push_str(" → failed");
            if let Some(code) = outcome.exit.as_deref().filter(|code| *code != "0") {
                lead.push_str(&format!(", exit code {code}"));
            }
        } else if !step.shows || step.kind == Kind::Write {
            lead.push_str(" → ok");
        }
        let quote = outcome.telling.as_deref().map(|telling| self.words(telling, 200)).unwrap_or_default();
        if !quote.is_empty() {
            lead.push_str(": ");
        }
        (lead, quote)
    }

    pub(super) fn errors(&mut self) {
        let found = self.found;
        let mut folded: HashMap<(&str, &str), (u32, usize)> = HashMap::new();
        for (place, trouble) in found.troubles.iter().enumerate() {
            let fold = folded.entry((trouble.what.as_str(), trouble.line.as_str())).or_default();
            *fold = (fold.0 + 1, place);
        }
        let mut folded: Vec<(u32, usize)> = folded.into_values().collect();
        folded.sort_by_key(|(_, place)| *place);
        for (count, place) in folded {
            let Some(trouble) = found.troubles.get(place) else { continue };
            let Trouble { at, what, line, of_step, fixed, by } = trouble;
            let what = self.words(what, COMMAND);
            let lead = if *of_step { counted(&code(&what, self.marks()), count) } else { what };
            let quote = self.words(line, 220);
            let lead = if quote.is_empty() { format!("{lead} failed") } else { format!("{lead}: ") };
            let tail = match (fixed, by) {
                (Some(_), Some(path)) => format!(" → fixed after changing `{}`", code(path, self.marks())),
                (Some(_), None) => " → fixed".to_owned(),
                (None, _) if *of_step => " → open".to_owned(),
                (None, _) => String::new(),
            };
            let weight = self.span.newness(*at) + if trouble.is_open() && *of_step { 700 } else { 0 };
            let mut item = SummaryItem::new(Fill::Errors, ItemText::Line { lead, quote, tail }, *at, weight);
            item.refs.extend(*fixed);
            self.items.push(item);
        }
    }
}

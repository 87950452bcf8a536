//! An item that a summary may contain.

use crate::extract::calls::change::ADDED_LISTED;
use crate::extract::language::plain::{self, Escaping};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;

/// An item that a summary may contain, with its usefulness. The record of a summary has its items without what only
/// the choice among them needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::extract) struct SummaryItem {
    /// Kind of the item.
    pub(in crate::extract) fill: Fill,
    pub(in crate::extract) text: ItemText,
    /// Positions of the sources of the item, and of its correction if there is one.
    pub(in crate::extract) refs: Vec<Seq>,
    /// Usefulness compared with other items of its kind; a higher value is better.
    #[serde(skip)]
    pub(in crate::extract) weight: i64,
    /// Whether the summary must contain the item.
    #[serde(skip)]
    pub(in crate::extract) must: bool,
    /// Place of the item among the items of its kind in the text.
    #[serde(skip)]
    pub(in crate::extract) order: u64,
}

/// Content of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum ItemText {
    /// A file or command if the line is about one, our words, an optional quotation, and our words after it.
    Line { about: Option<CountedName>, lead: String, quote: String, tail: String },
    /// A message, word for word.
    Block(String),
    /// A name that shares its line with other names under the same label.
    Packed { label: Cow<'static, str>, name: CountedName },
    /// Numbers of messages and calls, by what is counted.
    Counts(Vec<(Cow<'static, str>, u64)>),
    /// Times of the first and the last message.
    Span { since: String, until: String },
}

/// A name, and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::extract) struct CountedName {
    /// Our words before the name, such as what was done to a file.
    pub(super) verb: String,
    /// The name, in a form that can be put in backticks.
    pub(super) name: String,
    pub(super) count: u32,
    /// Names that the changes to a file brought into it, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) added: Vec<String>,
}

impl fmt::Display for CountedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}`{}`", self.verb, self.name)?;
        if self.count > 1 {
            write!(f, " ×{}", self.count)?;
        }
        for (place, name) in self.added.iter().enumerate() {
            write!(f, "{}`{name}`", if place == 0 { ADDS } else { ", " })?;
        }
        Ok(())
    }
}

impl CountedName {
    pub(super) fn new(verb: impl Into<String>, name: String, count: u32) -> Self {
        Self { verb: verb.into(), name, count, added: Vec::new() }
    }

    /// Adds what an earlier item counted. What was done last to a file stands alone: changes do not count as removals.
    fn add(&mut self, earlier: Self) {
        if earlier.verb == self.verb {
            self.count = self.count.saturating_add(earlier.count);
            let mut added = earlier.added;
            added.retain(|name| !self.added.contains(name));
            added.append(&mut self.added);
            self.added = added.split_off(added.len().saturating_sub(ADDED_LISTED));
        }
    }
}

impl ItemText {
    /// Makes a line of our words and a quotation.
    pub(super) fn quote(lead: impl Into<String>, quote: String) -> Self {
        Self::Line { about: None, lead: lead.into(), quote, tail: String::new() }
    }

    /// Makes a line about a file or command.
    pub(super) fn about(about: CountedName, lead: impl Into<String>, quote: String) -> Self {
        Self::Line { about: Some(about), lead: lead.into(), quote, tail: String::new() }
    }

    /// Adds what an earlier item that says the same counted.
    pub(super) fn add(&mut self, earlier: Self) {
        match (self, earlier) {
            (Self::Line { about: Some(own), .. }, Self::Line { about: Some(old), .. })
            | (Self::Packed { name: own, .. }, Self::Packed { name: old, .. }) => own.add(old),
            (Self::Counts(own), Self::Counts(old)) => {
                for (what, count) in old {
                    match own.iter_mut().find(|(known, _)| *known == what) {
                        Some((_, sum)) => *sum += count,
                        None => own.push((what, count)),
                    }
                }
            }
            (Self::Span { since, .. }, Self::Span { since: old, .. }) => *since = old,
            _ => {}
        }
    }

    /// Returns the words before the quotation.
    fn lead(&self) -> String {
        match self {
            Self::Line { about: Some(about), lead, .. } => format!("{about}{lead}"),
            Self::Line { lead, .. } => lead.clone(),
            Self::Block(_) => String::new(),
            Self::Packed { name, .. } => name.to_string(),
            Self::Counts(counts) => {
                counts.iter().map(|(what, count)| format!("{what} ×{count}")).collect::<Vec<_>>().join(", ")
            }
            Self::Span { since, until } => format!("from {since} to {until}"),
        }
    }
}

/// Approximate maximum number of bytes in a line of packed names.
pub(super) const PACKED_LINE: usize = 110;
/// Separator of packed names.
pub(super) const BETWEEN: &str = " · ";
/// Separator between a question and its answer.
pub(super) const ANSWERED: &str = " → answered: ";
/// Beginning of a request that follows other requests.
pub(super) const THEN: &str = "then: ";
/// Beginning of a line from an unchecked summary.
const UNCHECKED: &str = "~ ";
/// Line before a summary that contains lines from an unchecked one.
pub(super) const UNCHECKED_LEGEND: &str = "(~ marks what another program's summary says, unchecked)";
/// Beginning of a line with the words of another agent.
pub(super) const OF_PEER: &str = "from another agent: ";
/// Beginning of a line with the outcome of a request.
pub(super) const OUTCOME: &str = "→ ";
/// Beginning of a rule in a part that contains other kinds, too.
pub(super) const RULE: &str = "rule: ";
/// Beginning of the line of a commit, which quotes the line that reports it.
pub(super) const COMMITTED: &str = "committed: ";
/// Beginning of a completed plan item in a part that contains open ones, too.
pub(super) const DONE: &str = "done: ";
/// Words before names that the changes to a file brought into it.
pub(super) const ADDS: &str = ", with ";
/// Ending of the line for a call without a result.
pub(super) const NO_RESULT: &str = "no result yet";
/// Ending of the line for a command whose process went on.
pub(super) const RUNNING: &str = "running when last seen";
/// Beginning of the line with the last reply that ended a turn and summed up the work, if the work continued after
/// that reply.
pub(super) const WRAPPED_UP: &str = "last wrap-up: ";
/// Beginning of a sentence about remaining work, if the work continued after that sentence.
pub(super) const OPEN_WHEN_SAID: &str = "open when said: ";
/// Ending of the line for an error that its latest check found. Whether the error still exists is unknown.
pub(super) const OPEN: &str = " → open when last checked";
/// Ending of the line for an error that the next failing check of the same family did not show.
pub(super) const REPLACED: &str = " → the next check failed otherwise";
/// Addition to the weight of an item that only fills room which is left. Other weights stay far above it: a line of an
/// earlier summary may weigh less than 0.
pub(super) const SPARE: i64 = -100_000;
/// Minimum number of bytes in a quotation that is worth its line.
const QUOTE_MIN: usize = 12;

impl SummaryItem {
    pub(super) fn new(fill: Fill, text: ItemText, at: Seq, weight: i64) -> Self {
        Self { fill, text, refs: vec![at], weight, must: false, order: at.0 }
    }

    /// Makes an item that quotes somebody.
    pub(in crate::extract) fn quote(fill: Fill, lead: &str, quote: String, at: Seq, weight: i64) -> Self {
        Self::new(fill, ItemText::quote(lead, quote), at, weight)
    }

    /// Makes an item from a name that shares its line with other names under the same label.
    pub(super) fn packed(fill: Fill, label: &'static str, name: CountedName, at: Seq, weight: i64) -> Self {
        Self::new(fill, ItemText::Packed { label: label.into(), name }, at, weight)
    }

    /// Makes an item from a name that the summary must contain.
    pub(in crate::extract) fn must(fill: Fill, name: String, at: Seq) -> Self {
        let name = CountedName::new("", name.replace('`', "'"), 1);
        Self { must: true, ..Self::packed(fill, "named", name, at, i64::MAX / 2) }
    }

    /// Turns the item into a request that follows other requests.
    pub(super) fn follow(&mut self) {
        self.weight = self.weight.min(1_000);
        if let ItemText::Line { lead, .. } = &mut self.text
            && lead.is_empty()
        {
            THEN.clone_into(lead);
        }
    }

    /// Labels a quotation as unchecked.
    pub(super) fn name_unchecked(&mut self) {
        if let ItemText::Line { lead, quote, .. } = &mut self.text
            && !quote.is_empty()
            && !lead.starts_with(UNCHECKED)
        {
            lead.insert_str(0, UNCHECKED);
        }
    }

    /// Returns whether the item only fills room that is left.
    pub(super) fn is_spare(&self) -> bool {
        self.weight < SPARE / 2
    }

    /// Returns whether the item is from an unchecked summary.
    pub(super) fn is_unchecked(&self) -> bool {
        matches!(&self.text, ItemText::Line { lead, .. } if lead.starts_with(UNCHECKED))
    }

    /// Returns a key that is equal for items that say the same thing.
    pub(super) fn same(&self) -> (Fill, String) {
        let text = match &self.text {
            // Lines about the same file are considered the same, regardless of what was done to it and why.
            ItemText::Line { about: Some(about), .. } if self.fill == Fill::FilesModified => {
                about.name.clone()
            }
            ItemText::Line { about: Some(about), quote, .. } => format!("{} {quote}", about.name),
            ItemText::Line { lead, quote, .. } => format!("{lead} {quote}"),
            ItemText::Block(text) => plain::line(text, Escaping::All),
            ItemText::Packed { name, .. } => name.name.clone(),
            ItemText::Counts(_) => "counts".to_owned(),
            ItemText::Span { .. } => "span".to_owned(),
        };
        let folded: String =
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(400).collect();
        (self.fill, folded)
    }

    /// Returns whether the item is about this name in backticks. An item that is not a file must not quote anybody.
    pub(in crate::extract) fn is_name(&self, name: &str) -> bool {
        match &self.text {
            ItemText::Line { about, quote, .. } => {
                let is_file = self.fill == Fill::FilesModified && about.is_some();
                (quote.is_empty() || is_file) && self.text.lead().contains(name)
            }
            ItemText::Packed { .. } => self.text.lead().starts_with(name),
            ItemText::Block(_) | ItemText::Counts(_) | ItemText::Span { .. } => false,
        }
    }

    /// Returns the words that the item quotes.
    pub(super) fn quoted(&self) -> Option<&str> {
        match &self.text {
            ItemText::Line { quote: text, .. } | ItemText::Block(text) => {
                Some(text.as_str()).filter(|text| !text.is_empty())
            }
            ItemText::Packed { .. } | ItemText::Counts(_) | ItemText::Span { .. } => None,
        }
    }

    /// Returns whether the item quotes these words, or their first 60 letters.
    pub(in crate::extract) fn quotes(&self, words: &str) -> bool {
        let plain = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(60).collect()
        };
        let words = plain(words);
        self.quoted().is_some_and(|quote| !words.is_empty() && plain(quote).starts_with(&words))
    }

    /// Returns the whole content of the item as a text that can be searched.
    pub(super) fn search_text(&self) -> String {
        match &self.text {
            ItemText::Line { quote, tail, .. } => format!("{} {quote} {tail}", self.text.lead()),
            ItemText::Block(text) => text.clone(),
            other => other.lead(),
        }
    }

    /// Returns the positions of the item as they are written at the end of a line.
    pub(super) fn positions(&self) -> String {
        self.refs.iter().fold(String::new(), |mut out, seq| {
            let _ = write!(out, " #{seq}");
            out
        })
    }

    /// Writes the lines of the item. Callers join packed names.
    pub(super) fn write(&self, marks: Escaping) -> String {
        let (at, lead) = (self.positions(), self.text.lead());
        let text = match &self.text {
            ItemText::Line { quote, tail, .. } if quote.is_empty() => {
                format!("- {}{tail}{at}", lead.trim_end_matches([' ', ':']))
            }
            ItemText::Line { quote, tail, .. } => format!("- {lead}\"{quote}\"{tail}{at}"),
            ItemText::Block(text) if !text.trim().contains(['\n', '"', '`']) => {
                format!("- \"{}\"{at}", plain::line(text, marks))
            }
            ItemText::Block(text) => format!("-{at}\n{}", plain::block(text, marks)),
            ItemText::Packed { label, .. } if !label.is_empty() => format!("- {label}: {lead}{at}"),
            ItemText::Packed { .. } | ItemText::Counts(_) | ItemText::Span { .. } => format!("- {lead}{at}"),
        };
        // A line of an earlier summary may have been written for a form without elements.
        plain::disarmed(text, marks)
    }

    /// Returns the item in about `most` bytes, or `None` if it would say nothing.
    pub(super) fn shortened(&self, most: usize, marks: Escaping) -> Option<Self> {
        let around = self.positions().len() + 6;
        let (mut text, quote, tail) = match &self.text {
            ItemText::Line { quote, tail, .. } => (self.text.clone(), quote.clone(), tail.len()),
            ItemText::Block(text) => {
                let end = plain::cut(text, most.saturating_mul(2).max(64));
                let more = if end < text.len() { "…" } else { "" };
                let quote = plain::line(&format!("{}{more}", text.get(..end)?.trim_end()), marks);
                (ItemText::quote("", String::new()), quote, 0)
            }
            ItemText::Packed { .. } | ItemText::Counts(_) | ItemText::Span { .. } => return None,
        };
        if quote.is_empty() {
            return None;
        }
        let room = most.checked_sub(around + text.lead().len() + tail);
        let fits = room.is_some_and(|room| room >= QUOTE_MIN);
        let short = room.filter(|_| fits).map(|room| plain::head(&quote, room).into_owned());
        // A character of a script without blanks says as much as two letters.
        let signs = |c: char| if c.is_alphanumeric() { 1 + usize::from(c.len_utf8() >= 3) } else { 0 };
        let says = match &short {
            Some(short) => {
                short.chars().map(signs).sum::<usize>() >= QUOTE_MIN || self.fill == Fill::UserMessages
            }
            // A file is worth its line even without the reason for its change.
            None => self.fill == Fill::FilesModified && room.is_some(),
        };
        if let ItemText::Line { quote, .. } = &mut text {
            *quote = short.unwrap_or_default();
        }
        says.then(|| Self { text, ..self.clone() })
    }
}

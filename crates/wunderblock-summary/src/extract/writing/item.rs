//! An item that a summary may contain.

use crate::extract::language::plain::{self, Escaping};
use std::fmt::Write as _;
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;

/// An item that a summary may contain, with its usefulness.
#[derive(Clone, Debug)]
pub(in crate::extract) struct SummaryItem {
    /// Kind of the item.
    pub(in crate::extract) fill: Fill,
    pub(in crate::extract) text: ItemText,
    /// Positions of the sources of the item, and of its correction if there is one.
    pub(in crate::extract) refs: Vec<Seq>,
    /// Usefulness compared with other items of its kind; a higher value is better.
    pub(in crate::extract) weight: i64,
    /// Whether the summary must contain the item.
    pub(in crate::extract) must: bool,
    /// Place of the item among the items of its kind in the text.
    pub(in crate::extract) order: u64,
}

/// Content of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::extract) enum ItemText {
    /// Our words, an optional quotation, and our words after the quotation.
    Line { lead: String, quote: String, tail: String },
    /// A message, word for word.
    Block(String),
    /// A name that shares its line with other names under the same label.
    Packed { label: &'static str, name: String },
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
        let lead = lead.to_owned();
        Self::new(fill, ItemText::Line { lead, quote, tail: String::new() }, at, weight)
    }

    /// Makes an item from a name that shares its line with other names under the same label.
    pub(super) fn packed(fill: Fill, label: &'static str, name: String, at: Seq, weight: i64) -> Self {
        Self::new(fill, ItemText::Packed { label, name }, at, weight)
    }

    /// Makes an item from a name that the summary must contain.
    pub(in crate::extract) fn must(fill: Fill, name: String, at: Seq) -> Self {
        let name = format!("`{}`", name.replace('`', "'"));
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

    /// Returns whether the item names a file by its path, whatever it quotes.
    fn is_file(&self, lead: &str) -> bool {
        self.fill == Fill::FilesModified && lead.contains('`')
    }

    /// Returns a key that is equal for items that say the same thing.
    pub(super) fn same(&self) -> (Fill, String) {
        let text = match &self.text {
            // Lines about the same file are considered the same, regardless of what was done to it and why. The last
            // name is the file: a move has its earlier name, too.
            ItemText::Line { lead, .. } if self.is_file(lead) => {
                let what = split_added(lead).0;
                what.rsplit('`').nth(1).unwrap_or(what).to_owned()
            }
            ItemText::Line { lead, quote, .. } if quote.is_empty() => uncounted(lead).to_owned(),
            ItemText::Line { lead, quote, .. } => format!("{} {quote}", uncounted(lead)),
            ItemText::Block(text) => plain::line(text, Escaping::All),
            ItemText::Packed { name, .. } => uncounted(name).to_owned(),
        };
        let folded: String =
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(400).collect();
        (self.fill, folded)
    }

    /// Returns whether the item is about this name in backticks. An item that is not a file must not quote anybody.
    pub(in crate::extract) fn is_name(&self, name: &str) -> bool {
        match &self.text {
            ItemText::Line { lead, quote, .. } => {
                lead.contains(name) && (quote.is_empty() || self.is_file(lead))
            }
            ItemText::Packed { name: own, .. } => own.starts_with(name),
            ItemText::Block(_) => false,
        }
    }

    /// Returns the words that the item quotes.
    pub(super) fn quoted(&self) -> Option<&str> {
        match &self.text {
            ItemText::Line { quote: text, .. } | ItemText::Block(text) => {
                Some(text.as_str()).filter(|text| !text.is_empty())
            }
            ItemText::Packed { .. } => None,
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
            ItemText::Line { lead, quote, tail } => format!("{lead} {quote} {tail}"),
            ItemText::Block(text) => text.clone(),
            ItemText::Packed { name, .. } => name.clone(),
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
        let at = self.positions();
        match &self.text {
            ItemText::Line { lead, quote, tail } if quote.is_empty() => {
                format!("- {}{tail}{at}", lead.trim_end_matches([' ', ':']))
            }
            ItemText::Line { lead, quote, tail } => format!("- {lead}\"{quote}\"{tail}{at}"),
            ItemText::Block(text) if !text.trim().contains(['\n', '"', '`']) => {
                format!("- \"{}\"{at}", plain::line(text, marks))
            }
            ItemText::Block(text) => format!("-{at}\n{}", plain::block(text, marks)),
            ItemText::Packed { label: "", name } => format!("- {name}{at}"),
            ItemText::Packed { label, name } => format!("- {label}: {name}{at}"),
        }
    }

    /// Returns the item in about `most` bytes, or `None` if it would say nothing.
    pub(super) fn shortened(&self, most: usize, marks: Escaping) -> Option<Self> {
        let around = self.positions().len() + 6;
        let (lead, quote, tail) = match &self.text {
            ItemText::Line { lead, quote, tail } => (lead.clone(), quote.clone(), tail.clone()),
            ItemText::Block(text) => {
                let end = plain::cut(text, most.saturating_mul(2).max(64));
                let more = if end < text.len() { "…" } else { "" };
                let quote = plain::line(&format!("{}{more}", text.get(..end)?.trim_end()), marks);
                (String::new(), quote, String::new())
            }
            ItemText::Packed { .. } => return None,
        };
        if quote.is_empty() {
            return None;
        }
        let room = most.checked_sub(around + lead.len() + tail.len());
        let Some(room) = room.filter(|room| *room >= QUOTE_MIN) else {
            // A file is worth its line even without the reason for its change.
            let quote = String::new();
            let text = ItemText::Line { lead, quote, tail };
            return (self.fill == Fill::FilesModified && room.is_some())
                .then(|| Self { text, ..self.clone() });
        };
        let quote = plain::head(&quote, room).into_owned();
        // A character of a script without blanks says as much as two letters.
        let signs = |c: char| if c.is_alphanumeric() { 1 + usize::from(c.len_utf8() >= 3) } else { 0 };
        let says = quote.chars().map(signs).sum::<usize>() >= QUOTE_MIN || self.fill == Fill::UserMessages;
        says.then(|| Self { text: ItemText::Line { lead, quote, tail }, ..self.clone() })
    }
}

/// Splits our words at the names that the changes to a file brought into it. A command may contain the same words.
pub(super) fn split_added(lead: &str) -> (&str, &str) {
    let is_outside =
        |at: usize| lead.get(..at).is_some_and(|before| before.matches('`').count().is_multiple_of(2));
    let place = lead.match_indices(ADDS).map(|(at, _)| at).find(|at| is_outside(*at));
    lead.split_at_checked(place.unwrap_or(lead.len())).unwrap_or((lead, ""))
}

/// Strips the count of a name.
fn uncounted(text: &str) -> &str {
    text.split(" ×").next().unwrap_or(text)
}

//! One thing a summary may say.

use super::plain::{self, Escaping};
use std::fmt::Write as _;
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;

/// One thing a summary may say, and how useful that is.
#[derive(Clone, Debug)]
pub(super) struct SummaryItem {
    /// What kind of thing.
    pub(super) fill: Fill,
    pub(super) text: ItemText,
    /// Where it comes from; where it was mended.
    pub(super) refs: Vec<Seq>,
    /// More is better, within one kind.
    pub(super) weight: i64,
    /// It goes before all others.
    pub(super) must: bool,
    /// Where it stands among its kind in the text.
    pub(super) order: u64,
}

/// What an item says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ItemText {
    /// Our words, somebody's words (in quotation marks, if any), our words.
    Line { lead: String, quote: String, tail: String },
    /// A message, word for word.
    Block(String),
    /// A name that shares its line with others of the same label.
    Packed { label: &'static str, name: String },
}

/// Lines of packed names are about so long, in bytes.
pub(super) const PACKED_LINE: usize = 110;
/// What stands between packed names.
pub(super) const BETWEEN: &str = " · ";
/// What stands between a question and its answer.
pub(super) const ANSWERED: &str = " → answered: ";
/// How a request begins that others came before.
pub(super) const THEN: &str = "then: ";
/// How a line begins that is from a summary which nothing checked.
const UNCHECKED: &str = "unchecked: ";
/// How a line begins that tells what came of a request.
pub(super) const OUTCOME: &str = "→ ";
/// How a rule begins in a part that holds other things too.
pub(super) const RULE: &str = "rule: ";
/// How an item of a plan begins that was ticked off, in a part that holds open ones too.
pub(super) const DONE: &str = "done: ";
/// How the last reply begins that ended a turn and sums up, where the work went on since.
pub(super) const WRAPPED_UP: &str = "last wrap-up: ";
/// How a sentence on what is left to do begins where the work went on since.
pub(super) const OPEN_WHEN_SAID: &str = "open when said: ";
/// How an error ends that its newest check found: whether it is there still, nobody has looked.
pub(super) const OPEN: &str = " → open when last checked";
/// How an error ends that was not among what the next check of its family failed by.
pub(super) const REPLACED: &str = " → the next check failed otherwise";
/// A shorter quotation is not worth its line, in bytes.
const QUOTE_MIN: usize = 12;

impl SummaryItem {
    pub(super) fn new(fill: Fill, text: ItemText, at: Seq, weight: i64) -> Self {
        Self { fill, text, refs: vec![at], weight, must: false, order: at.0 }
    }

    /// Somebody's words.
    pub(super) fn quote(fill: Fill, lead: &str, quote: String, at: Seq, weight: i64) -> Self {
        let lead = lead.to_owned();
        Self::new(fill, ItemText::Line { lead, quote, tail: String::new() }, at, weight)
    }

    /// A name that shares its line with others of the same label.
    pub(super) fn packed(fill: Fill, label: &'static str, name: String, at: Seq, weight: i64) -> Self {
        Self::new(fill, ItemText::Packed { label, name }, at, weight)
    }

    /// A name that has to be there.
    pub(super) fn must(fill: Fill, name: String, at: Seq) -> Self {
        let name = format!("`{}`", name.replace('`', "'"));
        Self { must: true, ..Self::packed(fill, "named", name, at, i64::MAX / 2) }
    }

    /// A request that others came before.
    pub(super) fn follow(&mut self) {
        self.weight = self.weight.min(1_000);
        if let ItemText::Line { lead, .. } = &mut self.text
            && lead.is_empty()
        {
            THEN.clone_into(lead);
        }
    }

    /// Somebody's words that nothing checked.
    pub(super) fn name_unchecked(&mut self) {
        if let ItemText::Line { lead, quote, .. } = &mut self.text
            && !quote.is_empty()
        {
            lead.insert_str(0, UNCHECKED);
        }
    }

    /// Whether it tells of a file by its path, whatever it quotes.
    fn is_file(&self, lead: &str) -> bool {
        self.fill == Fill::FilesModified && lead.contains('`')
    }

    /// What makes it the same as another.
    pub(super) fn same(&self) -> (Fill, String) {
        let text = match &self.text {
            ItemText::Line { lead, quote, .. } if quote.is_empty() || self.is_file(lead) => {
                uncounted(lead).to_owned()
            }
            ItemText::Line { lead, quote, .. } => format!("{} {quote}", uncounted(lead)),
            ItemText::Block(text) => plain::line(text, Escaping::All),
            ItemText::Packed { name, .. } => uncounted(name).to_owned(),
        };
        let folded: String =
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(400).collect();
        (self.fill, folded)
    }

    /// Whether it is about this name, in backticks; of what is no file, only if it quotes nobody.
    pub(super) fn is_name(&self, name: &str) -> bool {
        match &self.text {
            ItemText::Line { lead, quote, .. } => {
                lead.contains(name) && (quote.is_empty() || self.is_file(lead))
            }
            ItemText::Packed { name: own, .. } => own.starts_with(name),
            ItemText::Block(_) => false,
        }
    }

    /// Somebody's words in it.
    pub(super) fn quoted(&self) -> Option<&str> {
        match &self.text {
            ItemText::Line { quote: text, .. } | ItemText::Block(text) => {
                Some(text.as_str()).filter(|text| !text.is_empty())
            }
            ItemText::Packed { .. } => None,
        }
    }

    /// Whether it quotes these words, or their head.
    pub(super) fn quotes(&self, words: &str) -> bool {
        let plain = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(60).collect()
        };
        let words = plain(words);
        self.quoted().is_some_and(|quote| !words.is_empty() && plain(quote).starts_with(&words))
    }

    /// What it says, to look for words in.
    pub(super) fn search_text(&self) -> String {
        match &self.text {
            ItemText::Line { lead, quote, tail } => format!("{lead} {quote} {tail}"),
            ItemText::Block(text) => text.clone(),
            ItemText::Packed { name, .. } => name.clone(),
        }
    }

    /// Its positions, as they end a line.
    pub(super) fn positions(&self) -> String {
        self.refs.iter().fold(String::new(), |mut out, seq| {
            let _ = write!(out, " #{seq}");
            out
        })
    }

    /// Its lines. Packed names are joined by whoever has several.
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

    /// The same in about `most` bytes; none where that says nothing.
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
            // A file is told of without what was said of it.
            let quote = String::new();
            let text = ItemText::Line { lead, quote, tail };
            return (self.fill == Fill::FilesModified && room.is_some())
                .then(|| Self { text, ..self.clone() });
        };
        let quote = plain::head(&quote, room).into_owned();
        let signs = |c: char| if c.is_alphanumeric() { 1 + usize::from(c.len_utf8() >= 3) } else { 0 };
        let says = quote.chars().map(signs).sum::<usize>() >= QUOTE_MIN || self.fill == Fill::UserMessages;
        says.then(|| Self { text: ItemText::Line { lead, quote, tail }, ..self.clone() })
    }
}

/// Without its count.
fn uncounted(text: &str) -> &str {
    text.split(" ×").next().unwrap_or(text)
}

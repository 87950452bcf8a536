//! Where a text is in a request and as what, or why it is not there, and what would have to give.

mod outside;

use crate::address::Address;
use crate::error::Error;
use crate::future::BoxFuture;
use crate::grep::GrepOptions;
use crate::limits;
use crate::request::draft::Draft;
use crate::request::options::ContextOptions;
use crate::request::stages::Planned;
use crate::session::Session;
use crate::store::{Answer, Query};
use outside::outside;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use wunderblock_core::budget::{EntryLine, Reason, Treatment};
use wunderblock_core::decision::PartForm;
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, MessageOrigin, Part};
use wunderblock_core::ports::Bodies;
use wunderblock_core::section::Section;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::SummaryNode;

/// Where one thing that was looked for is in a request, or why it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Its position; none for what no event of the conversation holds.
    pub seq: Option<Seq>,
    /// The source, or the entry in a few words.
    pub what: String,
    /// The form it has; [`Treatment::LeftOut`] if it is not there.
    pub treatment: Treatment,
    /// Where it is, or would be.
    pub section: Option<Section>,
    /// What it takes; none if it is not there.
    pub tokens: Option<Tokens>,
    /// Why it is there, or why it is not.
    pub why: String,
    /// Whether the request shows the text that was looked for, not only something that stands for it.
    pub shown: bool,
    /// What brings it there, or gives it back; none if it is there.
    pub advice: Option<Advice>,
    /// How to read the body that has it, where it has a handle.
    pub handle: Option<Handle>,
    /// What the text was found in: its line, or as much of it as stands around the text.
    pub line: String,
}

/// What a person can do about a text that is not in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// A pin brings the entry back: there is room.
    Pin {
        /// The entry.
        seq: Seq,
        /// About what it needs.
        needs: Tokens,
        /// What is free.
        free: Tokens,
    },
    /// There is no room for it; reading gives it back.
    Read {
        /// The address that reads it.
        address: String,
        /// About what it needs, and what is free, where that is why it is not there.
        lacks: Option<(Tokens, Tokens)>,
    },
    /// It is hidden, and can be shown again.
    Unhide(Seq),
    /// Something about its source, in words.
    Source(String),
}

impl Advice {
    /// What brings an entry back that needs so many more tokens: a pin where there is room, else its address.
    pub(crate) fn back(seq: Seq, (needs, draft): (Tokens, &Draft), address: String) -> Self {
        let free = draft.report.limit.saturating_sub(draft.report.total_tokens);
        if needs <= free {
            return Self::Pin { seq, needs, free };
        }
        Self::Read { address, lacks: Some((needs, free)) }
    }
}

impl std::fmt::Display for Advice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pin { seq, needs, free } => {
                let (needs, free) = (grouped(needs.0), grouped(free.0));
                write!(f, "pinning position {seq} brings it back: about {needs} tokens, {free} are free")
            }
            Self::Read { address, lacks: None } => write!(f, "reading {address} gives it back word for word"),
            Self::Read { address, lacks: Some((needs, free)) } => {
                let (needs, free) = (grouped(needs.0), grouped(free.0));
                write!(
                    f,
                    "it needs about {needs} tokens and {free} are free: reading {address} gives it back"
                )
            }
            Self::Unhide(seq) => write!(f, "unhiding position {seq} lets it into requests again"),
            Self::Source(words) => f.write_str(words),
        }
    }
}

/// Why something that is recorded is in no request.
const NO_MESSAGE: &str = "it is no message of this lane's view";

/// What is looked for: a text, or a handle.
enum PlacementQuery<'t> {
    Text(&'t str),
    Handle(Handle),
}

impl PlacementQuery<'_> {
    /// The line of a body that has it.
    fn line(&self, body: &Body, draft: &Draft) -> Option<String> {
        let text = || draft.planned.texts.of(body);
        match self {
            Self::Handle(handle) => {
                (body.handle() == Some(*handle)).then(|| first_line(text().unwrap_or_default()))
            }
            Self::Text(sought) => line_with(text()?, sought),
        }
    }

    /// As much of a line as stands around the text.
    fn around(&self, line: &str) -> String {
        match self {
            Self::Text(sought) => around(line, sought),
            Self::Handle(_) => first_line(line),
        }
    }

    fn names(&self, name: &str) -> bool {
        matches!(self, Self::Text(text) if name.contains(text))
    }
}

impl Session {
    /// Locates a text or a handle in a request that was built with these options: in the sources, at the tail, in the
    /// conversation. Maximum: the newest 200 places in the conversation.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn locate<'a>(
        &'a self,
        options: &'a ContextOptions,
        draft: &'a Draft,
        text: &'a str,
    ) -> BoxFuture<'a, Vec<Placement>> {
        Box::pin(async move {
            let address =
                if text.starts_with("wb:") { Address::find(&self.engine, text).await.ok() } else { None };
            let handle = address.map(|(address, _)| address.handle);
            let sought = handle.map_or(PlacementQuery::Text(text), PlacementQuery::Handle);
            let mut placements = outside(&sought, draft, options);
            let stream = self.info().await?.handle;
            placements.extend(at_the_tail(&sought, draft, stream));
            placements.extend(in_summaries(&sought, draft));
            let mut places: Vec<(Seq, Option<Handle>, String)> = Vec::new();
            match handle {
                Some(handle) => {
                    let held = self.holders(handle).await?.into_iter();
                    places.extend(held.map(|(seq, line)| (seq, Some(handle), line)));
                }
                None => {
                    let scope = GrepOptions { session: Some(self.id.clone()), ..GrepOptions::default() };
                    let mut keep = |hit: crate::grep::Match| {
                        if places.last().is_none_or(|(seq, ..)| *seq != hit.seq) {
                            places.push((hit.seq, hit.handle, sought.around(&hit.text)));
                        }
                        if places.len() < limits::PLACEMENTS {
                            ControlFlow::Continue(())
                        } else {
                            ControlFlow::Break(())
                        }
                    };
                    self.engine.grep(text, &scope, &mut keep).await?;
                }
            }
            places.retain(|(seq, ..)| {
                *seq <= draft.through && !placements.iter().any(|placement| placement.seq == Some(*seq))
            });
            let seqs: Vec<Seq> = places.iter().map(|(seq, ..)| *seq).collect();
            let sizes = measure_entries(self, &seqs, draft).await?;
            let about = PlacementScope { draft, sizes: &sizes, sought: &sought, stream };
            let places = places.into_iter().map(|place| entry_placement(place, &about));
            let (there, records): (Vec<Placement>, Vec<Placement>) =
                places.partition(|placement| placement.why != NO_MESSAGE);
            placements.extend(there);
            // Records of the lane repeat what its sources said; they count only where nothing else is found.
            if placements.is_empty() {
                placements.extend(records);
            }
            Ok(placements)
        })
    }
}

/// About how many tokens the messages at these positions have.
pub(crate) async fn measure_entries(
    session: &Session,
    entries: &[Seq],
    draft: &Draft,
) -> Result<BTreeMap<Seq, Tokens>, Error> {
    let seqs: Vec<Seq> = entries.iter().flat_map(|seq| [seq.prev(), *seq]).collect();
    let query = Query::Tallies { tenant: session.engine.tenant.no, stream: session.id.clone(), seqs };
    let rows = session.engine.ask(query, Answer::tallies).await?;
    let size = |pair: &[crate::store::TallyRow]| match pair {
        [before, through] => draft.tally_tokens(*through).saturating_sub(draft.tally_tokens(*before)),
        _ => Tokens::ZERO,
    };
    Ok(entries.iter().copied().zip(rows.chunks(2).map(size)).collect())
}

/// Summaries that say it.
fn in_summaries(sought: &PlacementQuery<'_>, draft: &Draft) -> Vec<Placement> {
    let said = |node: &SummaryNode| {
        let line = sought.line(&node.text, draft)?;
        let entry = draft.report.entries.iter().find(|entry| entry.seq == Some(node.at));
        Some(Placement {
            seq: Some(node.at),
            what: format!("summary of positions {}–{}", node.from, node.to),
            treatment: Treatment::Verbatim,
            section: Some(Section::Summaries),
            tokens: entry.map(|entry| entry.tokens),
            why: "a summary says it".to_owned(),
            shown: true,
            advice: None,
            handle: node.text.handle(),
            line,
        })
    };
    draft.planned.decision.view.nodes().filter_map(said).collect()
}

/// Instructions and state that came in at the tail.
fn at_the_tail(sought: &PlacementQuery<'_>, draft: &Draft, stream: Handle) -> Vec<Placement> {
    let mut placements = Vec::new();
    let about = PlacementScope { draft, sizes: &BTreeMap::new(), sought, stream };
    for entry in draft.planned.decision.view.entries() {
        let MessageOrigin::Injected(_) = &entry.message.standing else { continue };
        let texts = entry.message.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => Some(text),
            _ => None,
        });
        let Some(line) = texts.filter_map(|text| sought.line(text, draft)).next_back() else { continue };
        placements.push(entry_placement((entry.seq, None, line), &about));
    }
    placements
}

/// What placing an entry takes.
struct PlacementScope<'a> {
    draft: &'a Draft,
    /// About how many tokens messages have.
    sizes: &'a BTreeMap<Seq, Tokens>,
    sought: &'a PlacementQuery<'a>,
    /// The session's own handle.
    stream: Handle,
}

/// What became of an entry of the session.
fn entry_placement(
    (seq, handle, line): (Seq, Option<Handle>, String),
    about: &PlacementScope<'_>,
) -> Placement {
    let report = &about.draft.report;
    let entry = report.entries.iter().find(|entry| entry.seq == Some(seq));
    let run = report.left_out.iter().find(|run| run.from_seq <= seq && seq <= run.to_seq);
    let size = about.sizes.get(&seq).copied().unwrap_or_default();
    let read = || Advice::Read { address: about.stream.range(seq, seq), lacks: None };
    let (treatment, why, shown, advice) = match (entry, run) {
        (Some(entry), _) => {
            let shown = about.shows(entry);
            let advice = match entry.treatment {
                _ if shown => None,
                Treatment::Stub => Some(about.back(seq, size.saturating_sub(entry.tokens))),
                _ => Some(read()),
            };
            let why = match entry.treatment {
                Treatment::Stub => "older than what fits word for word".to_owned(),
                Treatment::Reduced if !entry.reduced.is_empty() => shorter(entry),
                Treatment::Reduced => "a policy shows it in a shorter form".to_owned(),
                Treatment::Clipped => "only its head and tail fit".to_owned(),
                _ => reason_in(entry).to_owned(),
            };
            (entry.treatment, why, shown, advice)
        }
        (None, Some(run)) => {
            let advice = match run.reason {
                Reason::Budget | Reason::Stepped | Reason::Summarised => about.back(seq, size),
                Reason::Hidden => Advice::Unhide(seq),
                _ => read(),
            };
            (Treatment::LeftOut, run.why(), false, Some(advice).filter(|_| run.reason != Reason::Erased))
        }
        (None, None) => (Treatment::LeftOut, NO_MESSAGE.to_owned(), false, None),
    };
    Placement {
        seq: Some(seq),
        what: entry.map(|entry| entry.what.clone()).unwrap_or_default(),
        treatment,
        section: entry.map(|entry| entry.section),
        tokens: entry.map(|entry| entry.tokens),
        why,
        shown,
        advice,
        handle,
        line,
    }
}

impl PlacementScope<'_> {
    /// Whether what a request shows of an entry has what was looked for.
    fn shows(&self, entry: &EntryLine) -> bool {
        let Planned { decision, texts, .. } = &*self.draft.planned;
        let PlacementQuery::Text(sought) = self.sought else { return entry.treatment == Treatment::Verbatim };
        match (entry.treatment, entry.seq.and_then(|seq| decision.view.entry(seq))) {
            (Treatment::Verbatim, _) => true,
            (Treatment::Reduced, Some(of)) => (0..of.message.parts.len()).any(|part| {
                let at = match decision.plan.trim.form_of((of.seq, part)) {
                    Some(PartForm::Reduced(at)) => Some(at),
                    Some(_) => None,
                    None => decision.view.standing((of.seq, part)),
                };
                let text = at.and_then(|at| decision.view.reduced(at)).and_then(|body| texts.of(body));
                text.is_some_and(|text| text.contains(sought))
            }),
            (Treatment::Clipped, _) => memchr::memmem::find(&self.draft.body, sought.as_bytes()).is_some(),
            _ => false,
        }
    }

    fn back(&self, seq: Seq, needs: Tokens) -> Advice {
        Advice::back(seq, (needs, self.draft), self.stream.range(seq, seq))
    }
}

/// What is said of an entry that was shortened when it was first shown.
fn shorter(entry: &EntryLine) -> String {
    let told = entry.reduced.iter().map(|shorter| {
        let how = &shorter.how;
        let (before, after) = (grouped(how.tokens_before.0), grouped(how.tokens_after.0));
        format!("{}: {before} → {after} tokens, {}", how.kind, how.loss())
    });
    format!("shown shorter, as {}", told.collect::<Vec<_>>().join("; "))
}

fn reason_in(entry: &EntryLine) -> &'static str {
    match entry.section {
        Section::System => "the operator's words stay",
        Section::Prompt => "the user's newest turn stays word for word",
        Section::Recall => "it came back at the tail",
        Section::State | Section::Work => "the newest word on the state of the work",
        Section::Instructions => "instructions of a place that work has reached",
        _ => "in full",
    }
}

fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().chars().take(200).collect()
}

fn line_with(text: &str, sought: &str) -> Option<String> {
    let at = text.find(sought)?;
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let end = text.get(at..)?.find('\n').map_or(text.len(), |end| at + end);
    Some(around(text.get(start..end.max(start))?, sought))
}

/// Characters that are told to either side of what was found.
const BESIDE: usize = 160;

/// A text in a line, with what stands around it.
pub(crate) fn around(line: &str, sought: &str) -> String {
    let at = line.find(sought).unwrap_or_default();
    let (before, after) = (line.get(..at).unwrap_or_default(), line.get(at..).unwrap_or_default());
    let from = before.char_indices().rev().nth(BESIDE - 1).map_or(0, |(at, _)| at);
    let kept = sought.chars().count().min(BESIDE) + BESIDE;
    let to = after.char_indices().nth(kept).map_or(after.len(), |(at, _)| at);
    let (head, tail) = (if from > 0 { "…" } else { "" }, if to < after.len() { "…" } else { "" });
    let (before, after) = (before.get(from..).unwrap_or_default(), after.get(..to).unwrap_or_default());
    format!("{head}{before}{after}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_stands_between_what_stands_around_it() {
        let line = format!("{}needle{}", "a".repeat(500), "ä".repeat(500));
        let told = around(&line, "needle");
        assert_eq!(told, format!("…{}needle{}…", "a".repeat(BESIDE), "ä".repeat(BESIDE)));
        assert_eq!(around("a needle", "needle"), "a needle");
        assert_eq!(around("nothing", "needle"), "nothing");
        let long = "n".repeat(900);
        assert!(around(&long, &long).chars().count() < 2 * BESIDE + 2);
    }
}

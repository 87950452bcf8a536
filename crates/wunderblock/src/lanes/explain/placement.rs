//! Locates a text in a request: the form in which it appears, or the reason for its absence and a way to bring it
//! back.

mod outside;

use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::reading::address::Address;
use crate::ledger::session::Session;
use crate::limits;
use crate::recall::grep::GrepOptions;
use crate::request::input::options::ContextOptions;
use crate::request::stages::Planned;
use crate::request::steps::draft::Draft;
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
use wunderblock_store::{Answer, Query};

/// Place of a searched text or handle in a request, or the reason why the request does not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Position of the entry. `None` if no event of the conversation holds the content.
    pub seq: Option<Seq>,
    /// Name of the source, or a description of the entry in a few words.
    pub what: String,
    /// Form in which the request shows the content; [`Treatment::LeftOut`] if the request omits it.
    pub treatment: Treatment,
    /// Section of the request that shows the content, or would show it.
    pub section: Option<Section>,
    /// Tokens it takes. `None` if the request omits the content.
    pub tokens: Option<Tokens>,
    /// Reason why the request shows or omits the content.
    pub why: String,
    /// Whether the request shows the searched text itself, not only something that replaces it.
    pub shown: bool,
    /// Way to bring the content into the request, or to read it. `None` if it is shown.
    pub advice: Option<Advice>,
    /// Handle of the body that contains the text, if the body has one.
    pub handle: Option<Handle>,
    /// Line in which the text was found, or the excerpt around the text.
    pub line: String,
}

/// Advice for a person about a text that is not in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Pin the entry to bring it back: the request has room.
    Pin {
        /// Position of the entry.
        seq: Seq,
        /// Approximate number of tokens that the entry needs.
        needs: Tokens,
        /// Tokens that are free.
        free: Tokens,
    },
    /// Read the entry, for example because the request has no room for it.
    Read {
        /// Address that reads the entry.
        address: String,
        /// Approximate number of tokens needed, and number of free tokens, if the lack of room is the reason.
        lacks: Option<(Tokens, Tokens)>,
    },
    /// The entry is hidden; unhide its position to show it again.
    Unhide(Seq),
    /// Advice about the source of the text, in words.
    Source(String),
}

impl Advice {
    /// Returns how to bring back an entry that needs the given number of additional tokens. A pin is advised if the
    /// request has room; otherwise, reading the address is advised.
    pub(crate) fn back(seq: Seq, needs: Tokens, draft: &Draft, address: String) -> Self {
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

/// Reason given for a recorded event that does not appear in any request.
const NO_MESSAGE: &str = "it is not a message of this lane's view";

/// Text or handle to locate.
enum PlacementQuery<'t> {
    Text(&'t str),
    Handle(Handle),
}

impl PlacementQuery<'_> {
    /// Returns the line of a body that contains the text, or the first line of a body with the handle.
    fn line(&self, body: &Body, draft: &Draft) -> Option<String> {
        let text = || draft.planned.texts.of(body);
        match self {
            Self::Handle(handle) => {
                (body.handle() == Some(*handle)).then(|| first_line(text().unwrap_or_default()))
            }
            Self::Text(sought) => line_with(text()?, sought),
        }
    }

    /// Returns the excerpt of a line around the text.
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
    /// Locates a text or a handle in a request that was built with these options. The search covers the sources, the
    /// tail, the summaries and the conversation, and returns at most the newest 200 places in the conversation. At the
    /// deadline, it returns what was found by then.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn locate<'a>(
        &'a self,
        options: &'a ContextOptions,
        draft: &'a Draft,
        text: &'a str,
        deadline: &'a Deadline,
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
                    let scope = GrepOptions {
                        session: Some(self.id.clone()),
                        deadline: deadline.clone(),
                        messages_only: true,
                        ..GrepOptions::default()
                    };
                    let mut keep = |hit: crate::recall::grep::Match| {
                        if places.last().is_none_or(|(seq, ..)| *seq != hit.seq) {
                            places.push((hit.seq, hit.handle, sought.around(&hit.text)));
                        }
                        if places.len() < limits::PLACEMENTS {
                            ControlFlow::Continue(())
                        } else {
                            ControlFlow::Break(())
                        }
                    };
                    self.engine.recall().grep(text, &scope, &mut keep).await?;
                }
            }
            places.retain(|(seq, ..)| {
                *seq <= draft.through && !placements.iter().any(|placement| placement.seq == Some(*seq))
            });
            let seqs: Vec<Seq> = places.iter().map(|(seq, ..)| *seq).collect();
            let sizes = measure_entries(self, &seqs, draft).await?;
            let about = PlacementScope { draft, sizes: &sizes, sought: &sought, stream };
            let places =
                places.into_iter().map(|(seq, handle, line)| entry_placement(seq, handle, line, &about));
            let (there, records): (Vec<Placement>, Vec<Placement>) =
                places.partition(|placement| placement.why != NO_MESSAGE);
            placements.extend(there);
            // Events of the lane repeat texts of its sources, so they are listed only if nothing else is found.
            if placements.is_empty() {
                placements.extend(records);
            }
            Ok(placements)
        })
    }
}

/// Returns the approximate number of tokens in the messages at these positions.
pub(crate) async fn measure_entries(
    session: &Session,
    entries: &[Seq],
    draft: &Draft,
) -> Result<BTreeMap<Seq, Tokens>, Error> {
    // The size of a message is the difference between the running sums at its position and at the previous position.
    let seqs: Vec<Seq> = entries.iter().flat_map(|seq| [seq.prev(), *seq]).collect();
    let query = Query::Tallies { tenant: session.engine.tenant.no, stream: session.id.clone(), seqs };
    let rows = session.engine.ask(query, Answer::tallies).await?;
    let size = |pair: &[wunderblock_store::TallyRow]| match pair {
        [before, through] => draft.tally_tokens(*through).saturating_sub(draft.tally_tokens(*before)),
        _ => Tokens::ZERO,
    };
    Ok(entries.iter().copied().zip(rows.chunks(2).map(size)).collect())
}

/// Returns the places in summaries that contain the text.
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

/// Returns the places that contain the text in instructions and state injected at the tail.
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
        placements.push(entry_placement(entry.seq, None, line, &about));
    }
    placements
}

/// Context for placing entries.
struct PlacementScope<'a> {
    draft: &'a Draft,
    /// Approximate number of tokens in each message, by position.
    sizes: &'a BTreeMap<Seq, Tokens>,
    sought: &'a PlacementQuery<'a>,
    /// Handle of the session.
    stream: Handle,
}

/// Returns how the request treats an entry of the session.
fn entry_placement(seq: Seq, handle: Option<Handle>, line: String, about: &PlacementScope<'_>) -> Placement {
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
    /// Returns whether an entry, in the form that the request shows, contains the searched text.
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
                let text =
                    at.and_then(|at| decision.view.reductions().text(at)).and_then(|body| texts.of(body));
                text.is_some_and(|text| text.contains(sought))
            }),
            (Treatment::Clipped, _) => memchr::memmem::find(&self.draft.body, sought.as_bytes()).is_some(),
            _ => false,
        }
    }

    fn back(&self, seq: Seq, needs: Tokens) -> Advice {
        Advice::back(seq, needs, self.draft, self.stream.range(seq, seq))
    }
}

/// Returns the reason given for an entry that was shortened when it was first shown.
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
        Section::Agents => "the agent types have changed",
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

/// Maximum number of characters shown on each side of the found text.
const BESIDE: usize = 160;

/// Returns the excerpt of a line around a text.
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

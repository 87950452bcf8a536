//! A session over its positions beside a request: what the request contains, what was left out, and when the session
//! was compacted.
//!
//! ```text
//! Session, Draft ─ Timeline::of ─► Timeline
//!                  tallies, compactions, texts of gaps
//! ```

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::compaction::compact::history::recorded_steps;
use crate::lanes::agent_view::AgentView;
use crate::lanes::explain::entry::speaker;
use crate::ledger::reading::stored::read_texts;
use crate::ledger::session::PageLimit;
use crate::ledger::session::Session;
use crate::request::steps::draft::Draft;
use std::collections::BTreeSet;
use wunderblock_core::budget::LeftOut;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_store::{Answer, Query};

/// Maximum number of stretches that a session is divided into.
const STRETCHES: u64 = 160;
/// Maximum size in bytes of one message of a gap.
const MESSAGE: usize = 16 << 10;
/// Maximum size in bytes of one gap.
const GAP: usize = 400 << 10;
/// Maximum total size in bytes of all gaps.
const GAPS: usize = 4 << 20;
/// Number of events, and number of bytes of their texts, that are read from a gap at a time.
const READ: PageLimit = PageLimit { events: 256, text: Bytes(2 << 20) };

/// A session over its positions, beside a request that was built from it.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Position of the latest message that the request could contain; at least 2.
    pub head: Seq,
    /// The session in at most 160 equal stretches of positions, in ascending order.
    pub stretches: Vec<TimelineStretch>,
    /// Compactions, in ascending order.
    pub compactions: Vec<CompactionMark>,
    /// Runs of positions that the request leaves out, in ascending order.
    pub gaps: Vec<TimelineGap>,
}

/// A stretch of a session: the tokens of its messages, and how many of those tokens are in the request.
#[derive(Clone, Copy, Debug)]
pub struct TimelineStretch {
    /// First position.
    pub from: Seq,
    /// Last position.
    pub to: Seq,
    /// Number of tokens of the messages.
    pub said: Tokens,
    /// Number of these tokens in the request; at most `said`.
    pub shown: Tokens,
}

/// A compaction at its position in a session.
#[derive(Clone, Debug)]
pub struct CompactionMark {
    /// Position at which the compaction is recorded.
    pub seq: Seq,
    /// Time of the compaction.
    pub at: Millis,
    /// Description in a few words: who compacted, and what became shorter.
    pub label: String,
    /// Whether the request's own lane was compacted. `false` for compactions by the agent that recorded the session.
    pub is_own: bool,
}

/// A run of positions that is not in a request, with its texts.
#[derive(Clone, Debug)]
pub struct TimelineGap {
    /// The run, with the reason why it was left out.
    pub run: LeftOut,
    /// Messages of the run, from the first one on: at most 400 KB, and 4 MB over all gaps of a timeline.
    pub texts: Vec<TimelineText>,
    /// Address at which the rest of the gap can be read, if `texts` does not hold all of it.
    pub rest: Option<String>,
}

/// A message of a gap.
#[derive(Clone, Debug)]
pub struct TimelineText {
    /// Position of the message.
    pub seq: Seq,
    /// Time of the message.
    pub at: Millis,
    /// Speaker of the message.
    pub role: Role,
    /// Beginning of the text: at most 16 KB.
    pub text: String,
    /// Address at which the whole message can be read, if it was cut.
    pub whole: Option<String>,
}

impl Timeline {
    /// Collects a session's timeline beside a request.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn of<'a>(session: &'a Session, draft: &'a Draft) -> BoxFuture<'a, Self> {
        Box::pin(async move {
            // The latest message is followed only by records of requests.
            let head = session.info().await?.said.min(draft.through).max(Seq(2));
            Ok(Self {
                head,
                stretches: stretches(session, head, draft).await?,
                compactions: compactions(session, draft).await?,
                gaps: gaps(session, &draft.report.left_out).await?,
            })
        })
    }
}

/// Divides the session into equal stretches of positions.
async fn stretches(session: &Session, head: Seq, draft: &Draft) -> Result<Vec<TimelineStretch>, Error> {
    let (begin, end) = (1, head.0);
    let count = STRETCHES.min(end.saturating_sub(begin)).max(1);
    let edges: BTreeSet<Seq> = (0..=count).map(|edge| Seq(begin + (end - begin) * edge / count)).collect();
    let edges: Vec<Seq> = edges.into_iter().collect();
    let (tenant, stream) = (session.engine.tenant.no, session.id.clone());
    let query = Query::Tallies { tenant, stream, seqs: edges.clone() };
    let rows = session.engine.ask(query, Answer::tallies).await?;
    let tokens: Vec<Tokens> = rows.into_iter().map(|row| draft.tally_tokens(row)).collect();
    let nodes = session.nodes(None).await?;
    let pairs = edges.windows(2).zip(tokens.windows(2));
    let stretch = |(edges, tokens): (&[Seq], &[Tokens])| {
        let ([before, to], [from_tokens, to_tokens]) = (edges, tokens) else { return None };
        let from = before.next();
        // A summary is recorded at the position where it was made, but it is not a message of the stretch that
        // contains that position.
        let made = nodes.iter().filter(|node| (from..=*to).contains(&node.seq));
        let made: Tokens = made.filter_map(|node| node.tokens_after).sum();
        let said = to_tokens.saturating_sub(*from_tokens).saturating_sub(made);
        let inside = draft.report.entries.iter().filter(|entry| {
            entry.seq.is_some_and(|seq| (from..=*to).contains(&seq))
                && entry.section != wunderblock_core::section::Section::Summaries
        });
        let shown: Tokens = inside.map(|entry| entry.tokens).sum();
        Some(TimelineStretch { from, to: *to, said, shown: shown.min(said) })
    };
    Ok(pairs.filter_map(stretch).collect())
}

/// Returns the compactions of the lane, and those of the agent that recorded the session.
async fn compactions(session: &Session, draft: &Draft) -> Result<Vec<CompactionMark>, Error> {
    let (lane, head) = (draft.lane(), draft.through);
    let view = AgentView::at(session, Some(head)).await?;
    let own = recorded_steps(session, lane, head).await?.into_iter().filter_map(|(seq, step)| {
        let done = step.compaction?;
        let (before, after) = (grouped(done.tokens_before.0), grouped(done.tokens_after.0));
        Some((seq, format!("compacted by `{}`: {before} → {after} tokens", done.policy)))
    });
    let mut marks = Vec::new();
    for (seq, label) in own.collect::<Vec<_>>() {
        let events = session.events(seq, seq, 1, Bytes(1)).await?;
        let at = events.first().map_or(Millis::ZERO, |event| event.at);
        marks.push(CompactionMark { seq, at, label, is_own: true });
    }
    marks.extend(view.boundaries.into_iter().map(|boundary| CompactionMark {
        seq: boundary.seq,
        at: boundary.at,
        label: format!("compacted by {}: {} messages", boundary.agent, boundary.messages),
        is_own: false,
    }));
    // A dry run may compact first. A dry run's step is not recorded in any ledger, so it is added here.
    let stepped = draft.planned.decision.view.lane().stepped;
    if stepped > session.info().await?.head {
        let label = "this request compacts first".to_owned();
        marks.push(CompactionMark {
            seq: stepped.min(head),
            at: draft.planned.snapshot.newest_at,
            label,
            is_own: true,
        });
    }
    marks.sort_by_key(|mark| mark.seq);
    Ok(marks)
}

/// Returns the runs that are not in the request, with as much of their texts as a timeline can hold.
async fn gaps(session: &Session, left_out: &[LeftOut]) -> Result<Vec<TimelineGap>, Error> {
    let handle = session.info().await?.handle;
    let mut room = GAPS;
    let mut gaps = Vec::new();
    for run in left_out {
        let mut gap = TimelineGap { run: run.clone(), texts: Vec::new(), rest: None };
        let mut own = GAP.min(room);
        let mut next = run.from_seq;
        while next <= run.to_seq {
            let events = session.events(next, run.to_seq, READ.events, READ.text).await?;
            let Some(last) = events.last().map(|event| event.seq) else { break };
            let handles: Vec<Handle> =
                events.iter().flat_map(|event| texts_of(event)).filter_map(Body::handle).collect();
            let texts = read_texts(&session.engine, handles).await?;
            for event in &events {
                let Some(text) = gap_text(event, &texts, handle) else { continue };
                if text.text.len() > own {
                    gap.rest = Some(handle.range(event.seq, run.to_seq));
                    break;
                }
                own -= text.text.len();
                room -= text.text.len().min(room);
                gap.texts.push(text);
            }
            if gap.rest.is_some() {
                break;
            }
            next = last.next();
        }
        gaps.push(gap);
    }
    Ok(gaps)
}

fn texts_of(event: &Event) -> Vec<&Body> {
    match &event.fact {
        Some(Fact::MessageAppended(said)) => said.message.parts.iter().flat_map(Part::bodies).collect(),
        _ => Vec::new(),
    }
}

/// Returns a message of a gap.
fn gap_text(event: &Event, texts: &dyn Bodies, stream: Handle) -> Option<TimelineText> {
    let Some(Fact::MessageAppended(said)) = &event.fact else { return None };
    let mut text = String::new();
    for part in &said.message.parts {
        match part {
            Part::ToolCall { name, .. } => text.push_str(&format!("→ {name}\n")),
            Part::Media { mime, .. } => text.push_str(&format!("[{mime}]\n")),
            _ => {}
        }
        for body in part.bodies().into_iter().filter(|_| !matches!(part, Part::Media { .. })) {
            text.push_str(texts.of(body).unwrap_or("⟨erased⟩"));
            text.push('\n');
        }
    }
    let cut = wunderblock_core::stub::head(&text, MESSAGE).len();
    let whole = (cut < text.len()).then(|| stream.range(event.seq, event.seq));
    text.truncate(cut);
    let text = text.trim_end().to_owned();
    Some(TimelineText { seq: event.seq, at: event.at, role: speaker(&said.message), text, whole })
}

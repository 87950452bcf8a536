//! Reconstructs what an agent had in view. The sources are the compactions that the agent's transcript records, not
//! our own requests.

use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::compaction::compact::history::marked_events;
use crate::lanes::explain::entry::{EntryDescription, describe_entries};
use crate::lanes::explain::found::spelling;
use crate::lanes::explain::placement::around;
use crate::ledger::reading::stored::{read_texts, rows_at};
use crate::ledger::session::Session;
use crate::limits;
use crate::recall::grep::{GrepOptions, Match};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, Role};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_store::{Answer, Marked, Query};

/// Maximum number of tokens in the user's latest messages that Codex keeps next to its summary. Source:
/// `COMPACT_USER_MESSAGE_MAX_TOKENS` in Codex.
const CODEX_KEEPS: Tokens = Tokens(20_000);
/// Approximate number of bytes per token, as estimated by Codex.
const BYTES_PER_TOKEN: u64 = 4;
/// Maximum number of places described in full.
const BEST: usize = 5;
/// Maximum number of places that are ranked to find the best. The number is limited because describing an entry takes
/// several reads.
const RANKED: usize = 40;

/// Content that an agent had in view at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentView {
    /// Position at which the view is taken.
    pub at: Seq,
    /// Compactions up to this position, in ascending order.
    pub boundaries: Vec<AgentBoundary>,
    /// First position that the agent saw verbatim.
    pub from: Seq,
    /// Number of messages from the first verbatim position up to `at`.
    pub messages: u64,
    /// Earlier user messages that the agent keeps verbatim next to its summary, in ascending order.
    pub kept: Vec<Seq>,
}

/// A compaction that an agent recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentBoundary {
    /// Position at which the compaction is recorded.
    pub seq: Seq,
    /// Time at which the compaction was recorded.
    pub at: Millis,
    /// Name of the agent's transcript format.
    pub agent: Box<str>,
    /// Trigger of the compaction, in the agent's own words.
    pub trigger: Option<Box<str>>,
    /// First position that was compacted away.
    pub from: Seq,
    /// Last position that was compacted away.
    pub to: Seq,
    /// Number of messages between these positions.
    pub messages: u64,
    /// Number of tokens in the context before the compaction, as counted by the agent.
    pub tokens_before: Option<Tokens>,
    /// Text of the summary. `None` if the transcript does not contain the summary, or if the summary was erased.
    pub summary: Option<String>,
}

/// Occurrence of a text in a session, and whether the agent still saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentPlace {
    /// Entry that contains the text.
    pub entry: EntryDescription,
    /// Excerpt of the line around the text.
    pub line: String,
    /// Position of the compaction that removed the entry from view. `None` if the agent saw the entry verbatim.
    pub compacted_at: Option<Seq>,
    /// Line, in the latest summary, that shares the most words with the excerpt.
    pub said_instead: Option<String>,
}

/// Result of a search in an agent's view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFound {
    /// Spelling that was found instead of the given one, from which it differs in upper and lower case.
    pub spelling: Option<String>,
    /// Number of messages that contain the text.
    pub count: usize,
    /// Number of these messages that were in view.
    pub in_view: usize,
    /// Best places, sorted first by whether they were compacted away (those come first), then by speaker (people, the
    /// model, tools), and then from newest to oldest.
    pub best: Vec<AgentPlace>,
}

impl AgentView {
    /// Returns what the agent had in view at a position of its session. `None` means the end of the session.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if a record is damaged.
    pub fn at<'a>(session: &'a Session, at: Option<Seq>) -> BoxFuture<'a, Self> {
        Box::pin(async move {
            let info = session.info().await?;
            let at = at.unwrap_or(info.head).min(info.head);
            let boundaries = boundaries(session, at).await?;
            let newest = boundaries.last();
            // Position 1 is the event that opens the session.
            let from = newest.map_or(Seq(2), |boundary| boundary.to.next());
            let seqs = vec![from.prev(), at];
            let query = Query::Tallies { tenant: session.engine.tenant.no, stream: session.id.clone(), seqs };
            let rows = session.engine.ask(query, Answer::tallies).await?;
            let messages = match rows.as_slice() {
                [before, through] => through.messages.saturating_sub(before.messages),
                _ => 0,
            };
            let kept = match newest.filter(|boundary| &*boundary.agent == "codex") {
                Some(boundary) => kept_words(session, boundary.to).await?,
                None => Vec::new(),
            };
            Ok(Self { at, boundaries, from, messages, kept })
        })
    }

    /// Searches the messages up to the position for a text, and reports whether the agent still saw each occurrence. If
    /// it is absent, searches again, ignoring upper and lower case.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn find<'a>(&'a self, session: &'a Session, sought: &'a str) -> BoxFuture<'a, AgentFound> {
        Box::pin(async move {
            let found = self.find_exactly(session, sought).await?;
            if found.count > 0 {
                return Ok(found);
            }
            let Some(spelling) = spelling(session, sought, &Deadline::default()).await? else {
                return Ok(found);
            };
            let found = self.find_exactly(session, &spelling).await?;
            Ok(AgentFound { spelling: Some(spelling).filter(|_| found.count > 0), ..found })
        })
    }

    fn find_exactly<'a>(&'a self, session: &'a Session, sought: &'a str) -> BoxFuture<'a, AgentFound> {
        Box::pin(async move {
            let mut hits: Vec<(Seq, String)> = Vec::new();
            let scope = GrepOptions {
                session: Some(session.id.clone()),
                messages_only: true,
                ..GrepOptions::default()
            };
            let mut keep = |hit: Match| {
                // Matches of a message are consecutive, so comparing with the last hit keeps one per message.
                if hit.seq <= self.at && hits.last().is_none_or(|(seq, _)| *seq != hit.seq) {
                    hits.push((hit.seq, around(&hit.text, sought)));
                }
                if hits.len() < limits::PLACEMENTS {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            };
            session.engine.recall().grep(sought, &scope, &mut keep).await?;
            let said = said_at(session, hits.iter().map(|(seq, _)| *seq).collect()).await?;
            hits.retain(|(seq, _)| said.contains(seq));
            let in_view = hits.iter().filter(|(seq, _)| self.compacted_at(*seq).is_none()).count();
            let count = hits.len();
            let best = self.best(session, hits, sought).await?;
            Ok(AgentFound { spelling: None, count, in_view, best })
        })
    }

    /// Returns the position of the compaction that removed a position from view. `None` if it was in view.
    #[must_use]
    pub fn compacted_at(&self, seq: Seq) -> Option<Seq> {
        if seq >= self.from || self.kept.binary_search(&seq).is_ok() {
            return None;
        }
        self.boundaries.iter().find(|boundary| seq <= boundary.to).map(|boundary| boundary.seq)
    }

    async fn best(
        &self,
        session: &Session,
        hits: Vec<(Seq, String)>,
        sought: &str,
    ) -> Result<Vec<AgentPlace>, Error> {
        let seqs: Vec<Seq> = hits.iter().map(|(seq, _)| *seq).take(RANKED).collect();
        let mut known = describe_entries(session, seqs).await?;
        let summary = self.boundaries.last().and_then(|boundary| boundary.summary.as_deref());
        let mut places: Vec<AgentPlace> = hits
            .into_iter()
            .filter_map(|(seq, line)| {
                let compacted_at = self.compacted_at(seq);
                let instead = summary.filter(|_| compacted_at.is_some());
                let said_instead = instead.and_then(|text| nearest_line(text, &line, sought));
                Some(AgentPlace { entry: known.remove(&seq)?, line, compacted_at, said_instead })
            })
            .collect();
        let rank = |place: &AgentPlace| {
            let who = match place.entry.role {
                Role::User | Role::System => 0,
                Role::Assistant => 1,
                Role::Tool => 2,
            };
            (place.compacted_at.is_none(), who, Reverse(place.entry.seq))
        };
        places.sort_by_key(rank);
        places.truncate(BEST);
        Ok(places)
    }
}

/// Returns the compactions that another program recorded up to a position, in ascending order.
async fn boundaries(session: &Session, at: Seq) -> Result<Vec<AgentBoundary>, Error> {
    let nodes = session.nodes(None).await?;
    let mut events: Vec<Event> = marked_events(session, Marked::Kind("session.compacted"), at).await?;
    events.reverse();
    let mut boundaries = Vec::new();
    for event in events {
        let Some(Fact::SessionCompacted(made)) = event.fact else { continue };
        // A compaction with a lane was made by this engine, not by the agent.
        if made.lane.is_some() {
            continue;
        }
        let handles: Vec<Handle> = made.summary.iter().filter_map(Body::handle).collect();
        let texts = read_texts(&session.engine, handles).await?;
        let summary = made.summary.as_ref().and_then(|body| texts.of(body)).map(ToOwned::to_owned);
        let messages = nodes.iter().find(|node| node.seq == event.seq).map_or(0, |node| node.messages);
        boundaries.push(AgentBoundary {
            seq: event.seq,
            at: event.at,
            agent: made.producer,
            trigger: made.trigger,
            from: made.from_seq,
            to: made.to_seq,
            messages,
            tokens_before: made.tokens_before,
            summary,
        });
    }
    Ok(boundaries)
}

/// Returns the positions among `seqs` that hold messages.
async fn said_at(session: &Session, seqs: Vec<Seq>) -> Result<BTreeSet<Seq>, Error> {
    let rows = rows_at(&session.engine, &session.id, seqs).await?;
    Ok(rows.into_iter().filter(|row| row.kind == "message.appended").map(|row| row.seq).collect())
}

/// Returns the positions of the user messages that Codex keeps verbatim. These are the latest messages before a
/// compaction, within Codex's token limit.
async fn kept_words(session: &Session, to: Seq) -> Result<Vec<Seq>, Error> {
    let mut said: Vec<(Seq, u64)> = Vec::new();
    let mut pages = session.pages(Seq::START, to);
    while let Some(events) = pages.next().await? {
        said.extend(events.iter().filter_map(|event| match &event.fact {
            Some(Fact::MessageAppended(said)) if said.message.is_user_turn() => {
                let bytes = said.message.parts.iter().flat_map(|part| part.bodies());
                Some((event.seq, bytes.map(|body| body.bytes().0).sum()))
            }
            _ => None,
        }));
    }
    let mut room = CODEX_KEEPS.0.saturating_mul(BYTES_PER_TOKEN);
    let fits = said.into_iter().rev().take_while(|(_, bytes)| {
        let fits = *bytes <= room;
        room = room.saturating_sub(*bytes);
        fits
    });
    let mut kept: Vec<Seq> = fits.map(|(seq, _)| seq).collect();
    kept.reverse();
    Ok(kept)
}

/// Returns, from a summary, the line that shares the most words with a text. `None` if fewer than two words or
/// less than a quarter of the shorter line are shared, and no line contains the sought text.
fn nearest_line(summary: &str, text: &str, sought: &str) -> Option<String> {
    let wanted = words(text);
    let low = sought.to_lowercase();
    let score = |line: &&str| {
        let has_it = line.to_lowercase().contains(&low);
        let common = words(line).intersection(&wanted).count();
        if has_it { common + SOUGHT } else { common }
    };
    let best = summary.lines().map(str::trim).filter(|line| !line.is_empty()).max_by_key(score)?;
    // Two long lines share a few words by chance.
    let least = (wanted.len().min(words(best).len()) / LEAST_SHARE).max(2);
    (score(&best) >= least).then(|| around(best, sought))
}

/// Minimum share of the words of the shorter line that a similar line shares, as a divisor.
const LEAST_SHARE: usize = 4;
/// Score, in shared words, of a line that contains the sought text. This line outranks lines that only share words.
const SOUGHT: usize = 100;

/// Returns the significant words of a text in lower case. Significant words are ASCII words of at least four letters,
/// and the character pairs of other words, because Chinese, Japanese and Korean text has no spaces between words.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let letters: Vec<char> = word.to_lowercase().chars().collect();
        if letters.iter().any(|c| !c.is_ascii()) {
            words.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if letters.len() >= 4 {
            words.insert(letters.into_iter().collect());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_line_shares_words_or_has_what_was_sought() {
        let summary =
            "## Goal\n- write the parser\n- the tokens are kept in a table\n- 数据库的端口是 4711\n";
        let near = |text: &str, sought: &str| nearest_line(summary, text, sought);
        assert_eq!(
            near("Keep all tokens in one table, please", "one").as_deref(),
            Some("- the tokens are kept in a table")
        );
        assert_eq!(near("port", "parser").as_deref(), Some("- write the parser"));
        assert_eq!(near("请把数据库端口改掉", "端口").as_deref(), Some("- 数据库的端口是 4711"));
        assert_eq!(near("something else", "nowhere"), None);
    }
}

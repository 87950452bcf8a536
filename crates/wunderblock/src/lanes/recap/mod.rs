//! Texts that a hook hands back to its agent: a recap of the session after a compaction, a digest of the project's
//! last sessions at the start of a new one, and passages of past sessions that bear on a prompt.
//!
//! ```text
//! ledger ─ gather ─► Gathered: work log, plan, rules, words ─ recap | digest ─► text of bounded size
//! prompt ─ search ─► hits above the floor ─ recall ─► text of bounded size
//! ```
//! No text is invented: each line is a quotation, a name or a status, with the position or the session that it comes
//! from. The words of the session's own user keep their weight. The agent's lists and everything from other sessions
//! are data in a fence.

mod digest;
mod due;
mod gather;
mod own;
mod prompt_passages;
mod size;

use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::project::places_of;
use crate::ledger::session::Session;
pub use crate::recall::prompted::{PromptPassage, PromptPassages, RECALL_FLOOR, recall_hits};
pub use due::is_recap_due;
use gather::{Reach, gather};
pub(crate) use gather::{delegates_at_work, open_items};
pub use prompt_passages::{RECALL_BYTES, recall};
pub use size::{DIGEST_BYTES, RECAP_BYTES};
use std::collections::BTreeSet;
use std::path::Path;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Millis;
use wunderblock_redact::PushedText;
use wunderblock_store::StreamFilter;

/// Maximum number of sessions in a digest.
const DIGEST_SESSIONS: usize = 3;
/// Maximum age of a session in a digest, in milliseconds: 30 days.
const DIGEST_AGE: i64 = 30 * 86_400_000;

/// Returns what an agent needs to continue a session whose beginning it no longer sees: the plan and the open items of
/// its list, the user's standing rules and latest words, the files last touched, the last checks, and the way to
/// everything else. `None` for a session without any of these.
///
/// `guide` follows the first sentence. It tells the agent how to read a position, which is written as `#N`, and how to
/// search the session.
///
/// # Errors
/// Returns an error if the session does not exist, or if the ledger cannot be read.
pub fn recap<'a>(session: &'a Session, guide: &'a str) -> BoxFuture<'a, Option<PushedText>> {
    Box::pin(async move {
        let text = own::write(&gather(session, Reach::WHOLE).await?, guide);
        Ok(text.map(|text| session.engine().config.redactor.push(&text)))
    })
}

/// Sessions that a digest is made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct DigestSource<'a> {
    /// Agent whose sessions are used, by the name in their scope. `None` for the sessions of all agents.
    pub agent: Option<&'a str>,
    /// Session that is left out.
    pub except: Option<&'a StreamId>,
}

/// Returns a digest of the last sessions in reach, in the project of a folder: words that the user typed, names of changed files
/// and results of checks. Leaves out sessions of sub-agents, and those of more than 30 days ago. `None` if nothing
/// remains.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn digest<'a>(
    engine: &'a Engine,
    reach: &'a wunderblock_store::Reach,
    folder: &'a Path,
    source: DigestSource<'a>,
) -> BoxFuture<'a, Option<PushedText>> {
    Box::pin(async move {
        let engine = engine.reaching(reach.clone());
        let now = engine.now();
        let filter = StreamFilter {
            places: places_of(folder),
            agent: source.agent.map(str::to_owned),
            since: Some(Millis(now.0.saturating_sub(DIGEST_AGE))),
            ..StreamFilter::default()
        };
        // Of the branches of a session, the one with the latest message comes first.
        let mut seen: BTreeSet<String> = source.except.map(|id| id.root().to_owned()).into_iter().collect();
        let mut past = Vec::new();
        for info in engine.listed(filter, LISTED).await? {
            let is_main = info.parent.is_none() && info.first_user.is_some();
            if !is_main || !seen.insert(info.id.root().to_owned()) {
                continue;
            }
            past.push(gather(&engine.session_by_id(info.id), Reach::END).await?);
            if past.len() == DIGEST_SESSIONS {
                break;
            }
        }
        Ok(digest::write(&past, now).map(|text| engine.config.redactor.push(&text)))
    })
}

/// Maximum number of sessions that are considered for a digest.
const LISTED: u64 = 32;

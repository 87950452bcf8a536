//! Passages of a project's past sessions that bear on a prompt, as a hook hands them to its agent.

use super::size::{beginning, size};
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::recall::prompted::{PromptPassage, RECALL_FLOOR, recall_hits};
use crate::recall::search::{SearchIn, SearchOptions};
use std::collections::BTreeSet;
use wunderblock_core::fence::{self, plain_line};
use wunderblock_core::id::StreamId;
use wunderblock_redact::PushedText;
use wunderblock_store::Reach;

/// Maximum size of recalled passages, in bytes, with their fence. They have at most a third as many tokens.
pub const RECALL_BYTES: usize = 1_200;
/// Maximum number of passages, each from another session.
const PASSAGES: usize = 3;
/// Maximum size of a passage, in bytes.
const PASSAGE_BYTES: usize = 400;
/// Label of the fence.
const LABEL: &str = "passages of past sessions that share rare words with the prompt, from the ledger";

/// Returns passages of past sessions in reach that bear on a prompt, as data in a fence, each with its
/// age and with the address that shows it whole. `None` unless they pass [`RECALL_FLOOR`].
///
/// Nothing is recalled while more waits for the index than a search scans quickly: a prompt does not wait.
///
/// Only what users typed and what models said is recalled, never output of tools. Nothing comes from the session
/// `except`, from its sub-agents, or from the sessions that it continues. `guide` follows the fence and tells the agent
/// how to read an address.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn recall<'a>(
    engine: &'a Engine,
    reach: &'a Reach,
    except: Option<&'a StreamId>,
    prompt: &'a str,
    guide: &'a str,
) -> BoxFuture<'a, Option<PushedText>> {
    Box::pin(async move {
        let engine = engine.reaching(reach.clone());
        let (except, within) = (except.cloned(), SearchIn::Sessions);
        let options = SearchOptions { except, within, ..SearchOptions::default() };
        let found = recall_hits(&engine, prompt, options, RECALL_FLOOR).await?;
        Ok(write(&engine, &found.passages, guide).map(|text| engine.config.redactor.push(&text)))
    })
}

/// Returns the passages that fit, one of each session. `None` without passages.
fn write(engine: &Engine, passages: &[PromptPassage], guide: &str) -> Option<String> {
    let tail = format!("\n{guide}");
    let mut left = RECALL_BYTES.checked_sub(size(&fence::data(LABEL, "")) + size(&tail))?;
    let (mut text, mut sessions, mut said) = (String::new(), BTreeSet::new(), BTreeSet::new());
    for PromptPassage { hit, .. } in passages {
        if sessions.len() == PASSAGES || sessions.contains(hit.session.root()) || said.contains(&hit.snippet)
        {
            continue;
        }
        let lead =
            format!("{} · {} · {}\n  ", hit.address(engine), hit.role.name(), hit.at.ago(engine.now()));
        let room = left.saturating_sub(size(&lead) + 1).min(PASSAGE_BYTES);
        let Some(passage) = beginning(&plain_line(&hit.snippet), room) else { break };
        let line = format!("{lead}{passage}\n");
        left = left.saturating_sub(size(&line));
        text.push_str(&line);
        sessions.insert(hit.session.root());
        said.insert(&hit.snippet);
    }
    let whole = fence::data(LABEL, &text) + &tail;
    (!text.is_empty() && size(&whole) <= RECALL_BYTES).then_some(whole)
}

//! Prompts: what a person may start with.

use crate::answer::{ToolFailure, time};
use crate::idle::CallKind;
use crate::ledger::{LedgerUse, SharedLedger};
use crate::{resources, tools};
use serde_json::{Map, Value};
use wunderblock::summary_graph::Expand;
use wunderblock::{Deadline, ReadPage, SearchOptions};
use wunderblock_core::fence;

/// Name of the prompt that hands over the end of a session.
const CONTINUE: &str = "continue";
/// Number of pages of a session's end that the prompt `continue` holds. The last page may hold little.
const PAGES: u64 = 2;
/// Maximum number of notes that the prompt `continue` holds.
const NOTES: usize = 10;
/// Maximum number of hits that the prompt `decided` holds.
const HITS: usize = 10;

/// Returns the kind of the call that makes a prompt.
pub(crate) fn kind(name: &str) -> CallKind {
    if name == CONTINUE { CallKind::Quick } else { CallKind::Scan }
}

/// Returns the text of a prompt that exists.
pub(crate) async fn text(
    ledger: &SharedLedger,
    name: &str,
    deadline: Deadline,
    arguments: &Map<String, Value>,
) -> Result<String, ToolFailure> {
    let argument = |name: &str| match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        Some(_) => Err(ToolFailure::Door(format!("`{name}` must be a string"))),
    };
    match name {
        CONTINUE => continued(ledger, argument("session")?).await,
        _ => {
            let topic = argument("topic")?;
            let missing =
                || ToolFailure::Door("`topic` is missing; say what the decision is about".to_owned());
            decided(ledger, topic.ok_or_else(missing)?, deadline).await
        }
    }
}

async fn continued(ledger: &SharedLedger, named: Option<&str>) -> Result<String, ToolFailure> {
    let engine = ledger.open(LedgerUse::Existing).await?;
    let session = ledger.session(&engine, named).await?;
    let info = session.info().await?;
    let address = info.handle.to_string();
    let first = ReadPage::of(&engine, &address, &Expand::default()).await?;
    let mut out = format!(
        "Continue the work of the session {}, whose last event was at {}. Below are its last pages and its notes. Look \
         at the present state of the files before you rely on what was said then. The tool `read` shows earlier pages \
         of {address}, which has {}.\n",
        fence::plain(info.id.as_str()),
        time(info.updated_at),
        first.pages,
    );
    for page in first.pages.saturating_sub(PAGES - 1).max(1)..=first.pages {
        let wanted = Expand { page: Some(page), ..Expand::default() };
        let found = ReadPage::of(&engine, &address, &wanted).await?;
        out.push_str(&fence::data(&format!("{address}, page {page} of {}", found.pages), &found.text));
        out.push('\n');
    }
    out.push_str(&resources::notes(&session, NOTES).await?);
    Ok(out)
}

async fn decided(ledger: &SharedLedger, topic: &str, deadline: Deadline) -> Result<String, ToolFailure> {
    let engine = ledger.open(LedgerUse::Existing).await?;
    let options = SearchOptions { limit: HITS, free_text: true, deadline, ..SearchOptions::default() };
    let found = engine.recall().search(topic, &options).await?;
    let hits = match found.hits.as_slice() {
        [] => format!("A search for these words found nothing.{}", ledger.searched(&engine).await?),
        hits => tools::hits(&engine, hits),
    };
    Ok(format!(
        "What did we decide about this: {topic}\n\nBelow are messages of past sessions that mention it. Read the ones \
         that matter with the tool `read`, and search with other words if they do not settle it. Say what was decided, \
         when, and why, with the address of each message that you rely on. If nothing was decided, say so.\n\n{hits}"
    ))
}

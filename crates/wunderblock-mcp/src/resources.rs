//! Resources: the same content as the tools return, for clients that hold it themselves.
//!
//! ```text
//! wunderblock://read/{address}{?page}    wunderblock://context/{id}
//! wunderblock://session/{id}{?page}      wunderblock://notes/{id}
//! ```

use crate::answer::{ContentLink, ToolFailure, time};
use crate::idle::CallKind;
use crate::ledger::{LedgerUse, SharedLedger};
use crate::tools;
use crate::uri::{decode, encode};
use wunderblock::store::StreamFilter;
use wunderblock::summary_graph::Expand;
use wunderblock::{Engine, ReadPage, SavedNote, Session};
use wunderblock_core::fence;

/// Maximum number of sessions that are listed.
const SESSIONS: u64 = 20;
/// Maximum number of notes of a session that are shown, the latest ones.
const NOTES: usize = 50;

/// Returns the kind of the call that reads a resource.
pub(crate) fn kind(uri: &str) -> CallKind {
    match parse(uri) {
        Some(WantedResource { kind: ResourceKind::Context, .. }) => CallKind::Report,
        _ => CallKind::Quick,
    }
}

/// Returns the content of a resource, or `None` if no resource has this URI.
pub(crate) async fn read(ledger: &SharedLedger, uri: &str) -> Result<Option<String>, ToolFailure> {
    let Some(WantedResource { kind, name, page }) = parse(uri) else { return Ok(None) };
    let engine = ledger.open(LedgerUse::Existing).await?;
    Ok(Some(match kind {
        ResourceKind::Page => {
            let wanted = Expand { page, ..Expand::default() };
            let found = ReadPage::of(&engine, &name, &wanted).await?;
            let base = uri.split_once('?').map_or(uri, |(base, _)| base);
            tools::page(&found, |next| format!("{base}?page={next}"))
        }
        ResourceKind::Context => tools::report(ledger, &engine.find_session(&name).await?).await?.0,
        ResourceKind::Notes => match notes(&engine.find_session(&name).await?, NOTES).await? {
            notes if notes.is_empty() => "The session has no notes.".to_owned(),
            notes => notes,
        },
    }))
}

/// Returns the notes of a session, newest first, each in its fence. Empty if it has no notes.
pub(crate) async fn notes(session: &Session, limit: usize) -> Result<String, ToolFailure> {
    let notes = SavedNote::list(session, limit).await?;
    let fenced = notes.iter().map(|note| {
        fence::data(&format!("a note, {}, saved at {}", note.address, time(note.at)), &note.text)
    });
    Ok(fenced.collect::<Vec<_>>().join("\n"))
}

/// Returns links to the latest sessions, latest first, with a description of each. Sessions of sub-agents, and those
/// that keep the outputs of commands, are left out. Without a ledger, the list is empty: Gemini CLI offers no tools of a
/// server whose list of resources is an error.
pub(crate) async fn list(ledger: &SharedLedger) -> Result<Vec<(ContentLink, String)>, ToolFailure> {
    if !ledger.served.db.exists() {
        return Ok(Vec::new());
    }
    let engine: Engine = ledger.open(LedgerUse::Existing).await?;
    let sessions = engine.listed(StreamFilter::default(), SESSIONS).await?;
    let links = sessions.into_iter().filter(|info| info.parent.is_none()).map(|info| {
        let project = info.scope.project.map(|project| format!(", {}", fence::plain(&project)));
        let about = format!(
            "{} messages, the last event at {}{}",
            info.messages,
            time(info.updated_at),
            project.unwrap_or_default()
        );
        let link = ContentLink {
            uri: format!("wunderblock://session/{}", encode(info.id.as_str())),
            name: fence::plain(info.id.as_str()),
            description: "a session",
        };
        (link, about)
    });
    Ok(links.collect())
}

/// A resource that a URI names.
#[derive(Debug, PartialEq, Eq)]
struct WantedResource {
    kind: ResourceKind,
    /// Address, or id of a session.
    name: String,
    page: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResourceKind {
    Page,
    Context,
    Notes,
}

fn parse(uri: &str) -> Option<WantedResource> {
    let (path, query) = match uri.strip_prefix("wunderblock://")?.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (uri.strip_prefix("wunderblock://")?, None),
    };
    let page = match query {
        Some(query) => Some(query.strip_prefix("page=")?.parse().ok()?),
        None => None,
    };
    let (kind, name) = path.split_once('/')?;
    let kind = match kind {
        "read" | "session" => ResourceKind::Page,
        "context" => ResourceKind::Context,
        "notes" => ResourceKind::Notes,
        _ => return None,
    };
    let name = decode(name).filter(|name| !name.is_empty())?;
    Some(WantedResource { kind, name, page })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_what_they_encode() {
        let odd = "a/b#12 ?é%";
        assert_eq!(decode(&encode(odd)).as_deref(), Some(odd));
        let uri = format!("wunderblock://read/{}?page=3", encode(odd));
        let wanted = WantedResource { kind: ResourceKind::Page, name: odd.to_owned(), page: Some(3) };
        assert_eq!(parse(&uri), Some(wanted));
        for wrong in [
            "",
            "file:///etc/passwd",
            "wunderblock://",
            "wunderblock://read/",
            "wunderblock://other/x",
            "wunderblock://read/x?page=",
            "wunderblock://read/x?size=3",
            "wunderblock://read/%F",
            "wunderblock://read/%FF",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}

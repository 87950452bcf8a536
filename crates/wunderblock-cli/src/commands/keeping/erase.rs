//! `erase`: permanently erases content.

mod document;
mod elsewhere;
mod text;
pub(crate) mod waiting;

use crate::args::{Erase, Global};
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::{print, print_report, say};
use crate::output::exit::{Exit, Failure, REFUSED, wrong};
use crate::resolve::lookup::lookup;
use crate::resolve::typed::seqs;
use std::process::ExitCode;
use waiting::Waiting;
use wunderblock::report::EraseReport;
use wunderblock::{Along, Engine, ErasedPart, Error};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Erase) -> Exit {
    if let Some(path) = &wanted.document {
        return document::run(global, settings, wanted, path).await;
    }
    let Some(name) = wanted.session.as_deref() else { return text::run(global, settings, wanted).await };
    let engine = settings.existing().await?;
    let (session, place) = lookup(global).named_at(&engine, name).await?;
    let head = session.info().await?.head;
    let positions = match (&wanted.at, place) {
        (Some(_), Some(_)) => return Err(wrong("give positions once: as SESSION#12-80, or with --at")),
        (Some(range), None) => Some(seqs(range)?),
        (None, place) => place,
    };
    let (from, to) = positions.unwrap_or((Seq(1), head));
    if !wanted.yes {
        let text = format!(
            "positions {from} to {} of {} would be erased permanently; add --yes to do it",
            to.min(head),
            session.id()
        );
        return Err(Failure::Door(REFUSED, text));
    }
    let waiting = Waiting::begin(global, &engine);
    let erased = match positions {
        Some(_) => session.erase(from, to, wanted.reason.as_deref()).await,
        None => {
            let along = Along { children: wanted.with_children, copies: wanted.with_copies };
            session.erase_all(wanted.reason.as_deref(), along).await
        }
    };
    drop(waiting);
    let erased = erased?;
    let id = session.id();
    let again = async |copy: &Engine| erase_in_copy(copy, id, positions, wanted).await;
    let part = match positions {
        Some((from, to)) => ErasedPart::Positions(id, from, to),
        None => ErasedPart::Session(id),
    };
    let left_in = elsewhere::copies(settings, &engine, part, wanted.with_kept.then_some(again)).await?;
    if global.json {
        let (session, to_seq) = (session.id(), to.min(head));
        print_report(&EraseReport {
            session,
            from_seq: from,
            to_seq,
            erased: &erased,
            files_left: &left_in,
        })?;
    } else {
        let receipt = erased.receipt.map(|seq| format!("; receipt at position {seq}")).unwrap_or_default();
        print(&elsewhere::told(&format!(" from {}", clean(session.id().as_str())), &erased, &receipt))?;
        left(global, &erased.children, "of its sub-agents", "--with-children");
        left(global, &erased.copies, "that share its records", "--with-copies");
    }
    elsewhere::name(global, &left_in);
    Ok(ExitCode::SUCCESS)
}

/// Erases the same content from a copy of the ledger.
async fn erase_in_copy(
    copy: &Engine,
    id: &StreamId,
    positions: Option<(Seq, Seq)>,
    wanted: &Erase,
) -> Result<(), Error> {
    let session = copy.session_by_id(id.clone());
    let reason = wanted.reason.as_deref();
    match positions {
        Some((from, to)) => session.erase(from, to, reason).await.map(drop),
        None => {
            let along = Along { children: wanted.with_children, copies: wanted.with_copies };
            session.erase_all(reason, along).await.map(drop)
        }
    }
}

/// Names the sessions that an erasure did not touch, and the flag that includes them.
fn left(global: &Global, sessions: &[StreamId], whose: &str, flag: &str) {
    if !sessions.is_empty() {
        let names = sessions.iter().map(StreamId::as_str).collect::<Vec<_>>().join(", ");
        let (names, count) = (clean(&names), plural(sessions.len() as u64, "session", "sessions"));
        say(global, &format!("left: {count} {whose}: {names}; {flag} erases them, too"));
    }
}

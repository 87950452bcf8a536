//! `erase`: content, for good.

use super::{known_session, print, print_json, seqs};
use crate::args::{Erase, Global};
use crate::columns::plural;
use crate::exit::{Failure, REFUSED};
use crate::settings::Settings;
use crate::terminal::clean;
use serde_json::json;
use std::process::ExitCode;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Erase) -> Result<ExitCode, Failure> {
    let engine = settings.existing().await?;
    let session = known_session(&engine, global, &wanted.session.session).await?;
    let head = session.info().await?.head;
    let (from, to) = match &wanted.at {
        Some(range) => seqs(range)?,
        None => (Seq(1), head),
    };
    if !wanted.yes {
        let text = format!(
            "positions {from} to {} of {} would lose their content for good; --yes does it",
            to.min(head),
            session.id()
        );
        return Err(Failure::Door(REFUSED, text));
    }
    let erased = match &wanted.at {
        Some(_) => session.erase(from, to, wanted.reason.as_deref()).await?,
        None => session.erase_all(wanted.reason.as_deref()).await?,
    };
    if global.json {
        print_json(&json!({
            "session": session.id().as_str(), "from_seq": from.0, "to_seq": to.min(head).0,
            "events": erased.events, "blobs": erased.blobs, "source_bytes": erased.source_bytes.0,
            "receipt": erased.receipt.map(|seq| seq.0),
        }))?;
    } else {
        print(&format!(
            "erased from {}: {}, {}, {} bytes of the original; receipt at position {}\n",
            clean(session.id().as_str()),
            plural(erased.events, "event", "events"),
            plural(erased.blobs, "body", "bodies"),
            grouped(erased.source_bytes.0),
            erased.receipt.map(|seq| seq.to_string()).unwrap_or_default()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

//! `replay`: an earlier request, byte for byte.

use crate::args::{Global, Replay};
use crate::console::{deliver, time};
use crate::exit::Exit;
use crate::lookup::known_session;
use crate::settings::Settings;
use crate::terminal::{clean, clean_json};
use std::process::ExitCode;
use wunderblock::report::ReplayReport;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Replay) -> Exit {
    let engine = settings.read_only().await?;
    let session = known_session(&engine, global, &wanted.session.session).await?;
    let replayed = session.replay(wanted.at.map(Seq)).await?;
    let verdict = if replayed.erased {
        "content of it has been erased since"
    } else {
        "proved: the same bytes as recorded"
    };
    let report = if global.json {
        let value = serde_json::to_string(&ReplayReport::new(session.id().as_str(), &replayed))?;
        format!("{}\n", clean_json(&value))
    } else {
        format!(
            "request at position {} of {}, {}, lane {}, {} · {}\n{} bytes, blake3 {}\n{verdict}\n",
            replayed.seq,
            clean(session.id().as_str()),
            time(replayed.at),
            clean(replayed.lane.as_str()),
            clean(&replayed.model),
            replayed.dialect.name(),
            grouped(replayed.body.len() as u64),
            replayed.digest,
        )
    };
    deliver(wanted.out.as_deref(), &replayed.body, &report)?;
    Ok(ExitCode::SUCCESS)
}

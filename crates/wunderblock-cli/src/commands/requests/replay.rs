//! `replay`: writes a recorded request again, byte for byte.

use crate::args::{Global, Replay};
use crate::drawing::terminal::{clean, clean_json};
use crate::output::console::{deliver, time};
use crate::output::exit::Exit;
use crate::output::output_file::OutputFile;
use crate::resolve::lookup::{lookup, one_position};
use crate::resolve::names::short;
use std::process::ExitCode;
use wunderblock::report::ReplayReport;
use wunderblock_core::stub::grouped;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Replay) -> Exit {
    let engine = settings.read_only().await?;
    let (session, place) = lookup(global).known_at(&engine, &wanted.session.session).await?;
    let out = OutputFile::create(settings, &engine, wanted.out.as_deref()).await?;
    let replayed = session.replay(one_position(wanted.at, place)?).await?;
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
            "request {}#{}, {}, lane {}, {} · {}\n{} bytes, blake3 {}\n{verdict}\n",
            short(&session).await?,
            replayed.seq,
            time(replayed.at),
            clean(replayed.lane.as_str()),
            clean(&replayed.model),
            replayed.dialect.name(),
            grouped(replayed.body.len() as u64),
            replayed.digest,
        )
    };
    deliver(out, &replayed.body, &report)?;
    Ok(ExitCode::SUCCESS)
}

//! `replay`: an earlier request, byte for byte.

use crate::args::{Global, Replay};
use crate::console::{print, time};
use crate::exit::{Failure, unwritten};
use crate::lookup::known_session;
use crate::settings::Settings;
use crate::terminal::{clean, clean_json, write_bytes};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use wunderblock::report::ReplayReport;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Replay) -> Result<ExitCode, Failure> {
    let engine = settings.read_only().await?;
    let session = known_session(&engine, global, &wanted.session.session).await?;
    let replayed = session.replay(wanted.at.map(Seq)).await?;
    let to_stdout = wanted.out.as_deref() == Some(Path::new("-"));
    if let Some(path) = wanted.out.as_deref().filter(|_| !to_stdout) {
        std::fs::write(path, &replayed.body).map_err(|error| unwritten(path, &error))?;
    }
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
    if to_stdout {
        std::io::stderr().lock().write_all(report.as_bytes())?;
        write_bytes(&replayed.body)?;
    } else {
        print(&report)?;
    }
    Ok(ExitCode::SUCCESS)
}

//! `replay`: an earlier request, byte for byte.

use super::{known_session, print, print_json, time};
use crate::args::{Global, Replay};
use crate::exit::{Failure, wrong};
use crate::settings::Settings;
use crate::terminal::clean;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Replay) -> Result<ExitCode, Failure> {
    let engine = settings.read_only().await?;
    let session = known_session(&engine, &wanted.session.session).await?;
    let replayed = session.replay(wanted.at.map(Seq)).await?;
    let to_stdout = wanted.out.as_deref() == Some(Path::new("-"));
    if let Some(path) = wanted.out.as_deref().filter(|_| !to_stdout) {
        std::fs::write(path, &replayed.body)
            .map_err(|error| wrong(format!("{}: {error}", path.display())))?;
    }
    let verdict = if replayed.erased {
        "content of it has been erased since"
    } else {
        "proved: the same bytes as recorded"
    };
    if to_stdout {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&replayed.body)?;
        stdout.flush()?;
    } else if global.json {
        print_json(&json!({
            "session": session.id().as_str(),
            "seq": replayed.seq.0,
            "at": replayed.at.0,
            "lane": replayed.lane.as_str(),
            "model": replayed.model,
            "dialect": replayed.dialect.name(),
            "bytes": replayed.body.len(),
            "digest": replayed.digest,
            "erased": replayed.erased,
            "proved": !replayed.erased,
        }))?;
    } else {
        print(&format!(
            "request at position {} of {}, {}, lane {}, {} · {}\n{} bytes, blake3 {}\n{verdict}\n",
            replayed.seq,
            clean(session.id().as_str()),
            time(replayed.at),
            clean(replayed.lane.as_str()),
            clean(&replayed.model),
            replayed.dialect.name(),
            grouped(replayed.body.len() as u64),
            replayed.digest,
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

//! `export`: exports a session from the ledger.

use crate::args::{Export, ExportTo, Global};
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::{print_json, say};
use crate::output::exit::{Exit, Failure};
use crate::output::output_file::OutputFile;
use crate::resolve::lookup::lookup;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use wunderblock::machine::{TranscriptPlace, transcript_place, write_agent_transcript};
use wunderblock::{ContextOptions, Session};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_settings::{Settings, places};
use wunderblock_wire::transcript::{AgentFormat, WrittenTranscript};

/// A window larger than any session, so that everything is shown.
const EVERYTHING: Tokens = Tokens(1 << 40);

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Export) -> Exit {
    let (engine, session) = lookup(global).reading(settings, &wanted.session.session).await?;
    let path = wanted.out.as_deref().unwrap_or(Path::new("-"));
    // An export may give the user's own file again.
    let mut out = OutputFile::create_copy(settings, &engine, path).await?;
    let file = Some(path).filter(|_| !out.is_stdout());
    let mut transcript = None;
    let what = match wanted.to {
        _ if wanted.original => bytes(session.export_original(wanted.source, &mut out).await?),
        Some(ExportTo::Request(to)) => {
            let options = ContextOptions {
                lane: Some(wunderblock_core::id::LaneId::new("export").map_err(wunderblock::Error::from)?),
                window: Some(EVERYTHING),
                dialect: Some(to),
                ..ContextOptions::uncompacted()
            };
            let built = session.explain(&options).await?;
            out.write_all(&built.draft.body)?;
            bytes(built.draft.body.len() as u64)
        }
        Some(ExportTo::Transcript(format)) => {
            let (count, written) = write_agent_transcript(&session, format, &mut out).await?;
            transcript = Some((format, written));
            bytes(count)
        }
        None => events(&session, &mut out).await?,
    };
    out.finish()?;
    if file.is_some() {
        say(global, &format!("wrote {what}"));
    }
    if let Some((format, written)) = transcript {
        report(global, format, &written, file)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn events(session: &Session, out: &mut (dyn Write + Send)) -> Result<String, Failure> {
    let info = session.info().await?;
    Ok(format!("{} events", grouped(session.export(Seq(1), info.head, out).await?)))
}

fn bytes(count: u64) -> String {
    format!("{} bytes", grouped(count))
}

/// Reports what a transcript does not hold, and how to continue it.
fn report(
    global: &Global,
    format: AgentFormat,
    written: &WrittenTranscript,
    out: Option<&Path>,
) -> Result<(), Failure> {
    let place = transcript_place(format, written, &places(Vec::new())?);
    if global.json && out.is_some() {
        let left_out: Vec<_> =
            written.left_out.iter().map(|left| json!({ "what": left.what, "count": left.count })).collect();
        let file = place.as_ref().and_then(|place| place.file.as_deref());
        return print_json(&json!({
            "format": format.format().name(),
            "session": written.session,
            "file": file,
            "command": place.as_ref().map(|place| &*place.command),
            "left_out": left_out,
        }));
    }
    for left in &written.left_out {
        say(global, &format!("left out: {}: {}", clean(&left.what), plural(left.count, "time", "times")));
    }
    if let Some(TranscriptPlace { file, command }) = place {
        let file = file.map_or_else(
            || "where the agent keeps the sessions of its project".to_owned(),
            |file| format!("as {}", clean(&file.display().to_string())),
        );
        say(global, &format!("to continue: store it {file}, then run `{}`", clean(&command)));
    }
    Ok(())
}

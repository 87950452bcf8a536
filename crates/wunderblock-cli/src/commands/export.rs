//! `export`: exports a session from the ledger.

use crate::args::{Export, Global};
use crate::console::say;
use crate::exit::{Exit, unwritten};
use crate::lookup::reading;
use crate::settings::Settings;
use crate::terminal::stdout;
use crate::typed::dialect;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use wunderblock::ContextOptions;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};

/// A window larger than any session, so that everything is shown.
const EVERYTHING: Tokens = Tokens(1 << 40);

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Export) -> Exit {
    let to = wanted.to.map(dialect);
    let (_, session) = reading(settings, global, &wanted.session.session).await?;
    // `-` means stdout, as in the other commands.
    let file = wanted.out.as_deref().filter(|path| *path != Path::new("-"));
    let mut out: Box<dyn Write + Send> = match file {
        Some(path) => {
            Box::new(BufWriter::new(std::fs::File::create(path).map_err(|error| unwritten(path, &error))?))
        }
        None => stdout(),
    };
    let what = if wanted.original {
        format!("{} bytes", grouped(session.export_original(wanted.source, &mut out).await?))
    } else if let Some(to) = to {
        let options = ContextOptions {
            lane: Some(wunderblock_core::id::LaneId::new("export").map_err(wunderblock::Error::from)?),
            window: Some(EVERYTHING),
            dialect: Some(to),
            ..ContextOptions::uncompacted()
        };
        let built = session.explain(&options).await?;
        out.write_all(&built.draft.body)?;
        format!("{} bytes", grouped(built.draft.body.len() as u64))
    } else {
        let info = session.info().await?;
        format!("{} events", grouped(session.export(Seq(1), info.head, &mut out).await?))
    };
    out.flush()?;
    if file.is_some() {
        say(global, &format!("wrote {what}"));
    }
    Ok(ExitCode::SUCCESS)
}

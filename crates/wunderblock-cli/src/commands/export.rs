//! `export`: a session out of the ledger.

use super::{dialect, known_session, say};
use crate::args::{Export, Global};
use crate::exit::Failure;
use crate::settings::Settings;
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use wunderblock::ContextOptions;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};

/// More than any session holds: everything is shown.
const EVERYTHING: Tokens = Tokens(1 << 40);

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Export) -> Result<ExitCode, Failure> {
    let engine = settings.read_only().await?;
    let session = known_session(&engine, &wanted.session.session).await?;
    let mut out: Box<dyn Write> = match &wanted.out {
        Some(path) => Box::new(BufWriter::new(
            std::fs::File::create(path)
                .map_err(|error| crate::exit::wrong(format!("{}: {error}", path.display())))?,
        )),
        None => Box::new(BufWriter::new(std::io::stdout())),
    };
    let what = if wanted.original {
        format!("{} bytes", grouped(session.export_original(&mut out).await?))
    } else if let Some(to) = wanted.to {
        let options = ContextOptions {
            lane: Some(wunderblock_core::id::LaneId::new("export").map_err(wunderblock::Error::from)?),
            window: Some(EVERYTHING),
            dialect: Some(dialect(to)),
            ..ContextOptions::default()
        };
        let built = session.explain(&options).await?;
        out.write_all(&built.body)?;
        format!("{} bytes", grouped(built.body.len() as u64))
    } else {
        let info = session.info().await?;
        format!("{} events", grouped(session.export(Seq(1), info.head, &mut out).await?))
    };
    out.flush()?;
    if wanted.out.is_some() {
        say(global, &format!("wrote {what}"));
    }
    Ok(ExitCode::SUCCESS)
}

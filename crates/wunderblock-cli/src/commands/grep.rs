//! `grep`: a text in the originals, the newest first, as it is found.

use crate::args::{Global, Grep};
use crate::exit::{FAILED, Failure};
use crate::paint::Paint;
use crate::settings::Settings;
use crate::terminal::clean_lines;
use serde_json::json;
use std::io::Write;
use std::ops::ControlFlow;
use std::process::ExitCode;
use wunderblock::{GrepOptions, Match};

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Grep) -> Result<ExitCode, Failure> {
    let engine = settings.read_only().await?;
    let session = match &wanted.session {
        Some(text) => Some(super::known_session(&engine, text).await?.id().clone()),
        None => None,
    };
    let options = GrepOptions { session, regex: wanted.regex, ignore_case: wanted.ignore_case };
    let paint = Paint::stdout();
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let mut count = 0;
    let mut outcome = Ok(());
    let limit = wanted.limit.unwrap_or(u64::MAX);
    engine
        .grep(&wanted.pattern, &options, &mut |hit| {
            if count >= limit {
                return ControlFlow::Break(());
            }
            count += 1;
            outcome = write(&mut out, &hit, (global.json, paint));
            // The first lines are seen at once; a flood is written in blocks.
            if count <= 20 && outcome.is_ok() {
                outcome = out.flush();
            }
            if outcome.is_err() || count >= limit {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .await?;
    outcome?;
    out.flush()?;
    Ok(if count == 0 { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn write(out: &mut dyn Write, hit: &Match, (json, paint): (bool, Paint)) -> std::io::Result<()> {
    if json {
        let line = json!({
            "session": hit.session.as_str(), "seq": hit.seq.0, "at": hit.at.0,
            "handle": hit.handle.map(|handle| handle.to_string()), "line": hit.line, "text": hit.text,
        });
        return writeln!(out, "{line}");
    }
    let place = format!("{}#{}:{}", hit.session, hit.seq, hit.line);
    writeln!(out, "{} {}", paint.dim(&clean_lines(&place)), clean_lines(&hit.text))
}

//! `grep`: a text in the originals, the newest first, as it is found.

use crate::args::{Global, Grep};
use crate::columns::fit;
use crate::exit::{Exit, FAILED};
use crate::paint::Paint;
use crate::settings::Settings;
use crate::terminal::{clean, clean_json, clean_lines, width};
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;
use wunderblock::{GrepOptions, Match};
use wunderblock_core::id::StreamId;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Grep) -> Exit {
    let engine = settings.read_only().await?;
    let session = match &wanted.session {
        Some(text) => Some(crate::lookup::known_session(&engine, global, text).await?.id().clone()),
        None => None,
    };
    let options = GrepOptions { session, regex: wanted.regex, ignore_case: wanted.ignore_case };
    let paint = Paint::stdout();
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let mut count = 0;
    let mut outcome = Ok(());
    // On a terminal lines stand under their session's name; in a pipe each says all of it.
    let grouped = std::io::stdout().is_terminal();
    let mut last = None;
    let limit = wanted.limit.unwrap_or(u64::MAX);
    engine
        .grep(&wanted.pattern, &options, &mut |hit| {
            if count >= limit {
                return ControlFlow::Break(());
            }
            count += 1;
            outcome = if global.json {
                machine(&mut out, &hit)
            } else if grouped {
                seen(&mut out, &hit, &mut last, paint)
            } else {
                flat(&mut out, &hit)
            };
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

fn machine(out: &mut dyn Write, hit: &Match) -> std::io::Result<()> {
    let line = serde_json::to_value(hit)?;
    writeln!(out, "{}", clean_json(&line.to_string()))
}

fn flat(out: &mut dyn Write, hit: &Match) -> std::io::Result<()> {
    writeln!(out, "{}#{}:{} {}", clean(hit.session.as_str()), hit.seq, hit.line, clean_lines(&hit.text))
}

/// For eyes: the session once, then its lines, each cut to a few lines of the window.
fn seen(out: &mut dyn Write, hit: &Match, last: &mut Option<StreamId>, paint: Paint) -> std::io::Result<()> {
    if last.as_ref() != Some(&hit.session) {
        if last.is_some() {
            writeln!(out)?;
        }
        writeln!(out, "{}", paint.bold(&clean(hit.session.as_str())))?;
        *last = Some(hit.session.clone());
    }
    let place = format!("{:>6}:{:<5}", hit.seq.0, hit.line);
    writeln!(out, "{} {}", paint.dim(&place), fit(&clean_lines(&hit.text), width() * 3))
}

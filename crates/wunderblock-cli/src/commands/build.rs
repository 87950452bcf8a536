//! `context` and `explain`: the next request, and the account of it.

use super::{catch_up, dialect, print, print_json, reading, say, session};
use crate::args::{BuildArgs, ContextArgs, Explain, Global};
use crate::exit::{Failure, unwritten, wrong};
use crate::paint::Paint;
use crate::report::{machine, picture, reason};
use crate::settings::Settings;
use crate::sources::sources;
use crate::terminal::{clean, clean_json, width, write_bytes};
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use wunderblock::{Built, ContextOptions, Error, GrepOptions, Session};
use wunderblock_core::budget::Treatment;
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::units::{Seq, Tokens};

pub(crate) async fn context(
    global: &Global,
    settings: &Settings,
    wanted: ContextArgs,
) -> Result<ExitCode, Failure> {
    let to_stdout = wanted.out.as_deref() == Some(Path::new("-"));
    let engine = settings.write().await?;
    let session = session(&engine, global, &wanted.session.session).await?;
    if wanted.build.query.is_some() {
        catch_up(&engine, global).await?;
    }
    let options = options(settings, &wanted.build, wanted.at)?;
    let built = if wanted.at.is_some() {
        session.explain(&options).await?
    } else {
        session.context(&options).await?
    };
    if let Some(path) = wanted.out.as_deref().filter(|_| !to_stdout) {
        std::fs::write(path, &built.body).map_err(|error| unwritten(path, &error))?;
    }
    let report = report(global, &session, &built, to_stdout)?;
    if to_stdout {
        std::io::stderr().lock().write_all(report.as_bytes())?;
        write_bytes(&built.body)?;
    } else {
        print(&report)?;
        if let Some(path) = &wanted.out
            && !global.json
        {
            print(&format!("request in {}\n", clean(&path.to_string_lossy())))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn report(global: &Global, session: &Session, built: &Built, to_stderr: bool) -> Result<String, Failure> {
    if global.json {
        return Ok(format!("{}\n", clean_json(&machine(session.id().as_str(), built)?.to_string())));
    }
    let paint = if to_stderr { Paint::stderr() } else { Paint::stdout() };
    Ok(picture(session.id().as_str(), built, paint, global.verbose))
}

pub(crate) async fn explain(
    global: &Global,
    settings: &Settings,
    wanted: Explain,
) -> Result<ExitCode, Failure> {
    let (_, session) = reading(settings, global, &wanted.session.session).await?;
    let options = options(settings, &wanted.build, wanted.at)?;
    let built = session.explain(&options).await?;
    match &wanted.find {
        Some(text) => find(global, &session, &built, text).await,
        None => {
            print(&report(global, &session, &built, false)?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Where a text or a handle is, and as what.
async fn find(global: &Global, session: &Session, built: &Built, text: &str) -> Result<ExitCode, Failure> {
    let mut places: Vec<(Seq, Option<Handle>, String)> = Vec::new();
    if let Ok(handle) = text.parse::<Handle>() {
        for (seq, line) in session.holders(handle).await? {
            places.push((seq, Some(handle), line));
        }
    } else {
        let options = GrepOptions { session: Some(session.id().clone()), ..GrepOptions::default() };
        let engine = session.engine();
        engine
            .grep(text, &options, &mut |hit| {
                if places.last().is_none_or(|(seq, ..)| *seq != hit.seq) {
                    places.push((hit.seq, hit.handle, hit.text));
                }
                if places.len() < 200 {
                    std::ops::ControlFlow::Continue(())
                } else {
                    std::ops::ControlFlow::Break(())
                }
            })
            .await?;
    }
    for (seq, handle, line) in &places {
        let (form, section, why) = fate(built, *seq);
        if global.json {
            print_json(&json!({
                "seq": seq.0, "treatment": form, "section": section, "reason": why, "handle": handle.map(|handle| handle.to_string()), "text": line,
            }))?;
        } else {
            let read = handle.map(|handle| format!("  read {handle}")).unwrap_or_default();
            print(&format!(
                "{:>6}  {form:<9} {}{read}\n        {}\n",
                seq.0,
                section.or(why).unwrap_or_default(),
                crate::report::fit(&clean(line.trim()), width() - 8)
            ))?;
        }
    }
    if places.is_empty() {
        say(global, "it is nowhere in the session");
    }
    Ok(if places.is_empty() { ExitCode::from(crate::exit::FAILED) } else { ExitCode::SUCCESS })
}

/// What became of a position in a request: the form it has, and the section it is in or the reason why it is in none.
fn fate(built: &Built, seq: Seq) -> (&'static str, Option<&'static str>, Option<&'static str>) {
    let line = built.report.entries.iter().find(|entry| entry.seq == Some(seq));
    if let Some(line) = line {
        let form = match line.treatment {
            Treatment::Verbatim => "verbatim",
            Treatment::Clipped => "clipped",
            Treatment::Stub => "stub",
            Treatment::LeftOut => "left out",
        };
        return (form, Some(line.section.name()), None);
    }
    let run = built.report.left_out.iter().find(|run| run.from_seq <= seq && seq <= run.to_seq);
    match run {
        Some(run) => ("left out", None, Some(reason(run.reason))),
        None => ("absent", None, Some("it is no message")),
    }
}

fn options(settings: &Settings, build: &BuildArgs, at: Option<u64>) -> Result<ContextOptions, Failure> {
    let (defaults, default) = (&settings.context, ContextOptions::default());
    let dialect = build.to.map(dialect);
    if build.model.as_deref().is_some_and(|model| model.trim().is_empty()) {
        return Err(wrong("--model is empty; leave it out to take the transcript's"));
    }
    let sources =
        sources(&build.sources, (&settings.sources, &settings.instructions), (dialect, at.is_some()))?;
    Ok(ContextOptions {
        lane: Some(LaneId::new(build.lane.clone()).map_err(Error::from)?),
        model: build.model.clone().or_else(|| defaults.model.clone()),
        window: build.window.or(defaults.window).map(Tokens),
        reserve: build.reserve.or(defaults.reserve).map(Tokens),
        dialect,
        query: build.query.clone(),
        at: at.map(Seq),
        sources,
        shares: settings.budget.clone(),
        warn: defaults.warn.clone().unwrap_or(default.warn),
    })
}

//! `sessions`: what there is.

use crate::args::{Global, Sessions};
use crate::columns::{columns, fit, pad, size};
use crate::console::{print, print_report, say, time, zone};
use crate::conversation::beginning;
use crate::exit::{Exit, Failure, wrong};
use crate::paint::Paint;
use crate::settings::Settings;
use crate::terminal::{clean, width};
use std::io::IsTerminal;
use std::process::ExitCode;
use wunderblock::report::SessionReport;
use wunderblock::store::{StreamFilter, StreamInfo};
use wunderblock::{Engine, originals};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Bytes, Millis};

/// Columns before the session's id: when, messages, length of the texts.
const BEFORE: usize = 16 + 2 + 8 + 2 + 8 + 2;
/// The most columns an id gets.
const ID: usize = 48;
/// Fewer columns than this are no room for a session's first words.
const TITLE: usize = 20;

/// What is said of a session whose import did not reach its end.
pub(super) const UNFINISHED: &str =
    "import unfinished: only the beginning is here; `import` of its file goes on";

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Sessions) -> Exit {
    let engine = settings.read_only().await?;
    let filter = StreamFilter {
        prefix: wanted.prefix.clone(),
        project: wanted.project.clone(),
        agent: wanted.agent.clone(),
        since: wanted.since.as_deref().map(since).transpose()?,
    };
    let mut streams = engine.listed(filter, wanted.limit.saturating_add(1)).await?;
    let more = streams.len() as u64 > wanted.limit;
    streams.truncate(usize::try_from(wanted.limit).unwrap_or(usize::MAX));
    if global.json {
        for info in streams {
            let sources = originals(&engine.session_by_id(info.id.clone())).await?;
            print_report(&SessionReport::new(info, sources))?;
        }
    } else if streams.is_empty() {
        let which = if wanted.prefix.is_empty() { "" } else { " whose id begins so" };
        say(global, &format!("no sessions{which}; `wunderblock import PATH` adds a transcript"));
    } else {
        print(&table(&engine, &streams, global.verbose).await?)?;
    }
    if more {
        say(global, &format!("the newest {} are shown; -n shows more", grouped(wanted.limit)));
    }
    Ok(ExitCode::SUCCESS)
}

async fn table(engine: &Engine, streams: &[StreamInfo], all: bool) -> Result<String, Failure> {
    let paint = Paint::stdout();
    // A window shows the beginning of a long id, which is enough to name it; a pipe gets all of it.
    let most = if std::io::stdout().is_terminal() { width().saturating_sub(BEFORE) } else { usize::MAX };
    let ids: Vec<String> = streams.iter().map(|info| fit(&clean(info.id.as_str()), most)).collect();
    let wide = ids.iter().map(|id| columns(id)).max().unwrap_or_default().clamp(7, ID);
    let room = width().saturating_sub(BEFORE + wide + 2);
    let begins = if room >= TITLE { "begins with" } else { "" };
    let head = format!("{:<16}  {:>8}  {:>8}  {:<wide$}  {begins}", "updated", "messages", "text", "session");
    let mut out = format!("{}\n", paint.dim(head.trim_end()));
    for (info, id) in streams.iter().zip(&ids) {
        let begins =
            if room >= TITLE { beginning(engine, info).await?.unwrap_or_default() } else { String::new() };
        let line = format!(
            "{}  {:>8}  {:>8}  {}  {}",
            time(info.updated_at),
            grouped(info.messages),
            size(info.text),
            pad(id, wide),
            paint.dim(&fit(&begins, width().saturating_sub(BEFORE + 2 + columns(id).max(wide)))),
        );
        out.push_str(line.trim_end());
        out.push('\n');
        if info.unfinished {
            out.push_str(&format!("{}{}\n", " ".repeat(BEFORE), paint.dim(UNFINISHED)));
        }
        if all {
            for (number, source) in
                originals(&engine.session_by_id(info.id.clone())).await?.iter().enumerate()
            {
                let (revision, key) = (&source.revision, clean(&source.key));
                let line = format!(
                    "source {}: {key}, {}, {}",
                    number + 1,
                    size(Bytes(revision.len)),
                    revision.handle
                );
                out.push_str(&format!("{}{}\n", " ".repeat(BEFORE), paint.dim(&line)));
            }
        }
    }
    Ok(out)
}

/// A date or a point in time.
fn since(text: &str) -> Result<Millis, Failure> {
    let date = || -> Option<jiff::Timestamp> {
        let date: jiff::civil::Date = text.parse().ok()?;
        Some(date.to_zoned(zone()).ok()?.timestamp())
    };
    let time = text.parse::<jiff::Timestamp>().ok().or_else(date);
    let why = || wrong(format!("`{text}` is not a time; give 2026-11-01 or 2026-11-01T09:30:00Z"));
    Ok(Millis(time.ok_or_else(why)?.as_millisecond()))
}

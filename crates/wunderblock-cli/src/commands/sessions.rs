//! `sessions`: lists the sessions of the ledger.

use crate::args::{Global, Sessions};
use crate::columns::{columns, fit, pad, size};
use crate::console::{print, print_report, say, time, zone};
use crate::conversation::beginning;
use crate::exit::{Exit, Failure, wrong};
use crate::names::Names;
use crate::paint::Paint;
use crate::settings::Settings;
use crate::terminal::{clean, width};
use std::process::ExitCode;
use wunderblock::report::SessionReport;
use wunderblock::store::{StreamFilter, StreamInfo};
use wunderblock::{Engine, originals};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Bytes, Millis};

/// Number of columns between a session's id and its first words: for the time, the number of messages, and the gaps.
const BEHIND: usize = 2 + 16 + 2 + 8 + 2;
/// Minimum number of columns for a session's first words; with fewer columns, the words are left out.
const TITLE: usize = 20;

/// Note about a session whose import did not reach the end of its file.
pub(super) const UNFINISHED: &str =
    "import unfinished: only the first part is stored; `import` of its file continues it";

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
        let which = if wanted.prefix.is_empty() {
            String::new()
        } else {
            format!(" with an id that begins with `{}`", clean(&wanted.prefix))
        };
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
    let names = Names::all(engine).await?;
    let ids: Vec<String> = streams.iter().map(|info| names.short(&info.id)).collect();
    let wide = ids.iter().map(|id| columns(id)).max().unwrap_or_default().max(7);
    let before = wide + BEHIND;
    let room = width().saturating_sub(before);
    let begins = if room >= TITLE { "begins with" } else { "" };
    let head = format!("{:<wide$}  {:<16}  {:>8}  {begins}", "session", "updated", "messages");
    let mut out = format!("{}\n", paint.dim(head.trim_end()));
    for (info, id) in streams.iter().zip(&ids) {
        let begins =
            if room >= TITLE { beginning(engine, info).await?.unwrap_or_default() } else { String::new() };
        let line = format!(
            "{}  {}  {:>8}  {}",
            paint.bold(&pad(id, wide)),
            pad(&time(info.updated_at), 16),
            grouped(info.messages),
            paint.dim(&fit(&begins, room)),
        );
        out.push_str(line.trim_end());
        out.push('\n');
        if info.unfinished {
            out.push_str(&format!("  {}\n", paint.dim(UNFINISHED)));
        }
        if all {
            details(engine, info, paint, &mut out).await?;
        }
    }
    Ok(out)
}

/// Adds the whole id, the length of the texts, and the files from which a session was read.
async fn details(engine: &Engine, info: &StreamInfo, paint: Paint, out: &mut String) -> Result<(), Failure> {
    let mut line = |text: &str| out.push_str(&format!("  {}\n", paint.dim(text)));
    line(&format!("{}, {} of text", clean(info.id.as_str()), size(info.text)));
    let sources = originals(&engine.session_by_id(info.id.clone())).await?;
    for (number, source) in sources.iter().enumerate() {
        let (revision, key) = (&source.revision, clean(&source.key));
        let length = size(Bytes(revision.len));
        line(&format!("source {}: {key}, {length}, {}", number + 1, revision.handle));
    }
    Ok(())
}

/// Parses a date or a point in time.
fn since(text: &str) -> Result<Millis, Failure> {
    let date = || -> Option<jiff::Timestamp> {
        let date: jiff::civil::Date = text.parse().ok()?;
        Some(date.to_zoned(zone()).ok()?.timestamp())
    };
    let time = text.parse::<jiff::Timestamp>().ok().or_else(date);
    let why = || wrong(format!("invalid time `{text}`: expected 2026-11-01 or 2026-11-01T09:30:00Z"));
    Ok(Millis(time.ok_or_else(why)?.as_millisecond()))
}

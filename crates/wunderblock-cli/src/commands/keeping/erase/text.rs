//! `erase --text`: finds every place where a text occurs, and erases all of them with `--yes`.

use super::elsewhere;
use super::waiting::Waiting;
use crate::args::{Erase, Global};
use crate::drawing::columns::{pad, plural};
use crate::drawing::terminal::clean;
use crate::output::console::{answer, print, print_report, say, time};
use crate::output::exit::{Exit, FAILED, Failure, REFUSED};
use crate::output::progress::with_bar;
use std::io::Read;
use std::process::ExitCode;
use wunderblock::report::EraseTextReport;
use wunderblock::{Engine, ErasedPart, TextFound, TextPlace};
use wunderblock_core::id::StreamId;
use wunderblock_settings::Settings;

/// Maximum length in bytes of a text read from stdin.
const MAX_TEXT: u64 = 1 << 20;

/// Maximum number of places listed without `-v`, counted separately for events and for records of originals.
const LISTED: usize = 50;

pub(super) async fn run(global: &Global, settings: &Settings, wanted: &Erase) -> Exit {
    let text = text(wanted.text.as_deref().unwrap_or_default())?;
    let engine = if wanted.yes { settings.existing().await? } else { settings.read_only().await? };
    let found = look(global, &engine, &text).await?;
    if !wanted.yes || found.is_empty() {
        let listed = if global.verbose { usize::MAX } else { LISTED };
        answer(global, &found, || picture(&found, listed))?;
        return Err(if found.is_empty() {
            Failure::Door(FAILED, "no event and no imported file contains the text".to_owned())
        } else {
            Failure::Door(
                REFUSED,
                format!("{} would be erased permanently; confirm with --yes", amount(&found)),
            )
        });
    }
    let waiting = Waiting::begin(global, &engine);
    let erased = found.erase(&engine, wanted.reason.as_deref()).await;
    drop(waiting);
    let erased = erased?;
    // The text may have been appended again while it was being erased, so the ledger is searched once more.
    let left = look(global, &engine, &text).await?;
    let again = async |copy: &Engine| {
        let found = TextFound::of(copy, &text, &mut |_| {}).await?;
        found.erase(copy, wanted.reason.as_deref()).await.map(drop)
    };
    let again = wanted.with_kept.then_some(again);
    let left_in = elsewhere::copies(settings, &engine, ErasedPart::Text(&text), again).await?;
    if global.json {
        print_report(&EraseTextReport::new(&found, &erased, &left, &left_in))?;
    } else {
        print(&elsewhere::told("", &erased, ""))?;
        if !left.names.is_empty() {
            say(global, &format!("names stay: {}", clean(&left.names.join(", "))));
        }
    }
    elsewhere::name(global, &left_in);
    if left.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let text = format!("{} appeared during the erasure; run the command again", amount(&left));
    Err(Failure::Door(FAILED, text))
}

/// Returns the text to erase. The text can come from stdin, because the shell's history would keep a text given on
/// the command line.
fn text(given: &str) -> Result<String, Failure> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut text = String::new();
    std::io::stdin().lock().take(MAX_TEXT).read_to_string(&mut text)?;
    let line = text.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    Ok(line.unwrap_or(&text).to_owned())
}

async fn look(global: &Global, engine: &Engine, text: &str) -> Result<TextFound, Failure> {
    with_bar(global, "looking", async |on| TextFound::of(engine, text, on).await).await
}

fn amount(found: &TextFound) -> String {
    let events = plural(found.events.len() as u64, "event", "events");
    let records = plural(found.originals.len() as u64, "record of originals", "records of originals");
    match (found.events.is_empty(), found.originals.is_empty()) {
        (false, false) => format!("{events} and {records}"),
        (false, true) => events,
        (true, _) => records,
    }
}

fn picture(found: &TextFound, listed: usize) -> String {
    let at = |place: &TextPlace| match &place.path {
        Some(path) => clean(path),
        None => format!("{}#{}", clean(place.session.as_str()), place.seq),
    };
    let wide = found.events.iter().map(|place| at(place).len()).max().unwrap_or_default();
    let mut out = String::new();
    for place in found.events.iter().take(listed) {
        let shown = place.shown_in.iter().map(StreamId::as_str).collect::<Vec<_>>().join(", ");
        let shown = if shown.is_empty() { shown } else { format!("; shown in {}", clean(&shown)) };
        out.push_str(&format!("{}  {}  {}{shown}\n", pad(&at(place), wide), time(place.at), word(place)));
    }
    out.push_str(&rest(found.events.len(), listed, "event", "events"));
    for record in found.originals.iter().take(listed) {
        let (path, from, to) = (clean(&record.path), record.from, record.to);
        out.push_str(&format!("{path}, bytes {from}–{to}  (`read {} --bytes {from}-{to}`)\n", record.handle));
    }
    out.push_str(&rest(found.originals.len(), listed, "record", "records"));
    for name in &found.names {
        out.push_str(&format!("stays: {}\n", clean(name)));
    }
    out
}

/// Returns a line about the entries that are not listed.
fn rest(all: usize, listed: usize, one: &str, many: &str) -> String {
    let left = all.saturating_sub(listed) as u64;
    if left == 0 { String::new() } else { format!("{} more; -v lists all\n", plural(left, one, many)) }
}

/// Returns a human-readable word for an event.
fn word(place: &TextPlace) -> &str {
    match &*place.kind {
        "message.appended" => "message",
        "session.compacted" => "summary",
        "context.built" => "request",
        "context.injected" => "recalled copy",
        "content.reduced" => "reduction",
        "preamble.changed" => "instructions",
        "document.section" => "section of a document",
        kind => kind,
    }
}

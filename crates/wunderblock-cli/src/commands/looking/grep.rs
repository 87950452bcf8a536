//! `grep`: searches the originals for a text, newest first, and prints each match as it is found.

use crate::args::{Global, Grep, InArg};
use crate::drawing::columns::{fit, pad};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, clean_json, clean_lines, width};
use crate::output::console::{age, say};
use crate::output::exit::{Exit, FAILED};
use crate::resolve::filter::{searched, session_choice, tell_unmatched};
use crate::resolve::names::Names;
use crate::showing::entry::{excerpt, role};
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Duration;
use wunderblock::{Deadline, DocumentPlace, GrepOptions, GrepStop, Match};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::Seq;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Grep) -> Exit {
    let engine = settings.read_only().await?;
    let (session, sessions, events) = searched(&engine, global, &wanted.searched).await?;
    let options = GrepOptions {
        within: InArg::within(wanted.searched.within),
        session,
        sessions,
        events,
        regex: wanted.regex,
        ignore_case: wanted.ignore_case,
        context: wanted.context,
        deadline: Deadline::after(Duration::from_secs(wanted.timeout)),
        messages_only: false,
        masked: false,
    };
    let mut out = std::io::BufWriter::new(std::io::stdout());
    // On a terminal, lines are shown under their session's name; in a pipe, each line contains the session's whole
    // id.
    let is_seen = std::io::stdout().is_terminal() && !global.json;
    let names = if is_seen { Names::all(&engine).await? } else { Names::default() };
    let mut picture = GrepPicture { names, paint: Paint::stdout(), whole: global.verbose, last: None };
    let mut count = 0;
    let mut outcome = Ok(());
    let limit = wanted.limit.unwrap_or(u64::MAX);
    let stopped = engine
        .recall()
        .grep(&wanted.pattern, &options, &mut |hit| {
            if count >= limit {
                return ControlFlow::Break(());
            }
            count += 1;
            outcome = if global.json {
                machine(&mut out, &hit)
            } else if is_seen {
                picture.hit(&mut out, &hit)
            } else {
                flat(&mut out, &hit)
            };
            // The first lines are flushed so that they appear immediately; further lines are buffered.
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
    if let Some(GrepStop { session, seq }) = &stopped {
        let (time, place) = (wanted.timeout, format!("{}#{seq}", clean(session.as_str())));
        let text = format!(
            "given up after {time} s at {place}: earlier messages were not searched; a longer --timeout searches them"
        );
        say(global, &text);
    }
    if count == 0 {
        tell_unmatched(global, &engine, &session_choice(&wanted.searched.sessions)).await?;
    }
    Ok(if count == 0 || stopped.is_some() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

fn machine(out: &mut dyn Write, hit: &Match) -> std::io::Result<()> {
    let line = serde_json::to_value(hit)?;
    writeln!(out, "{}", clean_json(&line.to_string()))
}

fn flat(out: &mut dyn Write, hit: &Match) -> std::io::Result<()> {
    for (line, text, is_hit) in lines(hit) {
        let place = match (hit.place, &hit.document) {
            (Some(place), _) if is_hit => place.short(),
            (Some(place), _) => place.handle.short(),
            (None, Some(document)) => format!("{}{}", clean(&document.path), line_of(document, line)),
            (None, None) => format!("{}#{}:{line}", clean(hit.session.as_str()), hit.seq),
        };
        writeln!(out, "{place}{} {}", if is_hit { "" } else { "-" }, clean_lines(text))?;
    }
    Ok(())
}

/// Returns the place of a line in its document.
fn line_of(document: &DocumentPlace, line: u64) -> String {
    document.page.map_or_else(|| format!(":{line}"), |page| format!(", page {page}:{line}"))
}

/// Returns the lines of a match and the lines around it, with their numbers.
fn lines(hit: &Match) -> impl Iterator<Item = (u64, &str, bool)> {
    let first = hit.line - (hit.before.len() as u64).min(hit.line);
    let before = (first..).zip(hit.before.iter().map(|text| (text.as_str(), false)));
    let after = (hit.line + 1..).zip(hit.after.iter().map(|text| (text.as_str(), false)));
    let own = std::iter::once((hit.line, (hit.text.as_str(), true)));
    before.chain(own).chain(after).map(|(line, (text, is_hit))| (line, text, is_hit))
}

/// Formats matches for people: names the session once, then shows one line per match, cut so that the match is
/// visible.
struct GrepPicture {
    names: Names,
    paint: Paint,
    whole: bool,
    /// The text shown last, and the last line shown from it.
    last: Option<(StreamId, Seq, Option<Handle>, u64)>,
}

/// Number of columns before a line, for its place, its speaker and its time.
const BESIDE: usize = 12 + 12 + 9;

impl GrepPicture {
    fn hit(&mut self, out: &mut dyn Write, hit: &Match) -> std::io::Result<()> {
        let last = self.last.take();
        if last.as_ref().is_none_or(|(session, ..)| *session != hit.session) {
            let gap = if last.is_some() { "\n" } else { "" };
            let document = hit.document.as_ref().map(|document| clean(&document.path));
            let name = document.unwrap_or_else(|| self.names.short(&hit.session));
            writeln!(out, "{gap}{}", self.paint.bold(&name))?;
        }
        let is_same = last.as_ref().is_some_and(|(session, seq, handle, _)| {
            *session == hit.session && *seq == hit.seq && *handle == hit.handle
        });
        let shown = last.filter(|_| is_same).map_or(0, |(.., line)| line);
        for (line, text, is_hit) in lines(hit).filter(|(line, ..)| *line > shown) {
            writeln!(out, "{}", if is_hit { self.found(hit) } else { self.around(line, text) })?;
        }
        let end = hit.line + hit.after.len() as u64;
        self.last = Some((hit.session.clone(), hit.seq, hit.handle, end));
        Ok(())
    }

    fn found(&self, hit: &Match) -> String {
        // A place in bytes is the address that `read` accepts.
        let place = match (hit.place, &hit.document) {
            (Some(place), _) => place.short(),
            (None, Some(document)) => line_of(document, hit.line).trim_start_matches(", ").to_owned(),
            (None, None) => format!("#{}:{}", hit.seq, hit.line),
        };
        let head = format!(
            "{} {} {}",
            pad(&place, 11),
            self.paint.role(hit.role, &pad(role(hit.role), 11)),
            self.paint.dim(&pad(&age(hit.at), 8))
        );
        let beside = BESIDE + place.len().saturating_sub(11);
        let room = if self.whole { usize::MAX } else { width().saturating_sub(beside).max(20) };
        format!("{head} {}", excerpt(self.paint, hit.text.trim_end(), hit.found.clone(), room))
    }

    fn around(&self, line: u64, text: &str) -> String {
        let text = clean(text);
        let text = if self.whole { text } else { fit(&text, width().saturating_sub(BESIDE).max(20)) };
        self.paint.dim(&format!("{:>11}{:22}{text}", format!(":{line}"), "-"))
    }
}

//! `show`: what was said in a session.

use super::sessions::UNFINISHED;
use crate::args::{Global, Show};
use crate::columns::fit;
use crate::console::{print, print_json, say, time};
use crate::exit::{Exit, FAILED, Failure};
use crate::lookup::reading;
use crate::paint::Paint;
use crate::settings::Settings;
use crate::terminal::{clean, clean_lines, width};
use crate::typed::seqs;
use std::process::ExitCode;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::message::{Body, MessageOrigin, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Bytes, Seq};

/// Lines of a text that are shown unless all is asked for.
const LINES: usize = 8;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Show) -> Exit {
    let (engine, session) = reading(settings, global, &wanted.session.session).await?;
    let info = session.info().await?;
    let (from, to) = match &wanted.at {
        Some(range) => seqs(range)?,
        None => (Seq(info.head.0.saturating_sub(wanted.limit.saturating_sub(1)).max(1)), info.head),
    };
    if from > info.head {
        let text = format!("`{}` has positions 1 to {}: there is none at {from}", session.id(), info.head);
        return Err(Failure::Door(FAILED, text));
    }
    if info.unfinished {
        say(global, UNFINISHED);
    }
    if global.json {
        let mut out = Vec::new();
        session.export(from, to, &mut out).await?;
        for line in out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            print_json(&serde_json::from_slice(line)?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let paint = Paint::stdout();
    let events = session.events(from, to, (100_000, Bytes(1 << 40))).await?;
    let bodies = engine.bodies(&events).await?;
    let mut out = String::new();
    for event in &events {
        describe(event, &bodies, (paint, global.verbose), &mut out);
    }
    if info.head > to || from > Seq(1) {
        let shown = span(from, to.min(info.head));
        out.push_str(&paint.dim(&format!("{shown} of {}; --at A-B shows others\n", info.head)));
    }
    print(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn span(from: Seq, to: Seq) -> String {
    if from == to { format!("position {from}") } else { format!("positions {from}–{to}") }
}

fn describe(event: &Event, bodies: &dyn Bodies, (paint, all): (Paint, bool), out: &mut String) {
    let head = |who: &str| {
        format!("{} {} {}\n", paint.bold(&format!("{:>6}", event.seq.0)), who, paint.dim(&time(event.at)))
    };
    match &event.fact {
        None => {
            let kind = event.erased.as_ref().map_or("", |erased| &erased.kind);
            out.push_str(&head(&clean(format!("{kind} (erased)").trim_start())));
        }
        Some(Fact::MessageAppended(said)) => {
            let message = &said.message;
            let who = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
            };
            let standing = match &message.standing {
                MessageOrigin::Said => String::new(),
                MessageOrigin::Injected(what) => format!(" (injected: {what})"),
                MessageOrigin::Failed(what) => format!(" (failed: {what})"),
                MessageOrigin::Aside(what) => format!(" (aside: {what})"),
            };
            out.push_str(&head(&clean(&format!("{who}{standing}"))));
            for part in &message.parts {
                show_part(part, bodies, all, out);
            }
        }
        Some(fact) => {
            out.push_str(&head(fact.kind()));
            let text = facts(fact);
            let text = if all { clean(&text) } else { fit(&clean(&text), width() - 8) };
            out.push_str(&indented(&text));
        }
    }
}

/// What an event that is no message says: its fields, in words.
fn facts(fact: &Fact) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(fact) else { return String::new() };
    let words = fields.iter().filter(|(name, _)| *name != "kind").map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{} {value}", name.replace('_', " "))
    });
    words.collect::<Vec<_>>().join(" · ")
}

fn indented(line: &str) -> String {
    if line.is_empty() { "\n".to_owned() } else { format!("       {line}\n") }
}

fn show_part(part: &Part, bodies: &dyn Bodies, all: bool, out: &mut String) {
    match part {
        Part::Text { text, .. } => body(text, bodies, all, out),
        Part::Thinking { text, .. } => {
            out.push_str("       thinking\n");
            body(text, bodies, all, out);
        }
        Part::ToolCall { name, input, gist, .. } => {
            let what = clean(gist.as_deref().or_else(|| input.inline()).unwrap_or_default());
            out.push_str(&format!("       → {} {}\n", clean(name), fit(&what, width() - 12)));
        }
        Part::ToolResult { content, failed, .. } => {
            out.push_str(if *failed { "       ← failed\n" } else { "       ←\n" });
            for inner in content {
                show_part(inner, bodies, all, out);
            }
        }
        Part::Media { mime, body, .. } => {
            out.push_str(&format!("       [{} · {} bytes]\n", clean(mime), grouped(body.bytes().0)));
        }
        Part::Opaque { raw, .. } => {
            out.push_str("       [block of unknown shape]\n");
            body(raw, bodies, all, out);
        }
    }
}

fn body(body: &Body, bodies: &dyn Bodies, all: bool, out: &mut String) {
    let text = body.inline().or_else(|| bodies.text(body.handle()?)).unwrap_or("⟨erased⟩");
    let columns = width().saturating_sub(8);
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(if all { usize::MAX } else { LINES }) {
        let line = clean_lines(line);
        let line = if all { line } else { fit(&line, columns) };
        out.push_str(&indented(line.trim_end()));
    }
    if !all && lines.len() > LINES {
        let handle = body.handle().map(|handle| format!(" · read {handle}")).unwrap_or_default();
        out.push_str(&format!("       … {} more lines{handle}\n", grouped((lines.len() - LINES) as u64)));
    }
}

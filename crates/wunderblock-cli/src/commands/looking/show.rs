//! `show`: shows the messages and other events of a session.

use crate::args::{Global, Show};
use crate::commands::looking::sessions::UNFINISHED;
use crate::drawing::columns::fit;
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, clean_lines, width, without_colour};
use crate::output::console::{print, print_json, say, time};
use crate::output::exit::{Exit, FAILED, Failure, wrong};
use crate::resolve::lookup::lookup;
use crate::resolve::names::short;
use crate::resolve::typed::seqs;
use crate::showing::entry::role;
use std::process::ExitCode;
use wunderblock::Session;
use wunderblock_core::author::Author;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::message::{Body, MessageOrigin, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_settings::Settings;

/// Maximum number of lines of a text shown without `-v`.
const LINES: usize = 8;
/// Number of columns before a text, which contain its position.
const INDENT: usize = 7;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Show) -> Exit {
    let (engine, session, place) = lookup(global).reading_at(settings, &wanted.session.session).await?;
    let info = session.info().await?;
    let range = match (&wanted.at, place) {
        (Some(_), Some(_)) => return Err(wrong("give positions once: as SESSION#12-80, or with --at")),
        (Some(text), None) => Some(seqs(text)?),
        (None, place) => place,
    };
    if let Some((from, _)) = range.filter(|(from, _)| *from > info.head) {
        let text = format!("no position {from} in `{}`: it has positions 1 to {}", session.id(), info.head);
        return Err(Failure::Door(FAILED, text));
    }
    if info.unfinished {
        say(global, UNFINISHED);
    }
    // Programs get every event, and so does anyone who names positions.
    let records = wanted.all || global.json || range.is_some();
    let (from, to) = match range {
        Some(range) => range,
        None => (newest(&session, info.head, wanted.limit, records).await?, info.head),
    };
    if global.json {
        let mut out = Vec::new();
        session.export(from, to, &mut out).await?;
        for line in out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            print_json(&serde_json::from_slice(line)?)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let picture = ShowPicture { paint: Paint::stdout(), whole: global.verbose };
    let events = session.events(from, to, 100_000, Bytes(1 << 40)).await?;
    let bodies = engine.bodies(&events).await?;
    let mut out = String::new();
    for event in events.iter().filter(|event| records || is_message(event)) {
        picture.event(event, &bodies, &mut out);
    }
    if info.head > to || from > Seq(1) {
        let name = short(&session).await?;
        let how = if records { "" } else { ", --all records" };
        let line =
            format!("positions {from}–{} of {}; {name}#A-B shows others{how}", to.min(info.head), info.head);
        out.push_str(&format!("{}\n", picture.paint.dim(&line)));
    }
    print(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn is_message(event: &Event) -> bool {
    matches!(event.fact, Some(Fact::MessageAppended(_))) || event.fact.is_none()
}

/// Returns the position from which a session contains the given number of messages, or of events with `records`.
async fn newest(session: &Session, head: Seq, count: u64, records: bool) -> Result<Seq, Failure> {
    let (mut from, mut found) = (head.next(), 0);
    while found < count && from > Seq(1) {
        let to = from.prev();
        // In most transcripts, there are about as many records as messages.
        from = Seq(to.0.saturating_sub((count - found).saturating_mul(3)).max(1));
        let events = session.events(from, to, 100_000, Bytes(1 << 40)).await?;
        for event in events.iter().rev().filter(|event| records || is_message(event)) {
            found += 1;
            if found == count {
                return Ok(event.seq);
            }
        }
    }
    Ok(from.max(Seq(1)))
}

/// Formats events for people: the speaker and the time, then the text, cut to a few lines unless all of it is
/// requested.
struct ShowPicture {
    paint: Paint,
    whole: bool,
}

impl ShowPicture {
    fn event(&self, event: &Event, bodies: &dyn Bodies, out: &mut String) {
        let head = |who: &str| {
            format!(
                "{} {who} {}\n",
                self.paint.bold(&format!("{:>6}", format!("#{}", event.seq))),
                self.paint.dim(&time(event.at))
            )
        };
        match &event.fact {
            None => {
                let kind = event.erased.as_ref().map_or("", |erased| &erased.kind);
                out.push_str(&head(&clean(format!("{kind} (erased)").trim_start())));
            }
            Some(Fact::MessageAppended(said)) => {
                let message = &said.message;
                let origin = match &message.standing {
                    MessageOrigin::Said
                        if message.role == Role::User && message.author() != Author::Person =>
                    {
                        format!(" ({})", message.author().name())
                    }
                    MessageOrigin::Said => String::new(),
                    MessageOrigin::Injected(what) => format!(" (injected: {what})"),
                    MessageOrigin::Failed(what) => format!(" (failed: {what})"),
                    MessageOrigin::Aside(what) => format!(" (aside: {what})"),
                };
                let who = self.paint.role(message.role, role(message.role));
                out.push_str(&head(&format!("{who}{}", clean(&origin))));
                for part in &message.parts {
                    self.part(part, bodies, out);
                }
            }
            Some(fact) => {
                out.push_str(&head(fact.kind()));
                let text = clean(&facts(fact));
                let text = if self.whole { text } else { fit(&text, width() - INDENT) };
                out.push_str(&indented(&text));
            }
        }
    }

    fn part(&self, part: &Part, bodies: &dyn Bodies, out: &mut String) {
        match part {
            Part::Text { text, .. } => self.body(text, bodies, out),
            // Encrypted reasoning has no text.
            Part::Thinking { text, .. } if text.bytes() == Bytes::ZERO => {
                out.push_str(&indented(&self.paint.dim("[thinking, encrypted]")));
            }
            Part::Thinking { text, .. } => {
                out.push_str(&indented(&self.paint.dim("[thinking]")));
                self.body(text, bodies, out);
            }
            Part::ToolCall { name, input, gist, .. } => {
                let what = clean(gist.as_deref().or_else(|| input.inline()).unwrap_or_default());
                let line = format!("→ {} {what}", clean(name));
                out.push_str(&indented(&fit(&line, width().saturating_sub(INDENT + 1))));
            }
            Part::ToolResult { content, failed, .. } => {
                if *failed {
                    out.push_str(&indented(&self.paint.failed("← failed")));
                }
                for inner in content {
                    self.part(inner, bodies, out);
                }
            }
            Part::Media { mime, body, .. } => {
                out.push_str(&indented(&format!("[{} · {} bytes]", clean(mime), grouped(body.bytes().0))));
            }
            Part::Opaque { raw, .. } => {
                out.push_str(&indented(&format!(
                    "[block of unknown shape, {} bytes]",
                    grouped(raw.bytes().0)
                )));
                if self.whole {
                    self.body(raw, bodies, out);
                }
            }
        }
    }

    fn body(&self, body: &Body, bodies: &dyn Bodies, out: &mut String) {
        let text = body.inline().or_else(|| bodies.text(body.handle()?)).unwrap_or("⟨erased⟩");
        if self.whole {
            text.lines().for_each(|line| out.push_str(&indented(clean_lines(line).trim_end())));
            return;
        }
        let lines: Vec<&str> = squeezed(text).collect();
        let count = text.lines().count();
        for line in lines.iter().take(LINES) {
            let line = clean_lines(&without_colour(line));
            out.push_str(&indented(fit(&line, width().saturating_sub(INDENT + 1)).trim_end()));
        }
        if lines.len() > LINES {
            let handle = body.handle().map(|handle| format!(" · read {handle}")).unwrap_or_default();
            let line = format!("… {} lines in all{handle}", grouped(count as u64));
            out.push_str(&indented(&self.paint.dim(&line)));
        }
    }
}

/// Returns the lines of a text, with a single blank line where there are several, and without blank lines at the
/// beginning and the end.
fn squeezed(text: &str) -> impl Iterator<Item = &str> {
    let mut blank = true;
    text.trim_end().lines().filter(move |line| {
        let was_blank = std::mem::replace(&mut blank, line.trim().is_empty());
        !(blank && was_blank)
    })
}

/// Describes the fields of an event other than a message, in words.
fn facts(fact: &Fact) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(fact) else { return String::new() };
    let words = fields.iter().filter(|(name, _)| *name != "kind").map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{} {value}", name.replace('_', " "))
    });
    words.collect::<Vec<_>>().join(" · ")
}

fn indented(line: &str) -> String {
    if line.is_empty() { "\n".to_owned() } else { format!("{:INDENT$}{line}\n", "") }
}

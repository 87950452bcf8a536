//! `search`: searches the index, best matches first.

use crate::args::{Global, InArg, Search};
use crate::drawing::columns::{fit, wrap};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::output::console::{age, print, print_report, say, time};
use crate::output::exit::{Exit, FAILED, Failure};
use crate::resolve::filter::{searched, session_choice, tell_unmatched};
use crate::resolve::names::Names;
use crate::showing::entry::role;
use std::io::IsTerminal;
use std::process::ExitCode;
use wunderblock::store::StoreError;
use wunderblock::{Deadline, Engine, Error, SEARCH_TIME, SearchHit, SearchOptions, SearchOrder};
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::message::{Body, Part};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Search) -> Exit {
    let engine = settings.either().await?;
    let (session, sessions, events) = searched(&engine, global, &wanted.searched).await?;
    let order = if wanted.newest { SearchOrder::Newest } else { SearchOrder::Ranked };
    let within = InArg::within(wanted.searched.within);
    let tokens = wanted.tokens.map(Tokens);
    let limit = wanted.limit.unwrap_or(if tokens.is_some() { 200 } else { 10 });
    let deadline = Deadline::after(SEARCH_TIME);
    let options = SearchOptions {
        within,
        session,
        order,
        limit,
        tokens,
        sessions,
        events,
        deadline,
        ..SearchOptions::default()
    };
    let found = engine.recall().search(&wanted.query.join(" "), &options).await?;
    if found.scanned > 0 {
        say(global, &format!("{} events are not indexed yet and were scanned", found.scanned));
    }
    if let Some(cut) = &found.cut {
        say(global, &format!("{cut}; `wunderblock grep` searches all texts"));
    }
    let picture = SearchPicture {
        engine: &engine,
        names: match global.json {
            true => Names::default(),
            false => Names::all(&engine).await?,
        },
        paint: Paint::stdout(),
        verbose: global.verbose,
    };
    for hit in &found.hits {
        if global.json {
            print_report(hit)?;
        } else {
            print(&picture.hit(hit, wanted.context).await?)?;
        }
    }
    match found.hits.first() {
        Some(hit) if std::io::stdout().is_terminal() && !global.json => {
            let shown = match (&hit.document, hit.place) {
                (Some(document), _) => {
                    format!("`wunderblock read {}` shows the first in full", document.short)
                }
                (None, Some(place)) => {
                    format!("`wunderblock read {}` shows the line of the first", place.short())
                }
                (None, None) => {
                    let place = picture.names.place(&hit.session, hit.seq);
                    format!("`wunderblock show {place}` shows the first in full")
                }
            };
            say(global, &format!("\n{shown}"));
        }
        Some(_) => {}
        None if tell_unmatched(global, &engine, &session_choice(&wanted.searched.sessions)).await? => {}
        None => say(global, "nothing found; `wunderblock grep` finds exact text, secrets included"),
    }
    if found.scanned > 0 {
        // A person reads the answer while the index catches up. The answer is complete even if the index has to wait for
        // another writer.
        match engine.maintenance().catch_up_briefly().await {
            Err(Error::Store(StoreError::Locked)) => {}
            done => done?,
        }
    }
    Ok(if found.hits.is_empty() || found.cut.is_some() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

/// Maximum number of lines of an excerpt: a passage in a narrow terminal.
const LINES: usize = 7;

struct SearchPicture<'a> {
    engine: &'a Engine,
    names: Names,
    paint: Paint,
    /// Whether each hit says what counted for it.
    verbose: bool,
}

impl SearchPicture<'_> {
    /// Formats a hit: its place, its speaker and time, the text around the first match, and the neighbouring
    /// messages.
    async fn hit(&self, hit: &SearchHit, context: u64) -> Result<String, Failure> {
        let when = format!("{}  {}", time(hit.at), age(hit.at));
        let when = self.paint.dim(when.trim_end());
        let mut out = match &hit.document {
            Some(document) => {
                let heading = document.heading.as_ref().map(|heading| format!("  § {}", clean(heading)));
                let (name, heading) =
                    (self.paint.bold(&clean(&document.name())), heading.unwrap_or_default());
                format!("{name}  {}{heading}  {when}\n", document.short)
            }
            None => format!(
                "{}{}  {}  {when}\n",
                self.paint.bold(&self.names.place(&hit.session, hit.seq)),
                hit.place.map(|place| format!("  {}", place.short())).unwrap_or_default(),
                self.paint.role(hit.role, role(hit.role)),
            ),
        };
        let text = wrap(&fit(&clean(&hit.snippet), (width() - 4) * LINES), width(), 4);
        let text = self.marked(&text, &hit.matched);
        let [before, after] = match context {
            0 => [String::new(), String::new()],
            context => self.neighbours(hit, context).await?,
        };
        let why = if self.verbose { self.reasons(hit) } else { String::new() };
        out.extend([before, text, why, after]);
        Ok(out)
    }

    /// Returns what each arm gave to the score of a hit, most important first.
    fn reasons(&self, hit: &SearchHit) -> String {
        let mut arms: Vec<(&str, i64)> = hit.arms.iter().map(|(name, part)| (*name, *part)).collect();
        arms.sort_by_key(|(name, part)| (std::cmp::Reverse(part.abs()), *name));
        let arms: Vec<String> = arms.iter().map(|(name, part)| format!("{name} {part}")).collect();
        let words = if hit.matched.is_empty() {
            "no word of the question".to_owned()
        } else {
            hit.matched.join(", ")
        };
        let line = format!("{}: {}; contains {words}", hit.score, arms.join(" + "));
        self.paint.dim(&wrap(&clean(&line), width(), 4))
    }

    /// Returns a text with the words of the query highlighted.
    fn marked(&self, text: &str, words: &[Box<str>]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((at, len)) = first_of(rest, words) {
            let (before, found) = rest.split_at(at);
            let (found, after) = found.split_at(len);
            out.push_str(before);
            out.push_str(&self.paint.hit(found));
            rest = after;
        }
        out + rest
    }

    /// Returns the messages before and after a hit, one line each.
    async fn neighbours(&self, hit: &SearchHit, context: u64) -> Result<[String; 2], Failure> {
        let session = self.engine.session_by_id(hit.session.clone());
        // There may be records between the messages.
        let reach = context.saturating_mul(4);
        let (from, to) = (Seq(hit.seq.0.saturating_sub(reach).max(1)), Seq(hit.seq.0.saturating_add(reach)));
        let events = session.events(from, to, 10_000, Bytes(1 << 30)).await?;
        let messages = events.iter().filter(|event| matches!(event.fact, Some(Fact::MessageAppended(_))));
        let (before, after): (Vec<_>, Vec<_>) =
            messages.filter(|event| event.seq != hit.seq).partition(|event| event.seq < hit.seq);
        let count = usize::try_from(context).unwrap_or(usize::MAX);
        let bodies = self.engine.bodies(&events).await?;
        let line = |event: &Event| {
            let Some(Fact::MessageAppended(said)) = &event.fact else { return String::new() };
            let text = first_words(&said.message.parts, &bodies);
            let line = format!("{:>8} {}  {text}", format!("#{}", event.seq), role(said.message.role));
            format!("{}\n", self.paint.dim(&fit(&clean(&line), width())))
        };
        let before = before.iter().skip(before.len().saturating_sub(count));
        Ok([
            before.map(|event| line(event)).collect(),
            after.iter().take(count).map(|event| line(event)).collect(),
        ])
    }
}

/// Returns the first text, call or result of a message, on one line.
fn first_words(parts: &[Part], bodies: &dyn Bodies) -> String {
    let text = |body: &Body| {
        let text = body.inline().or_else(|| bodies.text(body.handle()?)).unwrap_or_default();
        text.split_whitespace().take(40).collect::<Vec<_>>().join(" ")
    };
    parts
        .iter()
        .find_map(|part| match part {
            Part::Text { text: body, .. } => Some(text(body)),
            Part::ToolCall { name, gist, .. } => {
                Some(format!("→ {name} {}", gist.as_deref().unwrap_or_default()))
            }
            Part::ToolResult { content, .. } => Some(first_words(content, bodies)),
            _ => None,
        })
        .unwrap_or_default()
}

/// Returns where one of the words first occurs in a text, at the beginning of a word and ignoring case, and the
/// length of the occurrence.
fn first_of(text: &str, words: &[Box<str>]) -> Option<(usize, usize)> {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_start = !before.is_alphanumeric() || !c.is_ascii();
        before = c;
        if !is_start {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let longest = words.iter().filter_map(|word| match_len(rest, word)).max();
        if let Some(len) = longest.filter(|len| *len > 0) {
            return Some((at, len));
        }
    }
    None
}

/// Minimum length in characters of a query word that also highlights longer words, because the index finds inflected
/// forms.
const STEM: usize = 4;

/// Returns the length in bytes of the word at the beginning of a text if the query word matches that word, or the
/// beginning of that word, in any case.
fn match_len(text: &str, word: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    for wanted in word.chars() {
        let (_, c) = chars.next()?;
        if !c.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    let end = chars.next().map_or(text.len(), |(at, _)| at);
    let goes_on = text.get(end..)?.starts_with(|c: char| c.is_ascii_alphanumeric());
    (!goes_on || word.chars().count() >= STEM || !word.is_ascii()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_at_the_beginning_of_words_in_any_case() {
        let words: Vec<Box<str>> = vec!["fix".into(), "fixture".into(), "数据".into()];
        assert_eq!(first_of("a Fixture", &words), Some((2, 7)));
        assert_eq!(first_of("prefix fix", &words), Some((7, 3)));
        assert_eq!(first_of("fixing fixtures", &words), Some((7, 7)), "a short word matches only itself");
        assert_eq!(first_of("在数据库", &words), Some((3, 6)));
        assert_eq!(first_of("none", &words), None);
    }
}

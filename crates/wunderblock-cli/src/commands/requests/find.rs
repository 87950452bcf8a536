//! `explain --find`: shows whether and how a request contains a text or a handle.

use crate::args::Global;
use crate::drawing::columns::{plural, wrap};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::output::console::{answer, say};
use crate::output::exit::{Exit, FAILED};
use crate::resolve::names::{placed, short};
use crate::showing::entry::{Excerpt, entry_head, joined_positions, spelled};
use std::process::ExitCode;
use wunderblock::report::FoundReport;
use wunderblock::{Advice, Built, ContextOptions, Deadline, EntryDescription, Found, Placement, Session};
use wunderblock_core::budget::Treatment;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};

pub(in crate::commands) async fn run(
    global: &Global,
    session: &Session,
    options: &ContextOptions,
    built: &Built,
    sought: &str,
) -> Exit {
    let found = Found::of(session, options, &built.draft, sought, &Deadline::default()).await?;
    if found.places.is_empty() {
        say(global, "not found in this session or its sources");
        return Ok(ExitCode::from(FAILED));
    }
    let sought = found.spelling.as_deref().unwrap_or(sought);
    let words = FindPicture { session: short(session).await?, sought, paint: Paint::stdout() };
    answer(global, &FoundReport::new(sought, &found), || words.picture(&found, global.verbose))
}

struct FindPicture<'a> {
    session: String,
    sought: &'a str,
    paint: Paint,
}

impl FindPicture<'_> {
    fn picture(&self, found: &Found, all: bool) -> String {
        let spelled = spelled(found.spelling.as_deref());
        let least = if found.more { " or more" } else { "" };
        let count = plural(found.places.len() as u64, "place", "places");
        let mut out = format!(
            "{}\n",
            self.paint.bold(&format!("{count}{least}{spelled}, {} in the request", found.in_request()))
        );
        for (index, entry) in &found.best {
            if let Some(place) = found.places.get(*index) {
                out.push_str(&self.place(place, entry.as_ref()));
            }
        }
        let is_best = |index: usize| found.best.iter().any(|(best, _)| *best == index);
        let rest: Vec<&Placement> =
            found.places.iter().enumerate().filter(|(at, _)| !is_best(*at)).map(|(_, place)| place).collect();
        if all {
            rest.iter().for_each(|place| out.push_str(&self.place(place, None)));
        } else if !rest.is_empty() {
            let seqs: Vec<Seq> = rest.iter().filter_map(|place| place.seq).collect();
            let line = format!("\nalso at {}; -v lists all", joined_positions(&seqs));
            out.push_str(&wrap(&line, width(), 0));
        }
        out
    }

    /// Describes one place: its position and state, its speaker, an excerpt, and advice.
    fn place(&self, place: &Placement, entry: Option<&EntryDescription>) -> String {
        let name = match place.seq {
            Some(seq) => format!("#{seq}"),
            None => clean(&place.what),
        };
        let who = match entry {
            Some(entry) => format!(" · {}", entry_head(entry)),
            None if place.seq.is_some() && !place.what.is_empty() => format!(" · {}", clean(&place.what)),
            None => String::new(),
        };
        let head = format!("{name} {}{who}", self.state(place));
        let mut out = format!("\n{}", wrap(&head, width(), 0));
        let excerpt = Excerpt { sought: self.sought, paint: self.paint };
        out.push_str(&format!("    {}\n", excerpt.of(place.line.trim(), width().saturating_sub(4))));
        if let Some(advice) = &place.advice {
            let (words, command) = self.advice(advice);
            out.push_str(&wrap(&format!("→ {words}"), width(), 4));
            if let Some(command) = command {
                out.push_str(&format!("      wunderblock {command}\n"));
            }
        }
        out
    }

    /// Describes whether and how the request shows a place.
    fn state(&self, place: &Placement) -> String {
        let section = place.section.map(|section| format!(" ({})", section.name())).unwrap_or_default();
        match place.treatment {
            Treatment::LeftOut => format!("not in the request: {}", clean(&place.why)),
            Treatment::Stub => format!("in the request as a stub{section}: {}", clean(&place.why)),
            _ if !place.shown => {
                format!("in the request, but not word for word{section}: {}", clean(&place.why))
            }
            _ => format!("in the request{section}: {}", clean(&place.why)),
        }
    }

    /// Returns advice in words, and the command that carries it out.
    fn advice(&self, advice: &Advice) -> (String, Option<String>) {
        let session = &self.session;
        let room = |needs: &Tokens, free: &Tokens| {
            format!("it needs about {} tokens, and {} are free", grouped(needs.0), grouped(free.0))
        };
        match advice {
            Advice::Pin { seq, needs, free } => {
                (format!("a pin brings it back: {}", room(needs, free)), Some(format!("pin {session}#{seq}")))
            }
            Advice::Read { address, lacks: Some((needs, free)) } => (
                format!("{}; to read it:", room(needs, free)),
                Some(format!("read {}", placed(session, address))),
            ),
            Advice::Read { address, lacks: None } => {
                ("to read it:".to_owned(), Some(format!("read {}", placed(session, address))))
            }
            Advice::Unhide(seq) => ("to show it again:".to_owned(), Some(format!("unhide {session}#{seq}"))),
            Advice::Source(words) => (clean(words), None),
        }
    }
}

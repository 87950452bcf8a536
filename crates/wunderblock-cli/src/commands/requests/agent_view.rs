//! `explain --agent-view`: shows what the agent itself had in view, according to the compactions it recorded.

use crate::args::Global;
use crate::drawing::columns::{fit, plural, wrap};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::output::console::{answer, time};
use crate::output::exit::{Exit, FAILED};
use crate::resolve::names::{placed, short};
use crate::showing::entry::{Excerpt, entry_head, spelled};
use std::process::ExitCode;
use wunderblock::report::AgentViewReport;
use wunderblock::{AgentBoundary, AgentFound, AgentPlace, AgentView, Session};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;

pub(in crate::commands) async fn run(
    global: &Global,
    session: &Session,
    at: Option<Seq>,
    sought: Option<&str>,
) -> Exit {
    let view = AgentView::at(session, at).await?;
    let found = match sought {
        Some(text) => Some(view.find(session, text).await?),
        None => None,
    };
    let (id, name) = (session.id().as_str(), short(session).await?);
    let spelling = found.as_ref().and_then(|found| found.spelling.as_deref());
    let sought = spelling.or(sought).unwrap_or_default();
    answer(global, &AgentViewReport::new(id, &view, found.as_ref()), || {
        let words =
            ViewPicture { session: &name, view: &view, sought, paint: Paint::stdout(), all: global.verbose };
        words.picture(found.as_ref())
    })?;
    let is_nowhere = found.is_some_and(|found| found.count == 0);
    Ok(if is_nowhere { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

struct ViewPicture<'a> {
    session: &'a str,
    view: &'a AgentView,
    sought: &'a str,
    paint: Paint,
    all: bool,
}

impl ViewPicture<'_> {
    fn picture(&self, found: Option<&AgentFound>) -> String {
        let view = self.view;
        let agent = view.boundaries.last().map_or("the agent", |boundary| agent_name(&boundary.agent));
        let head = format!("what {} had in view at #{} of {}", clean(agent), view.at, self.session);
        let mut out = wrap(&self.paint.bold(&head), width(), 0);
        if view.boundaries.is_empty() {
            let line = format!(
                "no compaction is recorded up to here: all {} were in view, as far as the transcript shows",
                plural(view.messages, "message", "messages"),
            );
            out.push_str(&wrap(&line, width(), 2));
        }
        for boundary in &view.boundaries {
            out.push_str(&self.boundary(boundary));
        }
        if let Some(newest) = view.boundaries.last() {
            out.push_str(&wrap(&self.in_view(newest), width(), 2));
            if found.is_none() {
                out.push_str(&self.summary(newest));
            }
        }
        if let Some(found) = found {
            out.push_str(&self.found(found));
        }
        out
    }

    fn boundary(&self, boundary: &AgentBoundary) -> String {
        let trigger = boundary.trigger.as_deref().map(|why| format!(" ({})", clean(why))).unwrap_or_default();
        let tokens = boundary.tokens_before.map(|tokens| format!(", {} tokens", grouped(tokens.0)));
        let line = format!(
            "#{} {}  compacted{trigger}: {} of #{}–#{}{} became a summary",
            boundary.seq,
            time(boundary.at),
            plural(boundary.messages, "message", "messages"),
            boundary.from,
            boundary.to,
            tokens.unwrap_or_default(),
        );
        wrap(&line, width(), 2)
    }

    /// Returns whether the text of the summary in view is known.
    fn has_summary(&self) -> bool {
        self.view.boundaries.last().is_some_and(|newest| newest.summary.is_some())
    }

    fn in_view(&self, newest: &AgentBoundary) -> String {
        let messages = plural(self.view.messages, "message", "messages");
        let kept = match self.view.kept.len() as u64 {
            0 => String::new(),
            count => format!(", about {} of the user that it keeps", plural(count, "message", "messages")),
        };
        format!(
            "in view: the summary of #{}{kept}, and {messages} from #{} on, word for word",
            newest.seq, self.view.from
        )
    }

    /// Shows the start of the summary that was in view.
    fn summary(&self, newest: &AgentBoundary) -> String {
        let Some(text) = &newest.summary else {
            return "  the transcript does not have its text\n".to_owned();
        };
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let shown = if self.all { lines.len() } else { LINES };
        let mut out = format!("\n{}\n", self.paint.bold("what its summary says"));
        for line in lines.iter().take(shown) {
            out.push_str(&format!("  {}\n", fit(&clean(line), width() - 2)));
        }
        if lines.len() > shown {
            let more = plural((lines.len() - shown) as u64, "line", "lines");
            out.push_str(&format!("  {}\n", self.paint.dim(&format!("… {more} more; -v shows them"))));
        }
        out
    }

    fn found(&self, found: &AgentFound) -> String {
        let count = plural(found.count as u64, "place", "places");
        let head = if found.count == 0 {
            "not found up to here".to_owned()
        } else {
            format!("{count}{}, {} in its view", spelled(found.spelling.as_deref()), found.in_view)
        };
        let mut out = format!("\n{}\n", self.paint.bold(&head));
        found.best.iter().for_each(|place| out.push_str(&self.place(place)));
        if found.count > found.best.len() {
            let more = format!(
                "\n{} more; `wunderblock grep` lists every line",
                grouped((found.count - found.best.len()) as u64)
            );
            out.push_str(&format!("{more}\n"));
        }
        out
    }

    fn place(&self, place: &AgentPlace) -> String {
        let entry = &place.entry;
        let state = match place.compacted_at {
            None => "in view".to_owned(),
            Some(at) => {
                let when = self.view.boundaries.iter().find(|boundary| boundary.seq == at);
                let when = when.map(|boundary| format!(" ({})", time(boundary.at))).unwrap_or_default();
                format!("compacted away at #{at}{when}")
            }
        };
        let mut out =
            format!("\n{}", wrap(&format!("#{} {state} · {}", entry.seq, entry_head(entry)), width(), 0));
        let excerpt = Excerpt { sought: self.sought, paint: self.paint };
        out.push_str(&format!("    {}\n", excerpt.of(place.line.trim(), width().saturating_sub(4))));
        if place.compacted_at.is_some() {
            match &place.said_instead {
                Some(line) => out.push_str(&wrap(
                    &format!("nearest in its summary: {}", clean(line.trim())),
                    width(),
                    4,
                )),
                None if self.has_summary() => out.push_str("    its summary has nothing like it\n"),
                None => out
                    .push_str("    not known whether its summary says it: the transcript does not have it\n"),
            }
            out.push_str(&format!(
                "    → to read it:\n      wunderblock read {}\n",
                placed(self.session, &entry.address)
            ));
        }
        out
    }
}

/// Returns the human-readable name of an agent, given the name of its format.
fn agent_name(format: &str) -> &str {
    match format {
        "claude-code" => "Claude Code",
        "codex" => "Codex",
        "openclaw" => "OpenClaw",
        other => other,
    }
}

/// Maximum number of summary lines shown without `-v`.
const LINES: usize = 12;

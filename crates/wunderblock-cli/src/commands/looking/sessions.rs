//! `sessions`: lists the sessions of the ledger.

use crate::args::{Global, Sessions};
use crate::drawing::columns::{columns, fit, pad, size};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::output::console::{age, print, print_report, say, time};
use crate::output::exit::{Exit, Failure};
use crate::resolve::conversation::beginning;
use crate::resolve::filter::{session_choice, session_filter, tell_unmatched};
use crate::resolve::lookup::lookup;
use crate::resolve::names::Names;
use std::process::ExitCode;
use wunderblock::machine::resume;
use wunderblock::report::SessionReport;
use wunderblock::store::{DerivedTable, StreamInfo};
use wunderblock::{Engine, originals};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Bytes;
use wunderblock_settings::Settings;
use wunderblock_settings::filter::SessionChoice;

/// Number of columns of the time of the latest message, and of the number of messages.
const TIME: usize = 8;
const COUNT: usize = 8;
/// Maximum number of columns of an agent's and of a project's name.
const AGENT: usize = 11;
const PROJECT: usize = 14;
/// Minimum number of columns for a session's title. With fewer columns, the projects are left out, then the titles.
const TITLE: usize = 20;

/// Note about a session whose import did not reach the end of its file.
pub(in crate::commands) const UNFINISHED: &str =
    "import unfinished: only the first part is stored; `import` of its file continues it";

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Sessions) -> Exit {
    let engine = settings.read_only().await?;
    let session = match &wanted.session {
        Some(text) => Some(lookup(global).known(&engine, text).await?.id().clone()),
        None => None,
    };
    let choice = SessionChoice { prefix: wanted.prefix.clone(), session, ..session_choice(&wanted.filter) };
    let mut streams = engine.listed(session_filter(&choice)?, wanted.limit.saturating_add(1)).await?;
    let more = streams.len() as u64 > wanted.limit;
    streams.truncate(usize::try_from(wanted.limit).unwrap_or(usize::MAX));
    if global.json {
        for info in streams {
            let session = engine.session_by_id(info.id.clone());
            let (sources, resume) = (originals(&session).await?, resume(&session).await?);
            print_report(&SessionReport::new(info, sources, resume))?;
        }
    } else if streams.is_empty() {
        if !tell_unmatched(global, &engine, &choice).await? {
            say(global, "no sessions; `wunderblock import` adds those of your agents");
        }
    } else {
        print(&table(&engine, &streams, global.verbose).await?)?;
    }
    if more {
        say(global, &format!("the newest {} are shown; -n shows more", grouped(wanted.limit)));
    }
    Ok(ExitCode::SUCCESS)
}

/// The cells of a session, besides its title.
struct SessionCells {
    id: String,
    agent: String,
    project: String,
}

impl SessionCells {
    fn of(info: &StreamInfo, names: &Names) -> Self {
        let agent = fit(&clean(info.scope.agent.as_deref().unwrap_or("—")), AGENT + 1);
        let project = info.scope.project.as_deref().unwrap_or("—");
        // Of a path, the last name says most.
        let project = project.trim_end_matches('/').rsplit('/').next().unwrap_or(project);
        Self { id: names.short(&info.id), agent, project: fit(&clean(project), PROJECT + 1) }
    }
}

async fn table(engine: &Engine, streams: &[StreamInfo], all: bool) -> Result<String, Failure> {
    let paint = Paint::stdout();
    let names = Names::all(engine).await?;
    let rows: Vec<SessionCells> = streams.iter().map(|info| SessionCells::of(info, &names)).collect();
    let wide = |head: &str, cell: fn(&SessionCells) -> &str| {
        rows.iter().map(|row| columns(cell(row))).max().unwrap_or_default().max(head.len())
    };
    let ids = wide("session", |row| &row.id);
    let (agents, projects) = (wide("agent", |row| &row.agent), wide("project", |row| &row.project));
    let before = ids + 2 + TIME + 2 + agents + 2 + COUNT + 2;
    let has_project = width() >= before + projects + 2 + TITLE;
    let room = width().saturating_sub(before + if has_project { projects + 2 } else { 0 });
    let has_title = room >= TITLE;
    let line = |[id, last, agent, project, count, title]: [&str; 6]| {
        let project = if has_project { format!("{}  ", pad(project, projects)) } else { String::new() };
        let last = format!("{}{last}", " ".repeat(TIME.saturating_sub(columns(last))));
        let line =
            format!("{}  {last}  {}  {project}{count:>COUNT$}  {title}", pad(id, ids), pad(agent, agents));
        line.trim_end().to_owned()
    };
    let title = if has_title { "title" } else { "" };
    let head = line(["session", "last", "agent", "project", "messages", title]);
    let mut out = format!("{}\n", paint.dim(&head));
    for (info, row) in streams.iter().zip(&rows) {
        let title = if has_title { title_of(engine, info).await? } else { String::new() };
        let (last, count) = (age(info.said_at), grouped(info.messages));
        let text = line([&row.id, &last, &row.agent, &row.project, &count, &fit(&title, room)]);
        // The id is what people type, so it stands out.
        let rest = text.strip_prefix(row.id.as_str()).unwrap_or_default();
        out.push_str(&format!("{}{rest}\n", paint.bold(&row.id)));
        if info.unfinished {
            out.push_str(&format!("  {}\n", paint.dim(UNFINISHED)));
        }
        if all {
            details(engine, info, paint, &mut out).await?;
        }
    }
    Ok(out)
}

/// Returns the title that was given, or the user's first words, and the tags.
async fn title_of(engine: &Engine, info: &StreamInfo) -> Result<String, Failure> {
    let mut title = match &info.title {
        Some(title) => clean(title),
        None => beginning(engine, info).await?.unwrap_or_default(),
    };
    if !info.tags.is_empty() {
        let tags: Vec<String> = info.tags.iter().map(|tag| format!("[{}]", clean(tag))).collect();
        title = format!("{} {title}", tags.join(" "));
    }
    Ok(title)
}

/// Adds the whole id, times and sizes, where and with which model the agent worked, how to continue, and the files from
/// which a session was read.
async fn details(engine: &Engine, info: &StreamInfo, paint: Paint, out: &mut String) -> Result<(), Failure> {
    let mut line = |text: &str| out.push_str(&format!("  {}\n", paint.dim(text)));
    let tokens = (info.reach(DerivedTable::Counts) == info.head)
        .then(|| format!(", {} tokens", grouped(info.tokens.0)));
    line(&format!("{}, {} of text{}", clean(info.id.as_str()), size(info.text), tokens.unwrap_or_default()));
    let mut facts = vec![format!("{} – {}", time(info.opened_at), time(info.said_at))];
    let named = [
        ("model", info.model.as_deref()),
        ("branch", info.branch.as_deref()),
        ("project", info.scope.project.as_deref()),
        ("in", info.scope.folder.as_deref().filter(|folder| info.scope.project.as_deref() != Some(folder))),
        ("user", info.scope.user.as_deref()),
    ];
    facts.extend(named.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", clean(value?)))));
    line(&facts.join(" · "));
    let session = engine.session_by_id(info.id.clone());
    if let Some(resume) = resume(&session).await? {
        let folder = resume.folder.map(|folder| format!("cd {} && ", quoted(&folder))).unwrap_or_default();
        line(&format!("resume: {}", clean(&format!("{folder}{}", resume.command))));
    }
    for (number, source) in originals(&session).await?.iter().enumerate() {
        let (revision, key) = (&source.revision, clean(&source.key));
        let length = size(Bytes(revision.len));
        line(&format!("source {}: {key}, {length}, {}", number + 1, revision.handle));
    }
    Ok(())
}

/// Quotes a word for a shell, if that is needed.
pub(in crate::commands) fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

//! `context` and `explain`: the next request, and the account of it.

use crate::args::{BuildArgs, ContextArgs, Explain, Global};
use crate::columns::{fit, wrap};
use crate::console::{answer, deliver, print, say};
use crate::exit::{Exit, Failure, wrong};
use crate::lookup::{reading, session};
use crate::paint::Paint;
use crate::policy::compactor;
use crate::progress::catch_up;
use crate::report::picture;
use crate::settings::Settings;
use crate::sources::sources;
use crate::terminal::{clean, clean_json, width};
use crate::typed::dialect;
use std::path::Path;
use std::process::ExitCode;
use wunderblock::policy::Policies;
use wunderblock::report::{PlacementReport, RequestReport};
use wunderblock::{Built, ContextOptions, Error, Placement, Session};
use wunderblock_core::id::LaneId;
use wunderblock_core::section::Section;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Seq, Tokens};

pub(crate) async fn context(global: &Global, settings: &Settings, wanted: ContextArgs) -> Exit {
    let to_stdout = wanted.out.as_deref() == Some(Path::new("-"));
    let options =
        ContextOptions { prompt: prompt(wanted.prompt)?, ..options(settings, &wanted.build, wanted.at)? };
    let engine = settings.write().await?;
    let session = session(&engine, global, &wanted.session.session).await?;
    if wanted.build.query.is_some() {
        catch_up(&engine, global).await?;
    }
    let built = if wanted.at.is_some() {
        session.explain(&options).await?
    } else {
        session.context(&options).await?
    };
    let report = report(global, &session, &built, to_stdout)?;
    deliver(wanted.out.as_deref(), &built.draft.body, &report)?;
    if let Some(path) = wanted.out.filter(|_| !to_stdout && !global.json) {
        print(&format!("request in {}\n", clean(&path.to_string_lossy())))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn report(global: &Global, session: &Session, built: &Built, to_stderr: bool) -> Result<String, Failure> {
    if global.json {
        return Ok(format!(
            "{}\n",
            clean_json(&serde_json::to_string(&RequestReport::new(session.id().as_str(), built))?)
        ));
    }
    let paint = if to_stderr { Paint::stderr() } else { Paint::stdout() };
    Ok(picture(session.id().as_str(), built, paint, global.verbose))
}

pub(crate) async fn explain(global: &Global, settings: &Settings, wanted: Explain) -> Exit {
    let mut options =
        ContextOptions { prompt: prompt(wanted.prompt)?, ..options(settings, &wanted.build, wanted.at)? };
    let (_, session) = reading(settings, global, &wanted.session.session).await?;
    let unnamed = options.lane.is_none() && options.model.is_none() && options.window.is_none();
    if unnamed
        && wanted.build.policy.policy.is_none()
        && let Some(last) = session.lane(None).built().await?
    {
        let preset = last.policy.as_deref().and_then(|name| Policies::embedded().preset(name));
        if let Some((compactor, policy)) = options.compactor.as_mut().zip(preset) {
            compactor.policy = policy;
        }
        options = last.resume(options);
    }
    let built = session.explain(&options).await?;
    match &wanted.find {
        Some(text) => find(global, &session, (&options, &built), text).await,
        None => {
            print(&report(global, &session, &built, false)?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// What became of a text or a handle: where it is and as what, or why it is not there and what would have to give.
async fn find(
    global: &Global,
    session: &Session,
    (options, built): (&ContextOptions, &Built),
    text: &str,
) -> Exit {
    let placements = session.locate(options, &built.draft, text).await?;
    for placement in &placements {
        answer(global, &PlacementReport::new(placement), || placement_lines(placement))?;
    }
    if placements.is_empty() {
        say(global, "it is nowhere in the session, and in none of its sources");
    }
    Ok(if placements.is_empty() { ExitCode::from(crate::exit::FAILED) } else { ExitCode::SUCCESS })
}

/// One placement for people: where, in which form and why, then the line, then what would have to give.
fn placement_lines(placement: &Placement) -> String {
    let place = placement.seq.map(|seq| seq.to_string()).unwrap_or_default();
    let section = placement.section.map_or("", Section::name);
    let tokens =
        placement.tokens.map(|tokens| format!(" · {} tokens", grouped(tokens.0))).unwrap_or_default();
    let read = placement.handle.map(|handle| format!(" · read {handle}")).unwrap_or_default();
    let head = format!(
        "{place:>6}  {:<9} {section:<13} {}{tokens}{read}",
        placement.treatment.label(),
        clean(&placement.why)
    );
    let what = fit(&clean(&placement.what), width() - 8);
    let mut out = format!("{}\n", head.trim_end());
    if !what.trim().is_empty() && placement.seq.is_none() {
        out.push_str(&format!("        {what}\n"));
    }
    out.push_str(&format!("        {}\n", fit(clean(placement.line.trim()).as_str(), width() - 8)));
    if let Some(gives) = &placement.gives {
        out.push_str(&wrap(&format!("→ {}", clean(gives)), width(), 8));
    }
    out
}

/// The lane that is named, if one is.
pub(super) fn lane(name: Option<&str>) -> Result<Option<LaneId>, Failure> {
    Ok(name.map(LaneId::new).transpose().map_err(Error::from)?)
}

/// The user's next turn.
fn prompt(text: Option<String>) -> Result<Option<String>, Failure> {
    match text {
        Some(text) if text.trim().is_empty() => {
            Err(wrong("--prompt is empty; say what the user says, or leave it out"))
        }
        text => Ok(text),
    }
}

pub(super) fn options(
    settings: &Settings,
    build: &BuildArgs,
    at: Option<u64>,
) -> Result<ContextOptions, Failure> {
    let (defaults, default) = (&settings.file.context, ContextOptions::default());
    let dialect = build.to.map(dialect).transpose()?;
    if build.reader.model.as_deref().is_some_and(|model| model.trim().is_empty()) {
        return Err(wrong("--model is empty; leave it out to take the transcript's"));
    }
    let sources = sources(
        &build.sources,
        (&settings.file.sources, &settings.file.instructions),
        (dialect, at.is_some()),
    )?;
    Ok(ContextOptions {
        lane: lane(build.lane.as_deref())?,
        model: build.reader.model.clone().or_else(|| defaults.model.clone()),
        window: build.reader.window.or(defaults.window).map(Tokens),
        reserve: build.reader.reserve.or(defaults.reserve).map(Tokens),
        dialect,
        query: build.query.clone(),
        prompt: None,
        at: at.map(Seq),
        sources,
        shares: settings.file.budget.clone(),
        warn: defaults.warn.clone().unwrap_or(default.warn),
        compactor: Some(compactor(settings, &build.policy)?),
    })
}

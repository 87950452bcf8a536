//! `agents context`: the first request of a delegate, with its report and what the other modes would cost.

use super::resolve::{latest_model, permitted};
use crate::args::{BriefArgs, BuildArgs, ContextDelegate, Global, PolicyArgs};
use crate::drawing::columns::{columns, fit};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, clean_json, width};
use crate::output::console::{deliver, say};
use crate::output::exit::{Exit, Failure, wrong};
use crate::output::output_file::OutputFile;
use crate::resolve::definitions::{find, load};
use crate::resolve::lookup::lookup;
use crate::resolve::names::short;
use crate::resolve::typed::{dialect, seqs};
use crate::showing::outside::dollars;
use crate::showing::report::picture;
use crate::showing::table::{table, tokens};
use serde_json::{Value, json};
use std::process::ExitCode;
use wunderblock::handoff::{DelegateContext, Excerpt, HandedEntry, Handoff};
use wunderblock::report::RequestReport;
use wunderblock::{ContextOptions, DelegateCall, LaneBuilt, Session};
use wunderblock_core::delegate::brief::{Bounds, Brief};
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_settings::input::read;
use wunderblock_settings::{RequestChoice, Settings, context_options, delegate_model};
use wunderblock_wire::transcript::rfc3339;

/// Maximum number of entries that are listed, the latest ones.
const LISTED: usize = 12;
/// Minimum number of columns for an entry.
const WHAT: usize = 20;

pub(super) async fn run(global: &Global, settings: &Settings, wanted: &ContextDelegate) -> Exit {
    let found = load(&wanted.definitions)?;
    let engine = settings.read_only().await?;
    let session = lookup(global).known(&engine, &wanted.session).await?;
    let out = OutputFile::create(settings, &engine, wanted.out.as_deref()).await?;
    let defaults = ContextOptions {
        compactor: context_options(settings, &build(wanted).choice())?.compactor,
        ..ContextOptions::default()
    };
    let parent = LaneBuilt::continued(&session, defaults).await?;
    let model = match &parent.model {
        Some(model) => model.clone(),
        None => latest_model(&session).await?,
    };
    let rules = settings.delegate_rules()?;
    let environment = delegate_model();
    let definition = match &wanted.kind {
        Some(kind) => Some(find(&found, kind)?.2),
        None => None,
    };
    if let Some(definition) = definition {
        permitted(definition, &rules)?;
    }
    let call = DelegateCall {
        parent: &model,
        model: wanted.reader.model.as_deref(),
        environment: environment.as_deref(),
        plan: wanted.plan,
        ..DelegateCall::default()
    };
    let route = engine.agents().route(&call, definition, &rules);
    for notice in &route.notices {
        say(global, &format!("notice: {}", clean(&notice.to_string())));
    }
    let brief = brief(&wanted.brief)?;
    let own = RequestChoice { dialect: wanted.to.map(dialect), ..build(wanted).choice() };
    let handoff = Handoff {
        definition,
        model: &route.model,
        brief: &brief,
        bounds: Bounds::default(),
        mode: wanted.mode.mode(),
        excerpt: excerpt(wanted)?,
        parent: ContextOptions { model: Some(model.clone()), ..parent },
        own: context_options(settings, &own)?,
    };
    let context = engine.agents().context(&session, &handoff).await?;
    let report = if global.json {
        format!("{}\n", clean_json(&serde_json::to_string(&report(&session, wanted, &context)?)?))
    } else {
        let to_stdout = out.as_ref().is_some_and(OutputFile::is_stdout);
        let paint = if to_stdout { Paint::stderr() } else { Paint::stdout() };
        let parent = short(&session).await?;
        let kind = clean(wanted.kind.as_deref().unwrap_or("a copy"));
        let head = paint.bold(&format!("{kind} · {} of {parent}", context.mode.name()));
        let request = picture(&parent, None, &context.built, paint, global.verbose);
        format!("{head}\n{}\n{request}", described(&context, paint, global.verbose))
    };
    deliver(out, &context.built.draft.body, &report)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the arguments of the delegate's request.
fn build(wanted: &ContextDelegate) -> BuildArgs {
    BuildArgs {
        reader: wanted.reader.clone(),
        harness: false,
        query: None,
        recall: false,
        lane: None,
        policy: PolicyArgs::default(),
        sources: wanted.sources.clone(),
    }
}

fn brief(wanted: &BriefArgs) -> Result<Brief, Failure> {
    let deadline = match &wanted.until {
        None => None,
        Some(text) => Some(rfc3339(text).ok_or_else(|| {
            wrong(format!("invalid time `{}`: expected a time such as 2031-05-04T18:00:00Z", clean(text)))
        })?),
    };
    let texts = |list: &[String]| list.iter().map(|text| text.as_str().into()).collect();
    Ok(Brief {
        goal: wanted.goal.as_str().into(),
        constraints: texts(&wanted.constraint),
        known: texts(&wanted.known),
        expected: wanted.expect.as_deref().map(Into::into),
        schema: wanted.schema.as_deref().map(read).transpose()?.map(Into::into),
        bounds: Bounds { tokens: wanted.budget.map(Tokens), levels: wanted.levels, deadline },
    })
}

fn excerpt(wanted: &ContextDelegate) -> Result<Excerpt, Failure> {
    let positions = wanted.at.iter().map(|text| seqs(text)).collect::<Result<_, _>>()?;
    Ok(Excerpt { positions, paths: wanted.path.clone(), newest: wanted.newest })
}

/// Returns the mode with its reasons, the costs, and the entries that are handed over.
fn described(context: &DelegateContext, paint: Paint, all: bool) -> String {
    let mut out = String::new();
    if !context.obstacles.is_empty() {
        let why: Vec<String> = context.obstacles.iter().map(|why| clean(&why.to_string())).collect();
        out.push_str(&format!("not a fork: {}\n", why.join("; ")));
    }
    for narrowed in &context.narrowed {
        out.push_str(&format!("narrowed: {narrowed}\n"));
    }
    if let Some((same, all)) = context.shared {
        out.push_str(&format!("begins with {same} of the {all} bytes of the parent's request\n"));
    }
    if !context.unmatched.is_empty() {
        let names: Vec<String> = context.unmatched.iter().map(|rule| clean(&rule.to_string())).collect();
        out.push_str(&format!("names tools that are not there: {}\n", names.join(", ")));
    }
    let rows: Vec<(String, [String; 3])> = context
        .prices
        .iter()
        .map(|price| {
            let cost = price.cost.map_or_else(|| "unknown".to_owned(), dollars);
            (price.mode.name().to_owned(), [tokens(price.tokens), tokens(price.cached), cost])
        })
        .collect();
    out.push_str(&format!("\n{}", table("mode", ["tokens", "from cache", "cost"], &rows, paint)));
    out.push_str("the answer is extra; a fork finds its beginning in the cache if the parent's last request is still there\n");
    if !context.handed.is_empty() {
        out.push_str("\nhanded over\n");
        let skipped = if all { 0 } else { context.handed.len().saturating_sub(LISTED) };
        if skipped > 0 {
            out.push_str(&format!("  {skipped} earlier ones; -v shows all\n"));
        }
        context.handed.iter().skip(skipped).for_each(|one| out.push_str(&line(one)));
    }
    if !context.left_out.is_empty() {
        let total: Tokens = context.left_out.iter().map(|one| one.tokens).sum();
        let count = context.left_out.len();
        let places: Vec<String> =
            context.left_out.iter().take(8).map(|one| format!("#{}", one.seq)).collect();
        let more = if count > 8 { " …" } else { "" };
        out.push_str(&format!(
            "no room for {count} more, {} tokens: {}{more}\n",
            tokens(total),
            places.join(" ")
        ));
    }
    out
}

fn line(one: &HandedEntry) -> String {
    let place = if one.seq == Seq::START { String::new() } else { format!("#{}", one.seq) };
    let (lead, why) = (format!("{place:>8}  {:>7}  ", tokens(one.tokens)), format!(" ({})", clean(&one.why)));
    let room = width().saturating_sub(columns(&lead) + columns(&why)).max(WHAT);
    let what = clean(&one.what);
    let what = if columns(&what) > room { fit(&what, room) } else { what };
    format!("{lead}{what}{why}\n")
}

fn report(session: &Session, wanted: &ContextDelegate, context: &DelegateContext) -> Result<Value, Failure> {
    let entries = |list: &[HandedEntry]| -> Vec<Value> {
        list.iter()
            .map(|one| json!({ "seq": one.seq, "what": one.what, "why": one.why, "tokens": one.tokens }))
            .collect()
    };
    let prices: Vec<Value> = context
        .prices
        .iter()
        .map(|price| {
            json!({ "mode": price.mode.name(), "tokens": price.tokens, "cached": price.cached,
                    "cost_microdollars": price.cost })
        })
        .collect();
    Ok(json!({
        "type": wanted.kind,
        "parent": session.id(),
        "mode": context.mode.name(),
        "not_a_fork": context.obstacles.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "narrowed": context.narrowed.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "shared_bytes": context.shared.map(|(same, _)| same),
        "parent_bytes": context.shared.map(|(_, all)| all),
        "handed": entries(&context.handed),
        "left_out": entries(&context.left_out),
        "unmatched_tools": context.unmatched.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "prices": prices,
        "request": serde_json::to_value(RequestReport::new(session.id().as_str(), &context.built))?,
    }))
}

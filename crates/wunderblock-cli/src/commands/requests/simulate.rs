//! `simulate`: plays sessions under several policies and compares the results.

mod table;

use crate::args::{Global, SimulateArgs};
use crate::drawing::chart::draw;
use crate::drawing::paint::Paint;
use crate::drawing::terminal::width;
use crate::output::console::answer;
use crate::output::exit::{Exit, Failure, wrong};
use crate::output::output_file::OutputFile;
use crate::output::progress::{bar, update};
use crate::resolve::lookup::lookup;
use crate::resolve::names::Names;
use std::process::ExitCode;
use std::sync::Arc;
use wunderblock::policy::Policies;
use wunderblock::{ContextOptions, PolicyResult, SimulateOptions};
use wunderblock_core::id::StreamId;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Tokens;
use wunderblock_settings::{Settings, policy};

/// Presets that only tests use.
const TESTS: [&str; 2] = ["always", "never"];

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: SimulateArgs) -> Exit {
    if wanted.jitter > 1 && wanted.svg.is_some() {
        return Err(wrong("--svg draws one window; leave out --jitter"));
    }
    let (policies, against) = policies(&wanted)?;
    let (engine, histories) = lookup(global).histories(settings, &wanted.sessions, wanted.joined).await?;
    if histories.is_empty() {
        return Err(wrong(format!("no sessions in {}", wanted.sessions.join(", "))));
    }
    let chart = OutputFile::create(settings, &engine, wanted.svg.as_deref()).await?;
    let (file, uncompacted) = (&settings.file, ContextOptions::uncompacted());
    let shared = ContextOptions { shares: file.budget.clone(), ..uncompacted };
    let context = file.context.over(&wanted.reader.choice(), shared);
    let bar = bar(global, "simulating", "{msg} [{bar:32}] {pos}/{len} requests {eta}");
    let shown = bar.clone();
    let progress = Arc::new(move |done, of| {
        update(&shown, done, of);
        true
    });
    let options = SimulateOptions {
        context,
        policies,
        against,
        windows: wanted.jitter,
        recall: wanted.recall,
        summary_tokens: wanted.summary_tokens.map(Tokens),
        summariser: None,
        progress: Some(progress),
    };
    let found = engine.simulate(&histories, &options).await;
    bar.finish_and_clear();
    // `None` means that the progress callback stopped the simulation, which ours never does.
    let Some(mut found) = found? else { return Ok(ExitCode::SUCCESS) };
    if let Some(chart) = chart {
        chart.finish_with(draw(&found).as_bytes())?;
    }
    if !wanted.per_turn {
        let own = found.histories.iter_mut().flat_map(|one| &mut one.policies);
        own.chain(&mut found.policies).for_each(|policy: &mut PolicyResult| {
            policy.series.clear();
            policy.replies.clear();
        });
    }
    if !global.json {
        let names = Names::all(&engine).await?;
        for one in &mut found.histories {
            if let Ok(id) = StreamId::new(one.session.as_str()) {
                one.session = names.short(&id);
            }
        }
    }
    answer(global, &found, || table::text(&found, wanted.per_turn, width(), Paint::stdout()))
}

/// Returns the policies, each under a unique name, and the name of the baseline. A policy whose name is already taken
/// is named by the argument that selected it.
fn policies(wanted: &SimulateArgs) -> Result<(Vec<Arc<Policy>>, Box<str>), Failure> {
    let mut typed: Vec<&str> = match wanted.policy.as_slice() {
        [] => Policies::embedded().names().filter(|name| !TESTS.contains(name)).collect(),
        typed => typed.iter().map(|name| name.trim()).collect(),
    };
    let baseline = wanted.against.trim();
    if !typed.contains(&baseline) {
        typed.push(baseline);
    }
    let mut found: Vec<Arc<Policy>> = Vec::new();
    let mut against = Box::default();
    for text in typed {
        let mut one = policy(text)?;
        if found.iter().any(|other| other.name == one.name) {
            one = Arc::new(Policy { name: text.into(), ..Policy::clone(&one) });
        }
        if text == baseline {
            against = one.name.clone();
        }
        found.push(one);
    }
    Ok((found, against))
}

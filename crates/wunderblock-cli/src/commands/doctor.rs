//! `doctor`: is the ledger well.

use super::{bar, catch_up, print, print_json, update};
use crate::args::{Doctor, Global};
use crate::columns::plural;
use crate::exit::{FAILED, Failure};
use crate::settings::Settings;
use crate::terminal::clean;
use serde_json::json;
use std::process::ExitCode;
use wunderblock::store::StoreError;
use wunderblock::{Diagnosis, Engine, Error, Problem, Progress};
use wunderblock_core::stub::grouped;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Doctor) -> Result<ExitCode, Failure> {
    match checked(global, settings, wanted).await {
        // So much is wrong that not even the examination gets through: that is its finding.
        Err(Failure::Engine(Error::Store(StoreError::Damaged(detail)))) => {
            let problem = Problem { rule: "the file can be read", detail, derived: false };
            said(global, &Diagnosis { problems: vec![problem], ..Diagnosis::default() }, 0)
        }
        other => other,
    }
}

async fn checked(global: &Global, settings: &Settings, wanted: &Doctor) -> Result<ExitCode, Failure> {
    let writes = wanted.rebuild || wanted.repair;
    let engine = if writes { settings.existing().await? } else { settings.read_only().await? };
    if wanted.rebuild {
        rebuild(global, &engine).await?;
    }
    let mut diagnosis = examine(global, &engine).await?;
    let mut repaired = Vec::new();
    if wanted.repair {
        if diagnosis.problems.iter().any(|problem| problem.derived) {
            repaired.extend(diagnosis.problems.iter().filter(|problem| problem.derived).cloned());
            rebuild(global, &engine).await?;
            diagnosis = examine(global, &engine).await?;
        } else {
            catch_up(&engine, global).await?;
        }
    }
    said(global, &diagnosis, repaired.len())
}

fn said(global: &Global, diagnosis: &Diagnosis, repaired: usize) -> Result<ExitCode, Failure> {
    let ok = diagnosis.problems.is_empty();
    if global.json {
        let problems = diagnosis.problems.iter().map(
            |problem| json!({ "rule": problem.rule, "detail": problem.detail, "derived": problem.derived }),
        );
        print_json(&json!({
            "ok": ok,
            "problems": problems.collect::<Vec<_>>(),
            "repaired": repaired,
            "events": diagnosis.events,
            "bodies": diagnosis.bodies,
            "source_bytes": diagnosis.source_bytes,
        }))?;
    } else {
        print(&picture(diagnosis, repaired))?;
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

async fn rebuild(global: &Global, engine: &Engine) -> Result<(), Failure> {
    let bar = bar(global, "making derived data anew", "{msg} [{bar:32}] {pos}/{len} events {eta}");
    let done = engine.rebuild(&mut |Progress { done, total }| update(&bar, done, total)).await;
    bar.finish_and_clear();
    Ok(done?)
}

async fn examine(global: &Global, engine: &Engine) -> Result<Diagnosis, Failure> {
    let bar = bar(global, "examining", "{msg} [{bar:32}] {pos}/{len} events {eta}");
    let diagnosis = engine.doctor(&mut |Progress { done, total }| update(&bar, done, total)).await;
    bar.finish_and_clear();
    Ok(diagnosis?)
}

fn picture(diagnosis: &Diagnosis, repaired: usize) -> String {
    let mut out = format!(
        "{}, {}, {} bytes of originals examined\n",
        plural(diagnosis.events, "event", "events"),
        plural(diagnosis.bodies, "body", "bodies"),
        grouped(diagnosis.source_bytes)
    );
    if repaired > 0 {
        out.push_str(&format!("{} mended\n", plural(repaired as u64, "problem", "problems")));
    }
    for problem in &diagnosis.problems {
        let mend = if problem.derived { "  (`doctor --repair` mends it)" } else { "" };
        out.push_str(&format!("✗ {}: {}{mend}\n", problem.rule, clean(&problem.detail)));
    }
    if diagnosis.problems.is_empty() {
        out.push_str("all is well\n");
    } else if diagnosis.problems.iter().any(|problem| !problem.derived) {
        out.push_str(
            "what is not derived cannot be made anew: restore a backup, or export what can still be read\n",
        );
    }
    out
}

//! `doctor`: examines the ledger, and repairs or rebuilds it; examines the capture of agents.

mod agents;
mod probe;

use crate::args::{Doctor, Global};
use crate::commands::keeping::erase::waiting::Waiting;
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::answer;
use crate::output::exit::{Exit, FAILED, Failure};
use crate::output::progress::{catch_up, with_bar};
use std::process::ExitCode;
use wunderblock::report::DiagnosisReport;
use wunderblock::store::StoreError;
use wunderblock::{Diagnosis, Engine, Error, Problem};
use wunderblock_core::id::TenantId;
use wunderblock_core::stub::grouped;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Doctor) -> Exit {
    if wanted.agents {
        return agents::run(global, settings).await;
    }
    match checked(global, settings, wanted).await {
        // A ledger too damaged to be examined is itself the finding.
        Err(Failure::Engine(Error::Store(StoreError::Damaged(detail)))) => {
            let problem = Problem { rule: "the file can be read", detail, derived: false, tenant: None };
            let bytes = settings.db.metadata().map_or(0, |meta| meta.len());
            let path = Some(settings.db.clone());
            let problems = vec![problem];
            print_diagnosis(global, &Diagnosis { path, bytes, problems, ..Diagnosis::default() })
        }
        other => other,
    }
}

async fn checked(global: &Global, settings: &Settings, wanted: &Doctor) -> Exit {
    let writes = wanted.rebuild || wanted.repair;
    let engine = if writes { settings.existing().await? } else { settings.read_only().await? };
    // If a tenant is named, only that tenant is examined.
    let all = global.tenant.is_none();
    let whose = if all { engine.ledger().tenants().await? } else { vec![engine.clone()] };
    if wanted.rebuild {
        for engine in &whose {
            let message = "rebuilding derived data";
            with_bar(global, message, async |on| engine.maintenance().rebuild(on).await).await?;
        }
    }
    let mut diagnosis = examine(global, &engine, all).await?;
    if wanted.repair {
        let found = diagnosis.problems.iter().filter(|problem| problem.derived).count();
        if found > 0 {
            let wait = Waiting::begin(global, &engine);
            let ledger = engine.ledger();
            let done = with_bar(global, "repairing", async |on| ledger.repair(&diagnosis, on).await).await;
            drop(wait);
            done?;
            diagnosis = examine(global, &engine, all).await?;
            let left = diagnosis.problems.iter().filter(|problem| problem.derived).count();
            diagnosis.repaired = found.saturating_sub(left);
        } else {
            // If there is nothing to repair, `--repair` still does the remaining background work.
            for engine in &whose {
                catch_up(engine, global).await?;
            }
        }
    }
    print_diagnosis(global, &diagnosis)
}

fn print_diagnosis(global: &Global, diagnosis: &Diagnosis) -> Exit {
    let ok = diagnosis.problems.is_empty();
    answer(global, &DiagnosisReport { ok, diagnosis }, || picture(diagnosis))?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

async fn examine(global: &Global, engine: &Engine, all: bool) -> Result<Diagnosis, Failure> {
    with_bar(global, "examining", async |on| {
        if all { engine.ledger().doctor(on).await } else { engine.maintenance().doctor(on).await }
    })
    .await
}

fn picture(diagnosis: &Diagnosis) -> String {
    let mut out = String::new();
    if let Some(path) = &diagnosis.path {
        let (path, bytes) = (path.to_string_lossy(), grouped(diagnosis.bytes));
        out.push_str(&format!("{}: {bytes} bytes\n", clean(&path)));
    }
    let tenants = diagnosis.tenants.len() as u64;
    if tenants > 1 {
        out.push_str(&format!("{}, ", plural(tenants, "tenant", "tenants")));
    }
    out.push_str(&format!(
        "{}, {}{}, {}, {} bytes of originals examined\n",
        plural(diagnosis.sessions, "session", "sessions"),
        match diagnosis.documents {
            0 => String::new(),
            count => format!("{}, ", plural(count, "document", "documents")),
        },
        plural(diagnosis.events, "event", "events"),
        plural(diagnosis.bodies, "body", "bodies"),
        grouped(diagnosis.source_bytes)
    ));
    if diagnosis.repaired > 0 {
        out.push_str(&format!("{} repaired\n", plural(diagnosis.repaired as u64, "problem", "problems")));
    }
    let whose = |tenant: Option<&TenantId>| match tenant.filter(|_| tenants > 1) {
        Some(tenant) => format!("tenant `{}`: ", clean(&tenant.to_string())),
        None => String::new(),
    };
    for note in &diagnosis.notes {
        out.push_str(&format!("• {}{}\n", whose(Some(&note.tenant)), clean(&note.text)));
    }
    for problem in &diagnosis.problems {
        let repair = if problem.derived { "  (`doctor --repair` repairs it)" } else { "" };
        let (tenant, detail) = (whose(problem.tenant.as_ref()), clean(&problem.detail));
        out.push_str(&format!("✗ {}: {tenant}{detail}{repair}\n", problem.rule));
    }
    if diagnosis.problems.is_empty() {
        out.push_str("all is well\n");
    } else if diagnosis.problems.iter().any(|problem| !problem.derived) {
        out.push_str(
            "only derived data can be rebuilt: restore a backup, or export what can still be read\n",
        );
    }
    out
}

//! Programs that can veto a compaction before it starts or are informed of it afterwards. Each hook receives one JSON
//! object on stdin.

use super::options::CompactOptions;
use super::prepare::Prepared;
use crate::base::error::Error;
use crate::base::parallel::on_thread;
use crate::compaction::compact::accounting::account::{Compacted, MadeNode};
use crate::request::desk::Desk;
use crate::rules::compactor::Hook;
use crate::rules::process::{self, Program};
use serde_json::{Value, json};
use wunderblock_core::compact::Due;
use wunderblock_core::units::Bytes;

/// Maximum number of bytes that are read from a hook's output.
const OUTPUT: Bytes = Bytes(64 << 10);
/// Exit status of a hook that vetoes the compaction.
const NO: i32 = 2;

/// Combined answers of the hooks that run before a compaction.
#[derive(Default)]
pub(super) struct HookAnswers {
    /// Reason for a veto; `None` if no hook vetoed the compaction.
    pub(super) veto: Option<String>,
    /// Further topics for the summaries to focus on.
    pub(super) focus: Vec<String>,
}

/// Runs the hooks before a compaction, until one vetoes it. A hook that fails is skipped: a broken hook must not keep
/// a lane from being compacted.
pub(super) async fn before(
    options: &CompactOptions,
    prepared: &Prepared,
    due: &Due,
    desk: &Desk,
) -> Result<HookAnswers, Error> {
    let lane = prepared.bench.view.lane().id.as_str();
    let question = json!({
        "event": "before_compact",
        "session": desk.stream().as_str(),
        "lane": lane,
        "policy": options.compactor.policy.name,
        "level": due.level.word(),
        "trigger": due.why,
        "tokens": prepared.tokens.0,
        "focus": options.focus,
    });
    let mut asked = HookAnswers::default();
    for hook in options.compactor.hooks.iter().filter(|hook| hook.before) {
        let Some(output) = run(desk, hook, &question).await? else { continue };
        if output.status.code() == Some(NO) {
            asked.veto = Some(format!("`{}` said no: {}", name(hook), output.errors.trim()));
            break;
        }
        let Ok(answer) = serde_json::from_str::<Value>(output.text.trim()) else { continue };
        let said = |field: &str| answer.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        if said("decision") == "block" {
            asked.veto = Some(format!("`{}` said no: {}", name(hook), said("reason")));
            break;
        }
        asked.focus.extend(Some(said("focus")).filter(|focus| !focus.trim().is_empty()));
    }
    Ok(asked)
}

/// Runs the hooks after a compaction. The output and failures of these hooks are ignored, because the compaction is
/// already recorded.
pub(super) async fn after(options: &CompactOptions, account: &Compacted, desk: &Desk) -> Result<(), Error> {
    let node = |node: &MadeNode| json!({ "seq": node.at.0, "from_seq": node.from.0, "to_seq": node.to.0, "summary": node.text });
    let told = json!({
        "event": "after_compact",
        "session": desk.stream().as_str(),
        "lane": account.lane.as_str(),
        "policy": account.policy,
        "level": account.due.level.word(),
        "tokens_before": account.before.0,
        "tokens_after": account.after.0,
        "summaries": account.nodes.iter().map(node).collect::<Vec<_>>(),
    });
    for hook in options.compactor.hooks.iter().filter(|hook| !hook.before) {
        run(desk, hook, &told).await?;
    }
    Ok(())
}

fn name(hook: &Hook) -> String {
    hook.argv.first().cloned().unwrap_or_default()
}

/// Runs a program on a separate thread. Returns `None` if the program could not be run.
async fn run(desk: &Desk, hook: &Hook, told: &Value) -> Result<Option<process::ProcessOutput>, Error> {
    let program = Program { argv: hook.argv.clone(), cwd: None, time: hook.time, output: OUTPUT };
    let text = told.to_string();
    let ran = desk.wait(on_thread(move || process::run(&program, text.as_bytes(), &mut |_| true))).await?;
    Ok(ran.ok().and_then(Result::ok))
}

//! `status`: one line about a session, for the status line of an agent, a shell or a terminal.

use crate::args::{Global, Status as StatusArgs};
use crate::commands::looking::cost::money;
use crate::drawing::columns::fit;
use crate::drawing::terminal::clean;
use crate::output::console::{print, print_report};
use crate::output::exit::{Exit, FAILED, Failure};
use crate::resolve::lookup::lookup;
use crate::showing::table::tokens;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use wunderblock::account::Status;
use wunderblock::catalog::MicroDollars;
use wunderblock::{Engine, Session, latest_session};
use wunderblock_core::state::ItemStatus;
use wunderblock_core::units::Tokens;
use wunderblock_settings::Settings;
use wunderblock_wire::hook::{HookAgent, HookCall};

/// Maximum number of columns of the first open item.
const ITEM: usize = 40;
/// Maximum size of the input in bytes.
const INPUT: u64 = 1 << 20;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &StatusArgs) -> Exit {
    let engine = settings.read_only().await?;
    let session = match &wanted.session {
        Some(text) => Some(lookup(global).known(&engine, text).await?),
        None => current(&engine).await?,
    };
    let Some(session) = session else {
        let text = "no session of this folder; `wunderblock init` connects agents, SESSION names a session";
        return Err(Failure::Door(FAILED, text.to_owned()));
    };
    let status = Status::of(&session).await?;
    if global.json {
        print_report(&status)?;
    } else {
        print(&format!("{}\n", line(&status)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the session that stdin names in the JSON with which Claude Code calls the command of a status line, or the
/// latest session of the current folder's project.
async fn current(engine: &Engine) -> Result<Option<Session>, Failure> {
    let mut input = String::new();
    if !std::io::stdin().is_terminal() {
        // Input that is not text names no session.
        let _ = std::io::stdin().lock().take(INPUT).read_to_string(&mut input);
    }
    // Its fields are those of a hook's input.
    let call = HookCall::decode(HookAgent::ClaudeCode, &input).ok();
    if let Some(path) = call.as_ref().and_then(|call| call.transcript.as_deref())
        && let Some((id, _)) = engine.imported(path).await?
    {
        return Ok(Some(engine.session_by_id(id)));
    }
    let folder = match call.and_then(|call| call.cwd) {
        Some(folder) => folder,
        None => std::env::current_dir()?,
    };
    Ok(latest_session(engine, &folder).await?)
}

/// Formats the status on one line. What is unknown is left out.
fn line(status: &Status) -> String {
    let mut parts = Vec::new();
    if let Some(context) = status.context {
        let window =
            status.window.map(|window| format!(" of {} ({})", tokens(window), share(context, window)));
        parts.push(format!("context {}{}", tokens(context), window.unwrap_or_default()));
    }
    let spend = &status.spend;
    let input = spend.input + spend.cache_read + spend.cache_write;
    if input > Tokens::ZERO {
        parts.push(format!("cache {}", share(spend.cache_read, input)));
    }
    if spend.cost > MicroDollars::ZERO {
        parts.push(money(spend.cost));
    }
    if let Some(first) =
        status.open.iter().find(|item| item.status == ItemStatus::InProgress).or(status.open.first())
    {
        parts.push(format!("to do {}: {}", status.open.len(), fit(&clean(&first.what), ITEM).trim_end()));
    }
    if parts.is_empty() { "no usage recorded".to_owned() } else { parts.join(" · ") }
}

fn share(part: Tokens, whole: Tokens) -> String {
    format!("{} %", (part.0 * 100 + whole.0 / 2) / whole.0.max(1))
}

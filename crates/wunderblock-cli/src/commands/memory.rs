//! `memory`: what outlives a session, with its evidence, verdict and history.

mod look;
mod review;
mod words;
mod write;

use crate::args::{Global, MemoryArgs, MemoryCommand, MemoryScopeArgs};
use crate::output::exit::{Exit, Failure, wrong};
use wunderblock::{Engine, Memories, scope_at};
use wunderblock_core::id::Scope;
use wunderblock_core::memory::{MemoryAuthor, MemoryVerdict};
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &MemoryArgs) -> Exit {
    let writes = !matches!(
        wanted.command,
        MemoryCommand::List(_) | MemoryCommand::Show(_) | MemoryCommand::History(_)
    );
    let engine = if writes { settings.write().await? } else { settings.read_only().await? };
    let proposes =
        matches!(wanted.command, MemoryCommand::Add(_) | MemoryCommand::Propose(_) | MemoryCommand::Learn(_));
    if let Some(agent) = agent_at_work().filter(|_| writes && !proposes) {
        let why = "an agent may propose, and a person decides; run this in a shell of your own";
        return Err(wrong(format!("this shell belongs to {agent}: {why}")));
    }
    let scope = here(&engine).await?;
    let (memories, by) = (memories(&engine, scope.clone(), &wanted.scope), person(&scope));
    match &wanted.command {
        MemoryCommand::Add(add) => {
            let by = agent_at_work().map_or(by, |agent| MemoryAuthor::Agent(agent.into()));
            write::add(global, &engine, &memories, add, by).await
        }
        MemoryCommand::Propose(add) => {
            let by = MemoryAuthor::Agent(agent_at_work().unwrap_or("command line").into());
            write::add(global, &engine, &memories, add, by).await
        }
        MemoryCommand::Learn(learn) => write::learn(global, &engine, &memories, learn, scope).await,
        MemoryCommand::List(list) => look::list(global, &memories, list).await,
        MemoryCommand::Show(name) => look::show(global, &memories, &name.name).await,
        MemoryCommand::History(name) => look::history(global, &memories, &name.name).await,
        MemoryCommand::Review => review::run(global, &memories, by).await,
        MemoryCommand::Apply(names) => {
            review::decide(global, &memories, names, MemoryVerdict::Approved, by).await
        }
        MemoryCommand::Discard(names) => {
            review::decide(global, &memories, names, MemoryVerdict::Rejected, by).await
        }
        MemoryCommand::Rollback(rollback) => write::roll_back(global, &memories, rollback, by).await,
        MemoryCommand::Forget(forget) => write::forget(global, &memories, forget, by).await,
        MemoryCommand::Restore(name) => write::restore(global, &memories, &name.name, by).await,
    }
}

/// Returns the scope of the current folder's project and of the user.
async fn here(engine: &Engine) -> Result<Scope, Failure> {
    let unusable = |error| wrong(format!("the current folder cannot be used: {error}"));
    let folder = dunce::canonicalize(".").map_err(unusable)?;
    Ok(scope_at(engine, &folder).await?)
}

/// Returns the memories of a scope, or of fewer parts of it.
fn memories(engine: &Engine, scope: Scope, wanted: &MemoryScopeArgs) -> Memories {
    let project = scope.project.clone().filter(|_| !wanted.everywhere);
    let user = scope.user.clone().filter(|_| !wanted.shared);
    engine.memory(Scope { user, project, ..scope })
}

/// Returns the person at the command line.
fn person(scope: &Scope) -> MemoryAuthor {
    let name = scope.user.clone().or_else(|| std::env::var("USER").ok());
    MemoryAuthor::Person(name.unwrap_or_else(|| "you".to_owned()).into())
}

/// Variables that agents set in the shells that they open, with the agents' names.
const AGENTS: [(&str, &str); 6] = [
    ("CLAUDECODE", "claude-code"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_CLI", "gemini-cli"),
    ("OPENCODE", "opencode"),
    ("CURSOR_AGENT", "cursor"),
];

/// Returns the agent in whose shell the command runs. Its model wrote the command, so no person has said anything yet.
fn agent_at_work() -> Option<&'static str> {
    AGENTS.iter().find(|(variable, _)| std::env::var_os(variable).is_some()).map(|(_, agent)| *agent)
}

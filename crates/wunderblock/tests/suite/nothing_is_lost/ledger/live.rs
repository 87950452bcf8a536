//! Complete live sessions: an agent that crashes, repeats itself and changes its tools.

use crate::scene::*;
use wunderblock::Engine;
use wunderblock_core::message::Dialect;
use wunderblock_core::units::Tokens;
use wunderblock_testkit::agent::{self, Script};

fn script(seed: u64, model: &str, window: u64, dialect: Dialect) -> Script {
    Script {
        seed,
        session: stream("live"),
        model: model.to_owned(),
        window: Tokens(window),
        dialect,
        calls: 40,
        compactor: None,
    }
}

fn check(built: &wunderblock::Built) -> Option<String> {
    let violations = wunderblock_wire::validate(built.draft.dialect, &built.draft.body);
    violations.first().map(|first| format!("{}: {}", first.path, first.detail))
}

#[test]
fn an_agent_runs_through_whole_sessions() {
    runs(&[
        script(1, "gpt-4o", 8_000, Dialect::OpenaiChat),
        script(2, "claude-sonnet-4-5", 16_000, Dialect::Anthropic),
        script(7, "gpt-5.1-codex", 16_000, Dialect::OpenaiResponses),
        script(8, "gemini-2.5-pro", 16_000, Dialect::Gemini),
    ]);
}

#[test]
#[ignore = "takes a minute: .ci/full runs it, and so does --ignored"]
fn an_agent_runs_through_whole_sessions_in_larger_windows() {
    runs(&[
        script(3, "gpt-4-turbo", 32_000, Dialect::OpenaiChat),
        script(4, "claude-sonnet-4-5", 64_000, Dialect::Anthropic),
        script(5, "nobody-knows-it", 24_000, Dialect::Neutral),
        script(6, "gpt-4o", 1_000_000, Dialect::Anthropic),
        script(9, "gemini-3.1-pro", 64_000, Dialect::Gemini),
    ]);
}

/// Runs an agent through whole sessions, with crashes.
fn runs(scripts: &[Script]) {
    let mut crashes = 0;
    for script in scripts {
        let home = Home::new();
        let run = agent::run(script, &|| home.engine(), &check);
        assert!(run.requests.len() >= 38, "{script:?}: {} requests", run.requests.len());
        assert!(run.steps > 0 || script.window.0 > 60_000, "{script:?} never ran out of room");
        crashes += run.crashes;
        let engine = home.engine();
        catch_up(&engine);
        assert_eq!(problems(&engine), [""; 0]);
        agent::replay_all(&engine, &script.session, &run);
        // The same script without crashes leads to the same session.
        if script.seed > 2 {
            continue;
        }
        let elsewhere = Home::new();
        let one = elsewhere.engine();
        let again = agent::run(script, &|| Engine::clone(&one), &check);
        assert!(again.requests.len() == run.requests.len());
        assert_eq!(agent::messages(&one, &script.session), agent::messages(&engine, &script.session));
    }
    assert!(crashes > 3);
}

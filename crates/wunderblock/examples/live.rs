//! An agent using the engine: it appends events, builds the next request from them, and prints a report that accounts
//! for every token. Run with `cargo run -p wunderblock --example live`.

use wunderblock::prelude::*;

/// Returns a reply that calls a tool, and the tool's result. A real agent gets the reply and the result from its
/// provider and its tools.
fn exchange(turn: usize) -> [Message; 2] {
    let call = format!("call_{turn}");
    let input = format!("{{\"path\":\"src/part_{turn}.rs\"}}");
    let text = format!("// part {turn}\n").repeat(400);
    [Message::tool_call(call.as_str(), "Read", input), Message::tool_result(call.as_str(), text)]
}

pub(crate) fn main() -> Result<(), Error> {
    let path = std::env::temp_dir().join(format!("wunderblock-live-{}.db", std::process::id()));
    wunderblock::block_on(async {
        let engine = Engine::open(&path).await?;
        let session = engine.session("my-session").await?;
        // The message is durable when `append` returns. The first event opens the session.
        session.append(Message::user("Read all parts, please.")).await?;
        // Without a policy, content that does not fit is left out. `Model::named(…).into()` would compact by the
        // default policy.
        let options = ContextOptions {
            model: Some("claude-sonnet-4-5".to_owned()),
            window: Some(Tokens(6_000)),
            ..ContextOptions::uncompacted()
        };
        for turn in 1..=12 {
            // Builds the next request within the window, and records it. `body` is the bytes to send to the provider.
            let draft = session.context(&options).await?.draft;
            let (used, limit) = (draft.report.total_tokens, draft.report.limit);
            show(&format!("request {turn}: {} bytes, {used} of {limit} tokens", draft.body.len()));
            session.append(exchange(turn)).await?;
        }
        // `explain` records nothing. `explain` reports what would be sent now and what would be left out, with
        // handles for reading the latter.
        let report = session.explain(&options).await?.draft.report;
        for section in &report.sections {
            show(&format!("{:>12}: {} tokens", section.name.name(), section.tokens));
        }
        for run in &report.left_out {
            show(&format!("    left out: {} entries, {} tokens, `{}`", run.count, run.tokens, run.handle));
        }
        Ok(())
    })
}

#[allow(clippy::print_stdout, reason = "an example shows what it does")]
fn show(line: &str) {
    println!("{line}");
}

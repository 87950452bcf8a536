//! How an agent uses the engine: what happens is appended, the next request is built from it, and the report says where
//! every token went. Run with `cargo run -p wunderblock --example live`.

use futures_executor::block_on;
use wunderblock::store::sqlite::Access;
use wunderblock::{Config, ContextOptions, Engine, Error};
use wunderblock_core::event::{Fact, MessageAppended, NewEvent, Source};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::units::{Millis, Tokens};

/// An event under an id of the agent's own: sent twice, it is there once.
fn said(id: &str, message: Message) -> Result<NewEvent, Error> {
    let fact = Fact::MessageAppended(MessageAppended { message });
    Ok(NewEvent { id: EventId::new(id)?, at: Millis(1_750_000_000_000), source: Source::Live, fact })
}

/// A reply that calls a tool, and the tool's result. A real agent takes both from its provider and its tools.
fn exchange(turn: usize) -> [Message; 2] {
    let call = format!("call_{turn}");
    let input = format!("{{\"path\":\"src/part_{turn}.rs\"}}");
    let asks = Part::ToolCall {
        call: call.as_str().into(),
        name: "Read".into(),
        input: input.into(),
        gist: None,
        extra: None,
    };
    let text = format!("// part {turn}\n").repeat(400);
    let answers = Part::ToolResult {
        call: call.as_str().into(),
        content: vec![Part::text(text)],
        failed: false,
        extra: None,
    };
    [Message::new(Role::Assistant, vec![asks]), Message::new(Role::Tool, vec![answers])]
}

fn main() -> Result<(), Error> {
    let path = std::env::temp_dir().join(format!("wunderblock-live-{}.db", std::process::id()));
    block_on(async {
        let engine = Engine::open(&path, Access::Create, Config::default()).await?;
        let session = engine.session(StreamId::new("my-session")?);
        // Durable when `append` returns. The session is opened with its first event.
        session.append(vec![said("turn-0", Message::text(Role::User, "Read all parts, please."))?]).await?;
        let options = ContextOptions {
            model: Some("claude-sonnet-4-5".to_owned()),
            window: Some(Tokens(6_000)),
            ..ContextOptions::default()
        };
        for turn in 1..=12 {
            // The next request, within the window, and the record of it. `body` is what the provider is sent.
            let built = session.context(&options).await?;
            let (used, limit) = (built.draft.report.total_tokens, built.draft.report.limit);
            show(&format!("request {turn}: {} bytes, {used} of {limit} tokens", built.draft.body.len()));
            let [reply, result] = exchange(turn);
            let events = [said(&format!("reply-{turn}"), reply)?, said(&format!("result-{turn}"), result)?];
            session.append(events.into()).await?;
        }
        // The same without a record: what would be sent now, and what would not, with a handle to read it by.
        let explained = session.explain(&options).await?;
        for section in &explained.draft.report.sections {
            show(&format!("{:>12}: {} tokens", section.name.name(), section.tokens));
        }
        for run in &explained.draft.report.left_out {
            show(&format!("    left out: {} entries, {} tokens, `{}`", run.count, run.tokens, run.handle));
        }
        Ok(())
    })
}

#[allow(clippy::print_stdout, reason = "an example shows what it does")]
fn show(line: &str) {
    println!("{line}");
}

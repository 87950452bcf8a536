//! Rebuilding byte for byte what a model saw, and explaining why the next request differs. Run with `cargo run -p
//! wunderblock --example replay_and_diff`.

use wunderblock::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let path = std::env::temp_dir().join(format!("wunderblock-replay-{}.db", std::process::id()));
    wunderblock::block_on(async {
        let engine = Engine::open(&path).await?;
        let session = engine.session("trip").await?;
        let model = || Model::named("gpt-4o").window(16_000);
        session.append(Message::user("Plan three days in Lisbon.")).await?;
        let first = session.context(model()).await?;
        session.append(Message::assistant("Day one: Alfama, and the tram 28.")).await?;
        session.append(Message::user("And the second day?")).await?;
        let second = session.context(model()).await?;
        let (Some(first_at), Some(second_at)) = (first.recorded, second.recorded) else { return Ok(()) };
        let again = session.replay(Some(first_at)).await?;
        show(&format!("request at {first_at} again: {}", again.body == first.draft.body));
        let (_, _, difference) = session.diff(first_at, second_at).await?;
        show(&format!("{} bytes in common, only grown: {}", difference.common, difference.append_only));
        for (at, why) in &difference.causes {
            show(&format!("  position {at}: {why}"));
        }
        Ok(())
    })
}

#[allow(clippy::print_stdout, reason = "an example shows what it does")]
fn show(line: &str) {
    println!("{line}");
}

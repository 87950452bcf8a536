//! Finding messages, and erasing them permanently. Run with `cargo run -p wunderblock --example search_and_erase`.

use wunderblock::SearchOptions;
use wunderblock::prelude::*;

pub(crate) fn main() -> Result<(), Error> {
    let path = std::env::temp_dir().join(format!("wunderblock-erase-{}.db", std::process::id()));
    wunderblock::block_on(async {
        let engine = Engine::open(&path).await?;
        let session = engine.session("support/7").await?;
        session.append(Message::user("My new address is 5 Sandpiper Lane.")).await?;
        session.append(Message::assistant("Thank you, I have noted it.")).await?;
        let found = engine.recall().search("sandpiper", &SearchOptions::default()).await?;
        for hit in &found.hits {
            show(&format!("{} #{}: {:?}", hit.session, hit.seq, hit.matched));
            let erased = engine.session_by_id(hit.session.clone()).erase(hit.seq, hit.seq, None).await?;
            show(&format!("erased: {} events", erased.events));
        }
        let left = engine.recall().search("sandpiper", &SearchOptions::default()).await?;
        show(&format!("found afterwards: {}", left.hits.len()));
        Ok(())
    })
}

#[allow(clippy::print_stdout, reason = "an example shows what it does")]
fn show(line: &str) {
    println!("{line}");
}

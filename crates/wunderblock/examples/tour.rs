//! Recording, building, finding and reading. Run with `cargo run -p wunderblock --example tour`.

use wunderblock::prelude::*;

#[allow(clippy::print_stdout, reason = "an example shows what it does")]
pub(crate) fn main() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("wunderblock-tour-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(Error::Output)?;
    wunderblock::block_on(async {
        let engine = Engine::open(folder.join("agent.db")).await?;
        let session = engine.session("support/7").await?;
        session.append(Message::user("My invoice shows the wrong address.")).await?;
        session.append(Message::assistant("I can correct that. Which address is right?")).await?;
        session.append_json(br#"{"role":"user","content":"12 Harbour Street, please."}"#).await?;
        match session.context(Model::named("claude-sonnet-4-5").window(16_000)).await {
            Ok(built) => {
                let (bytes, report) = (&built.draft.body, &built.draft.report);
                println!("{} bytes; {} of {} tokens", bytes.len(), report.total_tokens, report.limit);
            }
            Err(error) if error.is_retryable() => println!("busy, try again: {error}"),
            Err(error) if error.kind() == ErrorKind::Refused => println!("it does not fit: {error}"),
            Err(error) => return Err(error),
        }
        let found = engine.recall().search("invoice", &SearchOptions::default()).await?;
        for hit in found.hits {
            let content = engine.recall().read(hit.address(&engine), &Slice::All).await?;
            println!("{} #{}: {}", hit.session, hit.seq, String::from_utf8_lossy(&content.bytes));
        }
        Ok(())
    })
}

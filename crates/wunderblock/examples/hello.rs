//! The first six lines. Run with `cargo run -p wunderblock --example hello`.

use wunderblock::prelude::*;

#[allow(clippy::print_stdout, reason = "an example shows what it does")]
pub(crate) fn main() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("wunderblock-hello-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(Error::Output)?;
    wunderblock::block_on(async {
        let engine = Engine::open(folder.join("agent.db")).await?;
        let session = engine.session("my-agent/42").await?;
        session.append(Message::user("Hello! What is the capital of France?")).await?;
        let built = session.context(Model::named("claude-sonnet-4-5")).await?;
        println!("{}", String::from_utf8_lossy(&built.draft.body));
        Ok(())
    })
}

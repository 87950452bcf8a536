use futures_executor::block_on;
use wunderblock::store::sqlite::Access;
use wunderblock::{Config, ContextOptions, Engine};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Tokens;
fn main() {
    let dir = tempfile::tempdir_in(".").unwrap();
    let engine = block_on(Engine::open(&dir.path().join("l.db"), Access::Create, Config::default())).unwrap();
    let stream = StreamId::new("s").unwrap();
    let session = engine.session(stream);
    block_on(session.append(wunderblock_testkit::generate::session(10_000, 7).collect())).unwrap();
    block_on(engine.catch_up(&mut |_| {})).unwrap();
    let options = ContextOptions { window: Some(Tokens(128_000)), ..ContextOptions::default() };
    block_on(session.context(&options)).unwrap();
    let start = std::time::Instant::now();
    for _ in 0..200 { block_on(session.explain(&options)).unwrap(); }
    println!("{:?}", start.elapsed() / 200);
}

//! A poll of a public future only waits: one thread can drive many sessions, and none of them holds the others up.
//!
//! Every future is polled by hand, and what a poll takes of the processor is measured on the polling thread, so other
//! programs change nothing. `cargo test --release` measures what users have.

use crate::scene::{Home, append, said, session};
use rustix::time::{ClockId, clock_gettime};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{Thread, current, park};
use std::time::Duration;
use wunderblock::{Along, CompactOptions, Compactor, ContextOptions, Error, GrepOptions, SearchOptions};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Seq, Tokens};

/// Maximum processor time of a poll.
const MOST: Duration = Duration::from_millis(5);

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Processor time of this thread.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

/// Drives a future to its end, and fails if a poll worked instead of waiting.
fn only_waits<T>(what: &str, mut future: Pin<Box<dyn Future<Output = Result<T, Error>> + Send + '_>>) -> T {
    let waker = Arc::new(Unpark(current())).into();
    let mut context = Context::from_waker(&waker);
    let (mut longest, mut polls) = (Duration::ZERO, 0);
    let done = loop {
        let begun = used();
        let polled = future.as_mut().poll(&mut context);
        longest = longest.max(used() - begun);
        polls += 1;
        match polled {
            Poll::Ready(done) => break done.unwrap(),
            Poll::Pending => park(),
        }
    };
    assert!(longest <= MOST, "{what}: a poll worked for {longest:?} ({polls} polls)");
    done
}

/// A transcript of Claude Code with this number of exchanges, of about 2 KB each.
fn transcript(exchanges: usize) -> String {
    let mut text = String::new();
    for at in 0..exchanges {
        let words =
            (0..120).map(|word| format!("word{:x} ", (at * 131 + word * 17) % 4_093)).collect::<String>();
        let parent = if at == 0 { "null".to_owned() } else { format!("\"a{}\"", at - 1) };
        text.push_str(&format!(
            r#"{{"type":"user","uuid":"u{at}","parentUuid":{parent},"sessionId":"polls","message":{{"role":"user","content":"Please look at part {at}. {words}"}}}}"#
        ));
        text.push('\n');
        text.push_str(&format!(
            r#"{{"type":"assistant","uuid":"a{at}","parentUuid":"u{at}","sessionId":"polls","message":{{"role":"assistant","content":[{{"type":"text","text":"Part {at} is done. {words}"}}]}}}}"#
        ));
        text.push('\n');
    }
    text
}

#[test]
fn polls_of_large_work_only_wait() {
    let home = Home::new();
    let engine = home.engine();
    let file = home.file("polls.jsonl", transcript(1_000));
    let quiet = &mut |_: u64, _: u64| {};
    only_waits("import", engine.import(&file, None, quiet));
    let session = session(&engine, "polls");
    let window = Some(Tokens(16_000));
    let options =
        ContextOptions { window, compactor: Some(Compactor::default()), ..ContextOptions::default() };
    let explained = only_waits("explain", session.explain(&options));
    let built = only_waits("context with a compaction", session.context(&options));
    assert!(built.compacted.is_some() && explained.compacted.is_some());
    let compactor = Compactor::default();
    let small = ContextOptions { window: Some(Tokens(8_000)), ..ContextOptions::default() };
    only_waits("compact", session.compact(&CompactOptions::new(small, compactor)));
    let mut out = Vec::new();
    only_waits("export", session.export(Seq(1), Seq(u64::MAX >> 1), &mut out));
    assert!(out.len() > 1 << 20);
    out.clear();
    only_waits("export of the original", session.export_original(None, &mut out));
    assert!(out.len() > 1 << 20);
    let mut seen = 0;
    let mut count = |_: wunderblock::Match| {
        seen += 1;
        ControlFlow::Continue(())
    };
    let grep = GrepOptions { regex: true, ..GrepOptions::default() };
    only_waits("grep", engine.recall().grep("part [0-9]+7", &grep, &mut count));
    assert!(seen > 100);
    let search = SearchOptions::default();
    let found = only_waits("search before the index", engine.recall().search("part word7f", &search));
    assert!(!found.hits.is_empty());
    only_waits("catch up", engine.maintenance().catch_up(&mut |_| {}));
    only_waits("search", engine.recall().search("part word7f", &search));
    only_waits("doctor", engine.ledger().doctor(&mut |_| {}));
    only_waits("erase", session.erase_all(None, Along::default()));
}

#[test]
fn a_poll_of_a_long_append_only_waits() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", vec![said("1", Role::User, "first")]);
    let long = "a line of a long output that is packed and hashed\n".repeat(100_000);
    only_waits("append", session(&engine, "s").append(said("2", Role::User, &long)));
}

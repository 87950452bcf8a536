//! Describes the result of a compaction for people.

use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use wunderblock::{Compacted, CompactionResult};
use wunderblock_core::stub::grouped;

/// Describes the gain of a compaction: fewer tokens, or new summaries if the request did not get smaller.
pub(crate) fn gain(done: &Compacted) -> String {
    if done.after < done.before {
        return format!("{} → {} tokens", grouped(done.before.0), grouped(done.after.0));
    }
    let made = plural((done.nodes.len() + done.adopted) as u64, "summary", "summaries");
    format!("{made} of what is not shown")
}

/// Describes the result of a compaction, and what to do next.
pub(crate) fn verdict(session: &str, done: &Compacted) -> String {
    let before = grouped(done.before.0);
    let session = clean(session);
    match &done.outcome {
        CompactionResult::Compacted => format!(
            "{}. Nothing is lost: `wunderblock describe {session}` lists the summaries, \
             `wunderblock undo {session}` restores the view.",
            gain(done)
        ),
        CompactionResult::WouldCompact => {
            let writer = done.stands_in_for.as_deref().map(clean);
            let writer =
                writer.map(|name| format!(" {name} would write the summaries; here they are extractive."));
            format!("{}, if it ran.{}", gain(done), writer.unwrap_or_default())
        }
        CompactionResult::Prepared => {
            let count = done.nodes.len();
            let what = if count == 1 { "summary was" } else { "summaries were" };
            format!("{count} {what} made ahead; the request changes when the level is reached.")
        }
        CompactionResult::NothingGained => {
            format!(
                "{before} tokens: no step saves enough, so nothing was changed. Another --policy may do more."
            )
        }
        CompactionResult::Refused => {
            "every summary was rejected, so nothing was changed. Try --summarizer extractive.".to_owned()
        }
        CompactionResult::Vetoed(why) => format!("not done: {}", clean(why)),
        CompactionResult::Overtaken => {
            "the session changed during the compaction, so nothing was written. Run the command again."
                .to_owned()
        }
        CompactionResult::Busy(who) => {
            format!("another worker ({}) is compacting this lane; wait for it.", clean(who))
        }
        CompactionResult::Stopped(rounds) => format!(
            "{rounds} compactions in a row changed nothing: the lane is left alone until it grows. \
             `wunderblock compact {session}` tries all the same."
        ),
        CompactionResult::Off => "the policy is off, so nothing was done. Give --policy NAME.".to_owned(),
        CompactionResult::Interrupted => {
            "stopped: published summaries stay, nothing else was changed.".to_owned()
        }
    }
}

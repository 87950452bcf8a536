//! Sessions of a coding agent that never took place: as large as wanted, and the same for the same seed.
//!
//! They are made for measuring: sizes, vocabulary and repetition are like those of real sessions, so that compression,
//! counting and search have as much work as with those. The sense of what is said is not. Words follow Zipf's law;
//! what real tools print besides words (times, ids, hashes, paths, line numbers) is unique or nearly so.

mod claude_code;
mod random;
mod results;
mod session;
mod time;
mod words;

pub use random::Random;
use session::SessionEvents;
pub(crate) use words::prose;
use wunderblock_core::event::NewEvent;

/// The first `events` events of a session: user texts, replies with tool calls, tool results of 2 to 20 kB, usage
/// reports, ends of turns; about 3.3 kB of text each on average. There is no `session.opened` among them: whoever opens
/// the session says that. The last turn may be incomplete.
pub fn session(events: usize, seed: u64) -> impl Iterator<Item = NewEvent> {
    SessionEvents::new(seed).take(events)
}

/// The same session as lines of a Claude Code transcript, without the newlines: records of type `user`, `assistant`
/// (one per block, with the reply's usage in each) and `system` (`turn_duration`), chained by `parentUuid`.
///
/// There are fewer lines for usage reports, and more for replies of several blocks, than `events`.
pub fn claude_code_lines(events: usize, seed: u64) -> impl Iterator<Item = String> {
    claude_code::lines(events, seed)
}

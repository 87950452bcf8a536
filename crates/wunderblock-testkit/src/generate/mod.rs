//! Invented sessions of a coding agent: of any size, and always the same for the same seed.
//!
//! The sessions are used for measurements: their sizes, vocabulary and repetition resemble those of real sessions, so
//! that compression, counting and search have just as much work to do. The content makes no sense. Word frequencies
//! follow Zipf's law; other parts of the output, such as times, ids, hashes, paths and line numbers, are unique or
//! nearly unique, as in real tools.

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

/// Returns the first `events` events of a generated session: user texts, replies with tool calls, tool results of 2
/// to 20 kB, usage reports and ends of turns, with about 3.3 kB of text per event on average. The events include no
/// `session.opened`, because the caller that opens the session appends it. The last turn may be incomplete.
pub fn session(events: usize, seed: u64) -> impl Iterator<Item = NewEvent> {
    SessionEvents::new(seed).take(events)
}

/// Returns the same session as lines of a Claude Code transcript, without newlines. The records have the types
/// `user`, `assistant` (one per block, each with the usage of the reply) and `system` (`turn_duration`), and are
/// chained by `parentUuid`.
///
/// The number of lines differs from `events`: usage reports have no line, and replies with several blocks have
/// several lines.
pub fn claude_code_lines(events: usize, seed: u64) -> impl Iterator<Item = String> {
    claude_code::lines(events, seed)
}

//! Limits on everything, in one place.

use std::time::Duration;
use wunderblock_core::units::{Bytes, Tokens};

/// The largest single document that is imported whole. Line formats have no limit.
pub const MAX_DOCUMENT: u64 = 64 << 20;
/// The largest output of a program that is kept as a message, and so found by a search: while one is written it is in
/// memory several times. What is larger is kept as the bytes it is.
pub const MAX_MESSAGE_OUTPUT: usize = 8 << 20;
/// Maximum bytes of a transcript's line that is parsed; of a longer one the bytes are kept, and its record says where.
pub const MAX_LINE: usize = 32 << 20;
/// Milliseconds an import holds a file without writing anything. A dead one holds it no longer, whatever locks say.
pub const IMPORT_LEASE: i64 = 30_000;
/// How often an import that waits for another one looks again.
pub const IMPORT_POLL: Duration = Duration::from_millis(25);
/// How long an import waits for another one that does not move.
pub const IMPORT_WAIT: Duration = Duration::from_secs(60);
/// How often an import begins again because another one has changed what is kept of the file.
pub const IMPORT_ATTEMPTS: usize = 16;
/// Bytes of imported sources that are compressed together.
pub const SOURCE_CHUNK: usize = 1 << 20;
/// Events that are committed together by an import, at most.
pub const IMPORT_BATCH_EVENTS: usize = 2_000;
/// Bytes of text that are committed together by an import, at most.
pub const IMPORT_BATCH_BYTES: u64 = 8 << 20;
/// Chunks of a source that are committed together by an import, at most.
pub const IMPORT_BATCH_CHUNKS: usize = 16;
/// Live batches up to this size are counted while they are appended.
pub const COUNT_AT_ONCE: Bytes = Bytes(64 << 10);
/// Maximum events of a batch that a thread of the background counts and indexes: the size of a fresh index segment.
pub const CATCH_UP_EVENTS: u64 = 1_024;
/// How often the background looks again because another process did some of its work.
pub const CATCH_UP_RETRIES: usize = 8;
/// Maximum text of such a batch, but for one event that alone is longer.
pub const CATCH_UP_BYTES: Bytes = Bytes(8 << 20);
/// Milliseconds after which a search begins no further batch of the background's work. Those under way are finished, so
/// that it writes for 200 ms at most.
pub const SEARCH_CATCH_UP: i64 = 120;
/// Maximum text of a batch that a search indexes, but for one event that alone is longer.
pub const SEARCH_BATCH_BYTES: Bytes = Bytes(1 << 20);
/// How often a search looks again because the segments it reads are joined meanwhile.
pub const SEARCH_RETRIES: usize = 4;
/// The window that is looked for before a session's own is known.
pub const USUAL_WINDOW: Tokens = Tokens(200_000);
/// Events a view is loaded with at first. With [`VIEW_BYTES_PER_TOKEN`] it bounds what a build reads.
pub const VIEW_EVENTS: u64 = 4_000;
/// Text a view is loaded with, for each token of the window: room for the densest text, and for stubs before it.
pub const VIEW_BYTES_PER_TOKEN: u64 = 12;
/// How often a build starts anew because the session grew meanwhile.
pub const BUILD_RETRIES: usize = 16;
/// Kept free for the answer when the model's own limit is not known to be smaller.
pub const DEFAULT_RESERVE: Tokens = Tokens(8_192);
/// The part of the window kept free for the answer at most, as a divisor: a quarter.
pub const RESERVE_DIVISOR: u64 = 4;
/// The part of the window kept free where counts are estimates, as a divisor: a twentieth.
pub const ESTIMATE_MARGIN_DIVISOR: u64 = 20;
/// Older entries that a query may bring back, before the budget decides.
pub const RECALL_HITS: usize = 24;
/// Bytes of a page of `read`.
pub const PAGE_BYTES: u64 = 16 << 10;
/// Events that `grep` looks through at a time.
pub const GREP_PAGE: u64 = 2_048;
/// Those it looks through first.
pub const GREP_FIRST_PAGE: u64 = 64;
/// Minimum length of a text that is erased wherever it stands, in bytes.
pub const ERASE_TEXT_MIN: usize = 4;
/// Milliseconds a provider of state has to answer.
pub const PROVIDER_TIME: u64 = 2_000;
/// Bytes of a provider's answer that count.
pub const PROVIDER_BYTES: usize = 16 << 10;
/// The largest instruction file, rule or skill that is read; Claude Code stops at the same size.
pub const MAX_SOURCE_FILE: u64 = 4 << 20;
/// Text that one reading of all instruction files takes in.
pub const MAX_SOURCE_BYTES: u64 = 32 << 20;
/// Instruction files that one reading takes in.
pub const MAX_SOURCE_FILES: usize = 4_000;
/// Instruction files that the scan of a project finds.
pub const MAX_SCANNED: usize = 2_000;
/// Files and directories the scan of a project looks at.
pub const MAX_SCAN_ENTRIES: usize = 2_000_000;
/// The largest ignore file.
pub const MAX_IGNORE_FILE: u64 = 256 << 10;
/// Ignore files in force at once.
pub const MAX_IGNORE_FILES: usize = 64;
/// Different `@` words of one file that are looked up.
pub const MAX_IMPORTS: usize = 500;
/// `@` words that one reading looks up.
pub const MAX_IMPORT_LOOKUPS: usize = 10_000;
/// The deepest chain of imports, whatever the rules say.
pub const MAX_IMPORT_DEPTH: u8 = 16;
/// Files of one rule directory.
pub const MAX_RULES: usize = 1_000;
/// How deep a rule directory is read.
pub const MAX_RULE_DEPTH: usize = 8;
/// Path patterns of one rule; Claude Code expands as many.
pub const MAX_RULE_PATTERNS: usize = 1_000;
/// The largest front matter.
pub const MAX_FRONT_MATTER: usize = 64 << 10;
/// Touched paths that are looked at.
pub const MAX_TOUCHED: usize = 512;
/// Words of tool calls that are looked at for paths.
pub const MAX_TOUCHED_WORDS: usize = 10_000;
/// Findings of one reading that are listed.
pub const MAX_FINDINGS: usize = 500;
/// Skills that are listed.
pub const MAX_SKILLS: usize = 1_000;
/// Maximum places in the conversation that `Session::locate` answers.
pub const PLACEMENTS: usize = 200;
/// The largest policy file that is read, in bytes: many times the largest that says something.
pub const MAX_POLICY: usize = 64 << 10;
/// Findings about a policy file that are shown; beyond them they are counted.
pub const POLICY_FINDINGS: usize = 20;
/// Tokens of a page of `expand`, unless told otherwise.
pub const EXPAND_TOKENS: u64 = 2_000;
/// The smallest page of `expand`: smaller ones would be marks and little else.
pub const EXPAND_LEAST: u64 = 200;
/// The largest page of `expand`.
pub const EXPAND_MOST: u64 = 100_000;
/// Milliseconds a worker holds a lane it compacts without renewing its lease.
pub const COMPACTION_LEASE: i64 = 120_000;
/// Text of so many tokens or fewer gets no summary of its own in a sweep.
pub const SWEEP_LEAST: u64 = 200;
/// A session of so much text or less is swept whole where its lane is compacted for a request: a second's work.
pub const SWEEP_AT_ONCE: Bytes = Bytes(8 << 20);
/// Turns of the user that a compaction reads for standing rules where nobody has looked yet, the newest.
pub const RULE_TURNS: u64 = 4_096;

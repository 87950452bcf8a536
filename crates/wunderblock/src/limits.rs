//! Limits of the engine, in one place.

use std::time::Duration;
use wunderblock_core::units::{Bytes, Tokens};

/// Maximum bytes of a single document that is imported. Documents are read whole; line formats have no limit.
pub const MAX_DOCUMENT: u64 = 64 << 20;
/// Maximum bytes of a program's output that is kept as a message, and so found by a search. Writing a message keeps
/// several copies of it in memory, so larger output is kept as plain bytes.
pub const MAX_MESSAGE_OUTPUT: usize = 8 << 20;
/// Maximum bytes of a transcript's line that is parsed. The bytes of a longer line are kept, and its record refers to
/// them.
pub const MAX_LINE: usize = 32 << 20;
/// Milliseconds after which an import that writes nothing loses its claim on a file. A lock on the file shows earlier
/// that an import is dead; the lease is for files that cannot be locked.
pub const IMPORT_LEASE: i64 = 30_000;
/// Interval at which a waiting import checks whether the other import has finished.
pub const IMPORT_POLL: Duration = Duration::from_millis(25);
/// Maximum time that an import waits for another one that makes no progress.
pub const IMPORT_WAIT: Duration = Duration::from_secs(60);
/// Maximum times that an import starts again because another import changed the stored file meanwhile.
pub const IMPORT_ATTEMPTS: usize = 16;
/// Bytes of imported sources that are compressed together.
pub const SOURCE_CHUNK: usize = 1 << 20;
/// Maximum events that an import commits together.
pub const IMPORT_BATCH_EVENTS: usize = 2_000;
/// Maximum bytes of text that an import commits together.
pub const IMPORT_BATCH_BYTES: u64 = 8 << 20;
/// Maximum chunks of a source that an import commits together.
pub const IMPORT_BATCH_CHUNKS: usize = 16;
/// Maximum bytes of a live batch whose tokens are counted while it is appended. Larger batches are counted in the
/// background.
pub const COUNT_AT_ONCE: Bytes = Bytes(64 << 10);
/// Maximum events per batch of the background's counting and indexing: the size of a fresh index segment.
pub const CATCH_UP_EVENTS: u64 = 1_024;
/// Maximum attempts of the background, or of an erasure, when another process changes the index meanwhile.
pub const CATCH_UP_RETRIES: usize = 8;
/// Maximum bytes of text per batch of the background's work, except for a single longer event. Batches bound its
/// memory.
pub const CATCH_UP_BYTES: Bytes = Bytes(8 << 20);
/// Milliseconds after which a search starts no further batch of background work. Running batches are completed, so
/// the search writes for at most 200 ms.
pub const SEARCH_CATCH_UP: i64 = 120;
/// Maximum bytes of text per batch that a search indexes, except for a single longer event. Smaller than the
/// background's batches, so that running batches end soon.
pub const SEARCH_BATCH_BYTES: Bytes = Bytes(1 << 20);
/// Maximum attempts of a search when the segments it reads are joined with others meanwhile.
pub const SEARCH_RETRIES: usize = 4;
/// Context window assumed while a session's own window is unknown, in tokens.
pub const USUAL_WINDOW: Tokens = Tokens(200_000);
/// Maximum events of a view's first load. Together with [`VIEW_BYTES_PER_TOKEN`] it limits what a build reads.
pub const VIEW_EVENTS: u64 = 4_000;
/// Bytes of text loaded into a view per token of the window. This is enough for the densest text, and for the stubs
/// before it.
pub const VIEW_BYTES_PER_TOKEN: u64 = 12;
/// Maximum attempts of a build or an append when the session grows meanwhile.
pub const BUILD_RETRIES: usize = 16;
/// Tokens reserved for the answer, unless the model's own limit is smaller.
pub const DEFAULT_RESERVE: Tokens = Tokens(8_192);
/// Maximum share of the window reserved for the answer, as a divisor: a quarter.
pub const RESERVE_DIVISOR: u64 = 4;
/// Share of the window kept free if token counts are estimates, as a divisor: a twentieth.
pub const ESTIMATE_MARGIN_DIVISOR: u64 = 20;
/// Maximum older entries that a query can recall, before the budget decides.
pub const RECALL_HITS: usize = 24;
/// Bytes per page of `read`.
pub const PAGE_BYTES: u64 = 16 << 10;
/// Maximum events that `grep` reads at a time.
pub const GREP_PAGE: u64 = 2_048;
/// Events that `grep` reads first, so that a first match does not wait for a large page.
pub const GREP_FIRST_PAGE: u64 = 64;
/// Minimum length of a text that is erased wherever it occurs, in bytes.
pub const ERASE_TEXT_MIN: usize = 4;
/// Milliseconds in which a provider of state must answer.
pub const PROVIDER_TIME: u64 = 2_000;
/// Maximum bytes of a provider's answer that are used. The rest is cut off.
pub const PROVIDER_BYTES: usize = 16 << 10;
/// Maximum bytes of an instruction file, rule or skill. Claude Code has the same limit.
pub const MAX_SOURCE_FILE: u64 = 4 << 20;
/// Maximum total bytes of the instruction files of one reading.
pub const MAX_SOURCE_BYTES: u64 = 32 << 20;
/// Maximum instruction files of one reading.
pub const MAX_SOURCE_FILES: usize = 4_000;
/// Maximum instruction files that the scan of a project finds.
pub const MAX_SCANNED: usize = 2_000;
/// Maximum files and directories that the scan of a project visits.
pub const MAX_SCAN_ENTRIES: usize = 2_000_000;
/// Maximum bytes of an ignore file.
pub const MAX_IGNORE_FILE: u64 = 256 << 10;
/// Maximum ignore files in force at the same time.
pub const MAX_IGNORE_FILES: usize = 64;
/// Maximum different `@` words resolved per file.
pub const MAX_IMPORTS: usize = 500;
/// Maximum `@` words resolved in one reading.
pub const MAX_IMPORT_LOOKUPS: usize = 10_000;
/// Maximum depth of a chain of imports, whatever the rules allow.
pub const MAX_IMPORT_DEPTH: u8 = 16;
/// Maximum files of one rule directory.
pub const MAX_RULES: usize = 1_000;
/// Maximum depth to which a rule directory is read.
pub const MAX_RULE_DEPTH: usize = 8;
/// Maximum path patterns of one rule. Claude Code expands the same number.
pub const MAX_RULE_PATTERNS: usize = 1_000;
/// Maximum bytes of front matter.
pub const MAX_FRONT_MATTER: usize = 64 << 10;
/// Maximum touched paths that are collected.
pub const MAX_TOUCHED: usize = 512;
/// Maximum words of tool calls that are examined for paths.
pub const MAX_TOUCHED_WORDS: usize = 10_000;
/// Maximum findings listed for one reading.
pub const MAX_FINDINGS: usize = 500;
/// Maximum skills listed.
pub const MAX_SKILLS: usize = 1_000;
/// Maximum places in the conversation that `Session::locate` returns.
pub const PLACEMENTS: usize = 200;
/// Maximum bytes of a policy file: many times the size of the largest meaningful one.
pub const MAX_POLICY: usize = 64 << 10;
/// Maximum findings shown for a policy file. Further findings are only counted.
pub const POLICY_FINDINGS: usize = 20;
/// Default tokens per page of `expand`.
pub const EXPAND_TOKENS: u64 = 2_000;
/// Minimum tokens per page of `expand`: a smaller page would hold little except marks.
pub const EXPAND_LEAST: u64 = 200;
/// Maximum tokens per page of `expand`.
pub const EXPAND_MOST: u64 = 100_000;
/// Milliseconds after which a worker loses its lease of a lane that it compacts, unless it renews the lease.
pub const COMPACTION_LEASE: i64 = 120_000;
/// Maximum tokens of a stretch of text that gets no separate summary in a sweep.
pub const SWEEP_LEAST: u64 = 200;
/// Maximum bytes of a session that is swept completely when its lane is compacted for a request. Such a sweep takes
/// about a second.
pub const SWEEP_AT_ONCE: Bytes = Bytes(8 << 20);
/// Maximum user turns, latest first, that a compaction searches for standing rules if they were not searched before.
pub const RULE_TURNS: u64 = 4_096;
/// Maximum number of rules in a redactor. All of their regexes are compiled when it is made.
pub const MAX_SECRET_RULES: usize = 500;
/// Maximum number of warnings that an import lists; the notices count all of them.
pub const MAX_WARNINGS: usize = 20;
/// Maximum number of bytes read from a `.git` or `commondir` file, which holds one path.
pub const MAX_POINTER: u64 = 16 << 10;
/// Maximum number of handles listed in an error about an ambiguous prefix.
pub const MAX_CANDIDATES: u64 = 8;

//! Limits of what is read, in one place.

use std::time::Duration;

/// Maximum size in bytes of a document. Its bytes, its text and its sections are held in memory.
pub const MAX_DOCUMENT_BYTES: u64 = 32 << 20;
/// Maximum number of documents that are read in one folder.
pub const MAX_DOCUMENTS: u64 = 100_000;
/// Maximum size in bytes of a section of a document: about a thousand tokens, of which a reader sees the whole.
pub(crate) const MAX_SECTION: usize = 4 << 10;
/// Number of sections from which a document is cut by size alone.
pub(crate) const MAX_SECTIONS: usize = 20_000;
/// Maximum length in bytes of one of the headings above a section.
pub(crate) const MAX_HEADING: usize = 200;
/// Maximum number of pages of a PDF that are read.
pub(crate) const MAX_PDF_PAGES: usize = 10_000;
/// Maximum size in bytes of the text of a PDF. A small file may unpack to any size.
pub(crate) const MAX_PDF_TEXT: usize = 32 << 20;
/// Maximum time for reading a PDF.
pub(crate) const MAX_PDF_TIME: Duration = Duration::from_secs(60);
/// Size in bytes of the stack of the thread that reads a PDF, whose objects nest.
pub(crate) const PDF_STACK: usize = 16 << 20;
/// Maximum number of files with definitions of delegates that are read in one folder.
pub(crate) const MAX_DEFINITIONS: usize = 10_000;
/// Maximum depth of folders in which definitions of delegates are looked for.
pub(crate) const MAX_DEFINITION_DEPTH: usize = 16;
/// Maximum size in bytes of an instruction file, a rule or a skill. Claude Code has the same limit.
pub(crate) const MAX_SOURCE_FILE: u64 = 4 << 20;
/// Maximum total size in bytes of the instruction files in one reading.
pub const MAX_SOURCE_BYTES: u64 = 32 << 20;
/// Maximum number of instruction files in one reading.
pub(crate) const MAX_SOURCE_FILES: usize = 4_000;
/// Maximum number of instruction files that the scan of a project finds.
pub(crate) const MAX_SCANNED: usize = 2_000;
/// Maximum number of files and directories that the scan of a project visits.
pub(crate) const MAX_SCAN_ENTRIES: usize = 2_000_000;
/// Maximum size in bytes of an ignore file.
pub(crate) const MAX_IGNORE_FILE: u64 = 256 << 10;
/// Maximum number of ignore files in force at the same time.
pub(crate) const MAX_IGNORE_FILES: usize = 64;
/// Maximum number of different `@` words resolved per file.
pub(crate) const MAX_IMPORTS: usize = 500;
/// Maximum number of `@` words resolved in one reading.
pub(crate) const MAX_IMPORT_LOOKUPS: usize = 10_000;
/// Maximum depth of a chain of imports, whatever the rules allow.
pub(crate) const MAX_IMPORT_DEPTH: u8 = 16;
/// Maximum number of files in one rule directory.
pub(crate) const MAX_RULES: usize = 1_000;
/// Maximum depth to which a rule directory is read.
pub(crate) const MAX_RULE_DEPTH: usize = 8;
/// Maximum number of path patterns in one rule. Claude Code expands the same number of patterns.
pub(crate) const MAX_RULE_PATTERNS: usize = 1_000;
/// Maximum size in bytes of front matter.
pub(crate) const MAX_FRONT_MATTER: usize = 64 << 10;
/// Maximum number of touched paths that are collected.
pub(crate) const MAX_TOUCHED: usize = 512;
/// Maximum number of words in tool calls that are examined for paths.
pub(crate) const MAX_TOUCHED_WORDS: usize = 10_000;
/// Maximum number of findings listed for one reading.
pub(crate) const MAX_FINDINGS: usize = 500;
/// Maximum skills listed.
pub(crate) const MAX_SKILLS: usize = 1_000;
/// Maximum number of bytes read from a `.git` or `commondir` file, which holds one path.
pub(crate) const MAX_POINTER: u64 = 16 << 10;

/// Maximum size of a repository's settings file in bytes.
pub(crate) const MAX_GIT_SETTINGS: u64 = 256 << 10;

/// Maximum number of remotes on this machine that are followed, from a clone to the repository that it was made from.
pub(crate) const MAX_REMOTES: usize = 8;

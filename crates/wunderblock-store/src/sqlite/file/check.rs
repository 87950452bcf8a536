//! Checks of the file's structure and of the ledger's counters.

use crate::sqlite::file::open::standing;
use crate::sqlite::file::place::{beside, link_count, open_to_others};
use crate::sqlite::file::schema;
use crate::sqlite::sql::rows;
use crate::{FileProblem, StoreError};
use rusqlite::Connection;
use std::path::Path;

/// Rule violated by a ledger that anyone other than its owner can read.
pub const OPEN_TO_OTHERS: &str = "only its owner can read the ledger";
/// Rule violated by a file with several hard links.
const ONE_NAME: &str = "the file has one name";
/// Rule violated by erased content that may still be in the files.
pub const UNSCRUBBED: &str = "nothing of erased content is left in the files";

/// Rule violated by a trigger, a view or another object that does not belong to the format, or that differs from it.
pub(in crate::sqlite) const SCHEMA: &str = "the schema is that of the format";

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Problems found.
    pub found: Vec<FileProblem>,
}

impl Checked {
    /// Returns whether the file has another schema than the format, so that queries may fail.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.found.iter().any(|problem| problem.rule == SCHEMA)
    }
}

/// Each rule: its text, whether it concerns derived data, and a query that returns its violations.
const RULES: [(&str, bool, &str); 10] = [
    (
        "positions are gapless",
        false,
        "SELECT 'session ' || s.id || ': ' || count(e.seq) || ' events for positions ' || (s.base + 1) || ' to ' || s.head
         FROM streams s LEFT JOIN events e ON e.tenant = s.tenant AND e.stream = s.stream
         GROUP BY s.stream HAVING count(e.seq) <> s.head - s.base
             OR (count(e.seq) > 0 AND (min(e.seq) <> s.base + 1 OR max(e.seq) <> s.head))",
    ),
    (
        "events belong to a session",
        false,
        "SELECT 'stream ' || e.stream || ' of tenant ' || e.tenant || ' has events and no row' FROM events e
         LEFT JOIN streams s ON s.stream = e.stream AND s.tenant = e.tenant WHERE s.stream IS NULL
         GROUP BY e.tenant, e.stream",
    ),
    (
        "forks begin within their parent",
        false,
        "SELECT 'session ' || s.id || ' forks at ' || s.base FROM streams s LEFT JOIN streams p ON p.stream = s.fork_of
         WHERE s.fork_of IS NOT NULL AND (p.stream IS NULL OR p.tenant <> s.tenant OR s.base > p.head OR s.base < p.base)",
    ),
    (
        "references lead to bodies",
        false,
        "SELECT 'position ' || r.seq || ' of stream ' || r.stream || ' refers to body ' || r.blob FROM refs r
         LEFT JOIN blobs b ON b.blob = r.blob AND b.tenant = r.tenant WHERE b.blob IS NULL",
    ),
    (
        "bodies are referred to",
        false,
        "SELECT 'body ' || b.blob || ' belongs to no event' FROM blobs b
         LEFT JOIN refs r ON r.tenant = b.tenant AND r.blob = b.blob WHERE r.blob IS NULL",
    ),
    (
        "sources are complete",
        false,
        "SELECT 'source ' || s.key || ': revision ' || s.revision || ' is not there' FROM sources s
         LEFT JOIN source_revisions r ON r.source = s.source AND r.revision = s.revision WHERE r.source IS NULL",
    ),
    (
        "sources have no gaps",
        false,
        "SELECT 'source ' || s.key || ', revision ' || r.revision || ': ' || coalesce(sum(c.len), 0) || ' of '
            || (r.len - r.shared) || ' bytes' FROM source_revisions r JOIN sources s ON s.source = r.source
         LEFT JOIN source_chunks c ON c.source = r.source AND c.revision = r.revision
         GROUP BY r.source, r.revision HAVING coalesce(sum(c.len), 0) <> r.len - r.shared",
    ),
    (
        "tallies reach as far as stated",
        true,
        "SELECT 'session ' || s.id || ': counted to ' || f.seq || ', tallied ' || count(t.seq) FROM streams s
         JOIN frontiers f ON f.stream = s.stream AND f.what = 0
         LEFT JOIN tallies t ON t.tenant = s.tenant AND t.stream = s.stream
         GROUP BY s.stream HAVING count(t.seq) <> f.seq - s.base OR f.seq > s.head",
    ),
    (
        "the index reaches as far as stated",
        true,
        "SELECT 'session ' || s.id || ': indexed to ' || f.seq FROM streams s
         JOIN frontiers f ON f.stream = s.stream AND f.what > 0 WHERE f.seq > s.head",
    ),
    (
        "each stream has its frontiers",
        true,
        "SELECT 'stream ' || s.id || ': ' || count(f.what) || ' frontiers' FROM streams s
         LEFT JOIN frontiers f ON f.stream = s.stream AND f.tenant = s.tenant AND f.behind = (f.seq < s.head)
         GROUP BY s.stream HAVING count(f.what) < 3",
    ),
];

pub(in crate::sqlite) fn check(db: &Connection, path: &Path) -> Result<Checked, StoreError> {
    let mut checked = Checked::default();
    for file in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        if let Some(mode) = open_to_others(&file) {
            let detail = format!("{} has mode {mode:04o}, expected 0600", file.display());
            checked.found.push(FileProblem { rule: OPEN_TO_OTHERS, detail, derived: true });
        }
    }
    if standing(db)?.unscrubbed > 0 {
        let log = beside(path, "-wal");
        let detail = format!("erased content may still be in {} or in free pages", log.display());
        checked.found.push(FileProblem { rule: UNSCRUBBED, detail, derived: true });
    }
    let links = path.metadata().map_or(1, |meta| link_count(&meta));
    if links > 1 {
        let detail = StoreError::Linked { path: path.display().to_string(), links }.to_string();
        checked.found.push(FileProblem { rule: ONE_NAME, detail, derived: false });
    }
    // The limits here and below keep the report on a badly damaged ledger short.
    let pages = rows(db, "PRAGMA integrity_check(20)", [], |row| row.get::<_, String>(0))?;
    checked.found.extend(pages.into_iter().filter(|line| line != "ok").map(|detail| FileProblem {
        rule: "the file's pages are sound",
        detail,
        derived: false,
    }));
    let schema = schema::differences(db)?.into_iter().take(100);
    checked.found.extend(schema.map(|detail| FileProblem { rule: SCHEMA, detail, derived: false }));
    let is_foreign = checked.is_foreign();
    for (rule, derived, sql) in RULES {
        let broken = match rows(db, &format!("{sql} LIMIT 100"), [], |row| row.get::<_, String>(0)) {
            // A query fails if its table is not what it should be, which is reported above.
            Err(_) if is_foreign => continue,
            broken => broken?,
        };
        checked.found.extend(broken.into_iter().map(|detail| FileProblem { rule, detail, derived }));
    }
    Ok(checked)
}

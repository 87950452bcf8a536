//! Overwriting the free bytes inside SQLite's pages.
//!
//! `secure_delete` overwrites deleted rows and freed pages. But when SQLite moves rows to another page, the old page
//! keeps a copy in its free space, and a later deletion does not reach that copy. In a test of 6,000 inserts, 0.2 to
//! 0.5 % of erased rows left a copy in free space. After an erasure, every page of every table and index is therefore
//! read, and its free space overwritten.

use crate::StoreError;
use crate::sqlite::failure::{StoreResult, failure};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

/// Overwrites all free bytes of tables and indexes. Returns false if another process is writing.
pub(in crate::sqlite) fn wipe(connection: &mut Connection) -> StoreResult<bool> {
    let done = if has_pages(connection)? { wipe_pages(connection) } else { rewrite(connection) };
    match done {
        Err(StoreError::Locked) => Ok(false),
        other => other.map(|()| true),
    }
}

/// Returns whether SQLite was built with the `sqlite_dbpage` table.
fn has_pages(connection: &Connection) -> StoreResult<bool> {
    let sql = "SELECT 1 FROM pragma_module_list WHERE name = 'sqlite_dbpage'";
    let found = connection.query_row(sql, [], |_| Ok(())).optional().map_err(|error| failure(&error))?;
    Ok(found.is_some())
}

/// Rewrites the whole file. This is needed only if SQLite has no `sqlite_dbpage` table.
fn rewrite(connection: &Connection) -> StoreResult<()> {
    connection.execute_batch("VACUUM").map_err(|error| failure(&error))
}

fn wipe_pages(connection: &mut Connection) -> StoreResult<()> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| failure(&error))?;
    let roots = "SELECT rootpage FROM sqlite_master WHERE rootpage > 0";
    let mut pages: Vec<u32> = crate::sqlite::sql::rows(&transaction, roots, [], |row| row.get(0))?;
    // `sqlite_master` does not list its own root, page 1.
    pages.push(1);
    while let Some(number) = pages.pop() {
        let sql = "SELECT data FROM sqlite_dbpage WHERE pgno = ?1";
        let page = crate::sqlite::sql::row(&transaction, sql, [number], |row| row.get::<_, Vec<u8>>(0))?;
        let mut page = page.ok_or_else(|| damaged(number))?;
        let free = BtreePage::read(&page, number).ok_or_else(|| damaged(number))?;
        pages.extend(free.children);
        let mut changed = false;
        for (from, to) in free.gaps {
            let Some(bytes) = page.get_mut(from..to) else { continue };
            if bytes.iter().any(|byte| *byte != 0) {
                bytes.fill(0);
                changed = true;
            }
        }
        if changed {
            let sql = "UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1";
            crate::sqlite::sql::run(&transaction, sql, rusqlite::params![number, page])?;
        }
    }
    transaction.commit().map_err(|error| failure(&error))
}

fn damaged(page: u32) -> StoreError {
    StoreError::Damaged(format!("page {page} cannot be read as part of a table"))
}

/// A page of a table or index in SQLite's file format.
struct BtreePage {
    /// Unused byte ranges.
    gaps: Vec<(usize, usize)>,
    /// Numbers of the child pages.
    children: Vec<u32>,
}

impl BtreePage {
    fn read(page: &[u8], number: u32) -> Option<Self> {
        let two = |at: usize| Some(usize::from(u16::from_be_bytes(page.get(at..at + 2)?.try_into().ok()?)));
        let four = |at: usize| Some(u32::from_be_bytes(page.get(at..at + 4)?.try_into().ok()?));
        // Page 1 begins with the file header of 100 bytes.
        let header = if number == 1 { 100 } else { 0 };
        // Page types: 2 and 5 are interior pages of indexes and tables, 10 and 13 their leaves.
        let inner = match page.get(header)? {
            2 | 5 => true,
            10 | 13 => false,
            _ => return None,
        };
        let cells = two(header + 3)?;
        let pointers = header + if inner { 12 } else { 8 };
        // The format stores 65,536 as 0.
        let content = match two(header + 5)? {
            0 => 65_536,
            content => content,
        };
        let mut gaps = vec![(pointers + 2 * cells, content.min(page.len()))];
        // The first four bytes of a free block are the offset of the next block and the length of this one. Offsets
        // must increase, which ends the loop on damaged pages.
        let (mut block, mut last) = (two(header + 1)?, 0);
        while block > last {
            gaps.push((block + 4, block + two(block + 2)?));
            (last, block) = (block, two(block)?);
        }
        let mut children = Vec::new();
        if inner {
            for cell in 0..cells {
                children.push(four(two(pointers + 2 * cell)?)?);
            }
            children.push(four(header + 8)?);
        }
        Some(Self { gaps, children })
    }
}

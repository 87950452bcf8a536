//! Search in documents that are not indexed yet. They are scanned and ranked like the indexed ones.

use super::ground::Ground;
use super::options::Task;
use crate::base::error::Error;
use crate::ledger::reading::stored::read_page;
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS};
use crate::recall::document::Document;
use crate::recall::scan::{LongBodies, Scan, facts_of};
use wunderblock_index::Tail;
use wunderblock_store::{Answer, DerivedTable, Query};

/// Documents that were scanned for a query.
pub(super) struct Waiting {
    /// Those that contain a word of the query.
    pub(super) tail: Tail,
    /// Number of documents.
    pub(super) scanned: u64,
    /// Whether the deadline has passed before all of them were scanned.
    pub(super) late: bool,
}

/// Scans the documents that are not indexed yet.
pub(super) async fn scan(task: &Task<'_>, ground: &Ground) -> Result<Waiting, Error> {
    let (engine, deadline) = (task.engine, &task.options.deadline);
    let scan = Scan { words: task.words(), redactor: &engine.config.redactor, key: &engine.tenant.key };
    let (mut tails, mut scanned, mut late) = (Vec::new(), 0, false);
    for info in &ground.behind {
        let mut from = info.reach(DerivedTable::Words).next();
        while from <= info.head {
            late = late || deadline.is_over();
            if late {
                break;
            }
            let _turn = deadline.turn().await;
            let rows = read_page(engine, info, from, CATCH_UP_EVENTS, CATCH_UP_BYTES).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { break };
            from = last.next();
            let facts = facts_of(engine, &info.id, &rows)?;
            let documents: Vec<Document<'_>> =
                facts.iter().filter_map(|(place, fact)| Document::of(*place, fact)).collect();
            scanned += documents.len() as u64;
            let texts = documents.iter().flat_map(|document| &document.texts);
            let handles = texts.filter_map(|text| text.body.handle()).collect();
            let blobs = engine.ask(Query::Blobs { tenant: engine.tenant.no, handles }, Answer::blobs).await?;
            let packed = blobs.into_iter().flatten().map(|blob| (blob.handle, blob)).collect();
            tails.push(scan.documents(&documents, LongBodies::Packed(&packed))?);
        }
    }
    Ok(Waiting { tail: scan.join(tails)?, scanned, late })
}

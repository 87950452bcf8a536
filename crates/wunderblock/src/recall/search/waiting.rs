//! Search in documents that are not indexed yet. They are scanned and ranked like the indexed ones.

use super::ground::Ground;
use super::task::Task;
use crate::base::error::Error;
use crate::ledger::reading::stored::read_page;
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS};
use crate::recall::document::Document;
use crate::recall::scan::{Lacking, LongBodies, Scan, facts_of};
use wunderblock_index::{PassageKey, Tail};
use wunderblock_store::{Answer, DerivedTable, Query};

/// Documents that were scanned for a query.
pub(super) struct Waiting {
    /// Those that contain a word of the query.
    pub(super) tail: Tail,
    /// Similarity of each of their passages to the question, and of those that are indexed and have no vectors yet.
    pub(super) similar: Vec<(PassageKey, u16)>,
    /// Number of documents.
    pub(super) scanned: u64,
    /// Whether the deadline has passed before all of them were scanned.
    pub(super) late: bool,
}

/// Scans the documents that are not indexed yet.
pub(super) async fn scan(task: &Task<'_>, ground: &Ground) -> Result<Waiting, Error> {
    let (engine, deadline) = (task.engine, &task.options.deadline);
    let scan = Scan { words: task.words(), redactor: &engine.config.redactor, key: &engine.tenant.key };
    let (mut tails, mut similar, mut scanned, mut late) = (Vec::new(), Vec::new(), 0, false);
    let meaning = task.meaning.as_ref().filter(|_| ground.compares(task));
    // The table embeds what waits.
    let asked = meaning.and_then(|meaning| meaning.table.as_ref());
    for info in &ground.behind {
        let (words, vectors) = (info.reach(DerivedTable::Words), info.reach(DerivedTable::Vectors));
        let mut from = (if asked.is_some() { words.min(vectors) } else { words }).next();
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
            scanned += documents.iter().filter(|document| document.key.seq > words.0).count() as u64;
            let texts = documents.iter().flat_map(|document| &document.texts);
            let handles = texts.filter_map(|text| text.body.handle()).collect();
            let blobs = engine.ask(Query::Blobs { tenant: engine.tenant.no, handles }, Answer::blobs).await?;
            let packed = blobs.into_iter().flatten().map(|blob| (blob.handle, blob)).collect();
            let lacking = Lacking { indexed: words.0, meaning: asked.map(|asked| (asked, vectors.0)) };
            let found = scan.documents(&documents, LongBodies::Packed(&packed), lacking)?;
            tails.push(found.tail);
            similar.extend(found.similar);
        }
    }
    Ok(Waiting { tail: scan.join(tails)?, similar, scanned, late })
}

//! Checks every invariant of a ledger in one pass.

mod claims;
pub(crate) mod diagnosis;
mod notes;
mod summaries;

use claims::examine_claims;
use diagnosis::{Diagnosis, DoctorNote, PAGE_TEXT, Problem};
#[cfg(feature = "sqlite")]
use notes::notes_on_copies;
use notes::{VectorCoverage, notes_on};
use summaries::examine_nodes;

use crate::base::error::Error;
use crate::base::parallel::pause;
use crate::ledger::engine::Engine;
use crate::ledger::ledger_file::UNSCRUBBED;
use crate::ledger::reading::originals::{copy_source, list_revisions};
use crate::ledger::reading::query_batch::QueryBatch;
use crate::ledger::reading::stored::{decode_event, read_page};
use crate::recall::catch_up::Progress;
use crate::recall::catch_up::join::read_segment;
use crate::recall::document::is_document;
use crate::rules::tokens::Counted;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Body, Part, count_lines};
use wunderblock_core::units::Bytes;
use wunderblock_index::{Header, PassageKey, VectorHeader, join_vectors, verify};
use wunderblock_store::{
    Answer, BodyCount, DerivedTable, Query, SourceInfo, StoredEvent, StreamInfo, StreamKind, codec,
};

/// Maximum events per page.
const PAGE_EVENTS: u64 = 1_024;

/// Examines the ledger's file and the data of all its tenants.
///
/// # Errors
/// See [`Maintenance::doctor`](crate::Maintenance::doctor).
pub(crate) async fn examine_all(
    engine: &Engine,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Diagnosis, Error> {
    examine(engine, &engine.every_tenant().await?, progress).await
}

/// Examines the ledger's file and the data of some tenants.
///
/// The first examination reads page by page and holds nothing up. While others write, its pages may not suit each other,
/// so anything that it finds is reported only if a second one, in one snapshot, finds it.
pub(crate) async fn examine(
    engine: &Engine,
    whose: &[Engine],
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Diagnosis, Error> {
    let first = examine_once(engine, whose, progress).await;
    if first.as_ref().is_ok_and(|diagnosis| diagnosis.problems.is_empty()) {
        return first;
    }
    let snapshot = engine.file.as_ref().and_then(|file| file.snapshot().ok());
    let Some(storage) = snapshot else { return first };
    let at_once = |engine: &Engine| Engine { storage: Arc::clone(&storage), ..engine.clone() };
    let whose: Vec<Engine> = whose.iter().map(at_once).collect();
    let second = examine_once(engine, &whose, progress).await;
    // The erasure that is waited for waits for the end of the snapshot.
    drop((whose, storage));
    let mut diagnosis = second?;
    wait_for_erasure(engine, &mut diagnosis).await?;
    Ok(diagnosis)
}

/// Maximum time that an examination waits for an erasure to remove the last copies of what it erased.
const ERASING: Duration = Duration::from_secs(3);
/// Pause between two looks at the erasure.
const PAUSE: Duration = Duration::from_millis(50);

/// Replaces the problem of erased content that is still in the files by a note, if an erasure in progress removes it.
async fn wait_for_erasure(engine: &Engine, diagnosis: &mut Diagnosis) -> Result<(), Error> {
    let Some(file) = &engine.file else { return Ok(()) };
    if !diagnosis.problems.iter().any(|problem| problem.rule == UNSCRUBBED) {
        return Ok(());
    }
    let (before, end) = (file.unscrubbed().await?, Instant::now() + ERASING);
    let is_moving = loop {
        if before == 0 || file.unscrubbed().await? != before {
            break true;
        }
        if Instant::now() > end {
            break false;
        }
        pause(PAUSE).await?;
    };
    if is_moving {
        diagnosis.problems.retain(|problem| problem.rule != UNSCRUBBED);
        let text = "an erasure is in progress in another process".to_owned();
        diagnosis.notes.push(DoctorNote { text, tenant: engine.config.tenant.clone() });
    }
    Ok(())
}

async fn examine_once(
    engine: &Engine,
    whose: &[Engine],
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Diagnosis, Error> {
    let (mut diagnosis, mut is_foreign) = (Diagnosis::default(), false);
    if let Some(file) = &engine.file {
        diagnosis.path = Some(file.path().to_owned());
        diagnosis.bytes = file.path().metadata().map_or(0, |meta| meta.len());
        let checked = file.check().await?;
        is_foreign = checked.is_foreign();
        for found in checked.found {
            let (rule, detail, derived) = (found.rule, found.detail, found.derived);
            diagnosis.problems.push(Problem { rule, detail, derived, tenant: None });
        }
    }
    match examine_tenants(whose, &mut diagnosis, progress).await {
        // Queries of a schema that is not the format's may fail; the schema is reported already.
        Err(_) if is_foreign => Ok(diagnosis),
        examined => examined.map(|()| diagnosis),
    }
}

async fn examine_tenants(
    whose: &[Engine],
    diagnosis: &mut Diagnosis,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(), Error> {
    let mut all = Vec::new();
    for engine in whose {
        all.push((engine, engine.every_stream().await?));
    }
    // A damaged row may hold any number, so the total saturates.
    let events = |info: &StreamInfo| info.head.0.saturating_sub(info.base().0);
    let total = all.iter().flat_map(|(_, streams)| streams).map(events).fold(0, u64::saturating_add);
    for (engine, streams) in all {
        let known = diagnosis.problems.len();
        examine_tenant(engine, &streams, diagnosis, progress, total).await?;
        let tenant = &engine.config.tenant;
        for problem in diagnosis.problems.iter_mut().skip(known) {
            problem.tenant = Some(tenant.clone());
        }
        diagnosis.tenants.push(tenant.clone());
        let of = |kind| streams.iter().filter(|info| info.kind == kind).count() as u64;
        diagnosis.sessions += of(StreamKind::Session);
        diagnosis.documents += of(StreamKind::Document);
    }
    progress(Progress { done: total, total });
    Ok(())
}

async fn examine_tenant(
    engine: &Engine,
    streams: &[StreamInfo],
    diagnosis: &mut Diagnosis,
    progress: &mut (dyn FnMut(Progress) + Send),
    total: u64,
) -> Result<(), Error> {
    for info in streams {
        examine_stream(engine, info, diagnosis).await?;
        examine_nodes(engine, info, info.base(), diagnosis).await?;
        examine_claims(engine, info, info.base(), diagnosis).await?;
        let notes = notes_on(engine, info, streams).await?;
        let tenant = &engine.config.tenant;
        diagnosis.notes.extend(notes.into_iter().map(|text| DoctorNote { text, tenant: tenant.clone() }));
        progress(Progress { done: diagnosis.events, total });
    }
    #[cfg(feature = "sqlite")]
    for text in notes_on_copies(engine).await? {
        diagnosis.notes.push(DoctorNote { text, tenant: engine.config.tenant.clone() });
    }
    let unsettled = Query::Unsettled { tenant: engine.tenant.no, of: StreamKind::Session, limit: 1 };
    for (stream, seq) in engine.ask(unsettled, Answer::holders).await? {
        diagnosis.stale("authors are settled", format!("position {seq} of stream {} has none", stream.0));
    }
    for info in list_revisions(engine).await? {
        examine_source(engine, &info, diagnosis).await?;
    }
    examine_index(engine, streams, diagnosis).await
}

async fn examine_stream(engine: &Engine, info: &StreamInfo, diagnosis: &mut Diagnosis) -> Result<(), Error> {
    let mut from = info.base().next();
    let mut expected = from;
    while from <= info.head {
        let rows = read_page(engine, info, from, PAGE_EVENTS, PAGE_TEXT).await?;
        let Some(last) = rows.last().map(|row| row.seq) else { break };
        let mut handles = Vec::new();
        let mut facts = Vec::with_capacity(rows.len());
        for row in &rows {
            if row.seq != expected {
                diagnosis.found(
                    "positions are gapless",
                    format!("{}: {} after {}", info.id, row.seq, expected.prev()),
                );
            }
            expected = row.seq.next();
            diagnosis.events += 1;
            match decode_event(engine, &info.id, row) {
                Ok(event) => {
                    handles.extend(event.fact.iter().flat_map(Fact::bodies).filter_map(Body::handle));
                    facts.push((row, event.fact));
                }
                Err(error) => {
                    diagnosis
                        .found("records can be read", format!("{} position {}: {error}", info.id, row.seq));
                }
            }
        }
        examine_counts(engine, info, &facts, diagnosis).await?;
        let texts = examine_bodies(engine, &info.id, handles, diagnosis).await?;
        for (row, fact) in facts {
            examine_event(&info.id, row, fact, &texts, diagnosis);
        }
        from = last.next();
    }
    Ok(())
}

/// Checks the running token sums against the stored count of each body, and against a new count of each short text.
async fn examine_counts(
    engine: &Engine,
    info: &StreamInfo,
    facts: &[(&StoredEvent, Option<Fact>)],
    diagnosis: &mut Diagnosis,
) -> Result<(), Error> {
    let counted: Vec<_> =
        facts.iter().filter(|(row, _)| row.seq <= info.reach(DerivedTable::Counts)).collect();
    let Some((first, _)) = counted.first() else { return Ok(()) };
    let parts = |fact: &Option<Fact>| counted_bodies(fact).into_iter().cloned().collect::<Vec<Body>>();
    let bodies: Vec<Vec<Body>> = counted.iter().map(|(_, fact)| parts(fact)).collect();
    let handles: Vec<Handle> = bodies.iter().flatten().filter_map(Body::handle).collect();
    let seqs = std::iter::once(first.seq.prev()).chain(counted.iter().map(|(row, _)| row.seq)).collect();
    let (tenant, stream) = (engine.tenant.no, info.id.clone());
    let mut batch = QueryBatch::default();
    let tallies = batch.ask(Query::Tallies { tenant, stream, seqs }, Answer::tallies);
    let counts = batch.ask(Query::Counts { tenant, handles: handles.clone() }, Answer::counts);
    let mut answers = engine.ask_all(batch).await?;
    let (tallies, counts) = (answers.take(tallies)?, answers.take(counts)?);
    let counts: HashMap<Handle, Option<BodyCount>> = handles.into_iter().zip(counts).collect();
    for (((row, fact), bodies), pair) in counted.iter().zip(&bodies).zip(tallies.windows(2)) {
        let own = |body: &Body| match body {
            Body::Inline(text) => Some(u64::from(Counted::of(text).o200k)),
            Body::Blob { blob, .. } => counts.get(blob).copied().flatten().map(|count| count.o200k.into()),
        };
        let sum: Option<u64> = bodies.iter().map(own).sum();
        let [before, after] = pair else { continue };
        let stated = after.tokens.zip(before.tokens).map(|(after, before)| after.0.checked_sub(before.0));
        // Erased content stays in the sums, but its share can no longer be determined.
        if fact.is_some() && stated.is_none_or(|stated| stated.is_none() || stated != sum) {
            let detail = format!("{} position {}: {stated:?} stated, {sum:?} counted", info.id, row.seq);
            diagnosis.stale("tallies are what was counted", detail);
        }
    }
    Ok(())
}

/// Reads bodies and checks them against their hashes and handles.
async fn examine_bodies(
    engine: &Engine,
    stream: &StreamId,
    handles: Vec<Handle>,
    diagnosis: &mut Diagnosis,
) -> Result<crate::ledger::texts::Texts, Error> {
    let query = Query::Blobs { tenant: engine.tenant.no, handles: handles.clone() };
    let blobs = engine.ask(query, Answer::blobs).await?;
    let mut texts = crate::ledger::texts::Texts::default();
    for (handle, blob) in handles.into_iter().zip(blobs) {
        let Some(blob) = blob else {
            diagnosis.found("bodies are there", format!("{stream}: {handle} is missing"));
            continue;
        };
        diagnosis.bodies += 1;
        match codec::unpack_text(&blob.data) {
            Ok(text) => {
                let hash = codec::body_hash(&engine.tenant.key, text.as_bytes());
                if hash != blob.hash || codec::handle(&hash) != handle {
                    diagnosis
                        .found("bodies are what was stored", format!("{stream}: {handle} has other content"));
                }
                texts.insert(handle, text);
            }
            Err(error) => diagnosis.found("bodies can be read", format!("{stream}: {handle}: {error}")),
        }
    }
    Ok(texts)
}

/// Checks an event's content against its commitment.
fn examine_event(
    stream: &StreamId,
    row: &StoredEvent,
    fact: Option<Fact>,
    texts: &crate::ledger::texts::Texts,
    diagnosis: &mut Diagnosis,
) {
    use wunderblock_core::ports::Bodies;
    let Some(mut fact) = fact else { return };
    for body in fact.bodies_mut() {
        if let Body::Blob { blob, bytes, lines } = body {
            let Some(text) = texts.text(*blob) else { return };
            if text.len() as u64 != bytes.0 || count_lines(text) != *lines {
                let detail = format!("{stream} position {}: {blob} is not as long as stated", row.seq);
                diagnosis.found("bodies are as stated", detail);
            }
            // The commitment covers the text itself, whether it is stored inline or as a blob.
            *body = Body::Inline(text.to_owned());
        }
    }
    let Some((salt, proof)) = row.proof else { return };
    let holds = codec::content_hash(&fact).is_ok_and(|content| codec::commitment(&salt, &content) == proof);
    if !holds {
        let detail = format!("{stream} position {} has other content than was committed to", row.seq);
        diagnosis.found("events are what was appended", detail);
    }
}

async fn examine_source(engine: &Engine, info: &SourceInfo, diagnosis: &mut Diagnosis) -> Result<(), Error> {
    let revision = &info.revision;
    let mut hasher = Hashing(blake3::Hasher::new());
    let copied = match copy_source(engine, info, 0, revision.len, &mut hasher).await {
        Ok(copied) => copied,
        Err(error) => {
            diagnosis.found("sources can be read", format!("{}: {error}", info.key));
            return Ok(());
        }
    };
    diagnosis.source_bytes += copied;
    // A revision with erasures no longer matches the hash of the imported file.
    let stated = revision.hash.filter(|_| revision.erased.is_empty());
    let differs = stated.is_some_and(|stated| *hasher.0.finalize().as_bytes() != stated);
    if copied != revision.len || differs {
        diagnosis.found(
            "sources are what was imported",
            format!("{}, revision {}, differs from the imported file", info.key, revision.no),
        );
    }
    Ok(())
}

async fn examine_index(
    engine: &Engine,
    streams: &[StreamInfo],
    diagnosis: &mut Diagnosis,
) -> Result<(), Error> {
    let segments = engine
        .ask(Query::Segments { tenant: engine.tenant.no, table: DerivedTable::Words }, Answer::segments)
        .await?;
    let mut indexed: HashSet<(u32, u64)> = HashSet::new();
    for info in segments {
        let segment = read_segment(engine, info.id, info.header.clone()).await?;
        if let Err(error) = verify(&segment) {
            diagnosis.stale("the index can be read", format!("segment {}: {error}", info.id));
            continue;
        }
        if let Ok(header) = Header::decode(&info.header) {
            for key in header.docs() {
                if !indexed.insert((key.stream, key.seq)) {
                    let detail = format!("position {} of stream {} is indexed twice", key.seq, key.stream);
                    diagnosis.stale("events are indexed once", detail);
                }
            }
        }
    }
    for info in streams {
        let own = |seq: &u64| *seq > info.base().0 && *seq <= info.reach(DerivedTable::Words).0;
        let here = indexed.iter().filter(|(stream, seq)| *stream == info.no.0 && own(seq)).count() as u64;
        let messages = count_messages(engine, info).await?;
        if here != messages {
            let detail = format!("{}: {here} of {messages} texts are indexed", info.id);
            diagnosis.stale("the index is complete", detail);
        }
    }
    examine_vectors(engine, streams, &indexed, diagnosis).await
}

/// Examines the vectors. `indexed` are the documents of the text index.
async fn examine_vectors(
    engine: &Engine,
    streams: &[StreamInfo],
    indexed: &HashSet<(u32, u64)>,
    diagnosis: &mut Diagnosis,
) -> Result<(), Error> {
    let query = Query::Segments { tenant: engine.tenant.no, table: DerivedTable::Vectors };
    let reach = |info: &StreamInfo| (info.no.0, info.reach(DerivedTable::Words).0);
    let words: HashMap<u32, u64> = streams.iter().map(reach).collect();
    let mut coverage = VectorCoverage::of(engine, streams);
    let (mut embedded, mut covered) = (HashSet::new(), HashMap::<u32, u64>::new());
    for info in engine.ask(query, Answer::segments).await? {
        let segment = read_segment(engine, info.id, info.header.clone()).await?;
        let header = match VectorHeader::decode(&info.header) {
            Ok(header) => join_vectors(&[segment], |_| false).map(|_| header),
            Err(error) => Err(error),
        };
        let header = match header {
            Ok(header) => header,
            Err(error) => {
                diagnosis.stale("the vectors can be read", format!("segment {}: {error}", info.id));
                continue;
            }
        };
        coverage.add(&header);
        for range in header.ranges() {
            *covered.entry(range.stream).or_default() += range.through.saturating_sub(range.after);
        }
        for PassageKey { doc, part } in header.keys() {
            let place = format!("passage {part} at position {} of stream {}", doc.seq, doc.stream);
            if !embedded.insert((*doc, *part)) {
                diagnosis.stale("passages are embedded once", place.clone());
            }
            let is_reached = words.get(&doc.stream).is_some_and(|reach| doc.seq <= *reach);
            if is_reached && !indexed.contains(&(doc.stream, doc.seq)) {
                diagnosis.stale("vectors are those of texts", place);
            }
        }
    }
    for info in streams {
        let stated = info.reach(DerivedTable::Vectors).0.saturating_sub(info.base().0);
        let here = covered.get(&info.no.0).copied().unwrap_or_default();
        if here != stated {
            let detail = format!("{}: the vectors of {here} of {stated} events are there", info.id);
            diagnosis.stale("the vectors are complete", detail);
        }
    }
    let tenant = &engine.config.tenant;
    let notes = coverage.notes().into_iter().map(|text| DoctorNote { text, tenant: tenant.clone() });
    diagnosis.notes.extend(notes);
    Ok(())
}

/// Returns the number of messages and sections with content that an index up to the stated position must hold.
async fn count_messages(engine: &Engine, info: &StreamInfo) -> Result<u64, Error> {
    let mut count = 0;
    let mut from = info.base().next();
    while from <= info.reach(DerivedTable::Words) {
        let rows = read_page(engine, info, from, 4_096, Bytes(i64::MAX.unsigned_abs())).await?;
        let Some(last) = rows.last().map(|row| row.seq) else { break };
        let spoken =
            rows.iter().filter(|row| row.seq <= info.reach(DerivedTable::Words) && is_document(&row.kind));
        count += spoken.filter(|row| row.payload.is_some()).count() as u64;
        from = last.next();
    }
    Ok(count)
}

/// Returns the bodies of an event that count towards the token sums.
fn counted_bodies(fact: &Option<Fact>) -> Vec<&Body> {
    let Some(Fact::MessageAppended(said)) = fact else { return Vec::new() };
    let leaves = said.message.parts.iter().flat_map(Part::leaves);
    leaves.filter(|(part, _)| !part.is_data()).map(|(_, body)| body).collect()
}

/// Writer that hashes everything written to it.
struct Hashing(blake3::Hasher);

impl std::io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

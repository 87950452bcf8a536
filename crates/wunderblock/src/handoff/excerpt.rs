//! Entries of a parent's conversation for a slice, the most wanted first.

use super::handed::{Handoff, ParentRequest};
use crate::error::Error;
use crate::query_batch::NEWEST;
use crate::request::recall::{largest_text, names, role_words};
use crate::store::{Answer, EventFilter, Query, ReadOrder};
use crate::stored::decode_event;
use wunderblock_core::authority::Authority;
use wunderblock_core::decision::Injection;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::fence::plain;
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_core::view::View;

/// Maximum number of entries that are read for a range of positions.
const RANGE_ENTRIES: u64 = 512;
/// Maximum number of entries that are read for a file.
const FILE_ENTRIES: u64 = 64;
/// Maximum number of newest entries that are read.
const NEWEST_ENTRIES: u64 = 64;
/// Maximum number of bytes of text that are read at a time.
const READ_BYTES: Bytes = Bytes(8 << 20);

/// Returns the entries for a slice, without those that a person hid: the given positions, the newest entries about the
/// given files and those that the brief names, and the newest entries if they are wanted.
pub(super) async fn pieces(
    parent: &ParentRequest<'_>,
    handoff: &Handoff<'_>,
) -> Result<Vec<Injection>, Error> {
    let mut slice = Slicing { parent, pieces: Vec::new() };
    for (from, to) in &handoff.excerpt.positions {
        let head = parent.session.info().await?.head;
        if *from > head || from > to {
            return Err(Error::Config(format!(
                "invalid positions {from}–{to}: the session's positions are 1 to {head}"
            )));
        }
        let source = Source {
            range: (*from, *to),
            order: ReadOrder::Ascending,
            filter: EventFilter::default(),
            limit: RANGE_ENTRIES,
        };
        slice.read(source, "its position was given").await?;
    }
    let mut paths = handoff.excerpt.paths.clone();
    paths.extend(names(&parent.message).into_iter().filter(|name| is_path(name)));
    for path in paths {
        let filter = EventFilter { path: Some(path.as_str().into()), ..EventFilter::default() };
        let why = format!("it is about {}", plain(&path));
        slice.read(Source::newest(filter, FILE_ENTRIES), &why).await?;
    }
    if handoff.wants_newest() {
        let source = Source::newest(EventFilter::default(), NEWEST_ENTRIES);
        slice.read(source, "one of the newest entries").await?;
    }
    Ok(slice.pieces)
}

fn is_path(name: &str) -> bool {
    !name.contains("://") && !name.starts_with("wb:")
}

/// Entries to read.
struct Source {
    range: (Seq, Seq),
    order: ReadOrder,
    filter: EventFilter,
    limit: u64,
}

impl Source {
    /// Returns the newest entries that a filter accepts, the newest first.
    const fn newest(filter: EventFilter, limit: u64) -> Self {
        Self { range: (Seq::START, NEWEST), order: ReadOrder::Descending, filter, limit }
    }
}

struct Slicing<'p> {
    parent: &'p ParentRequest<'p>,
    pieces: Vec<Injection>,
}

impl Slicing<'_> {
    /// Adds the entries of a range that a filter accepts, in the given order. An entry is added once.
    async fn read(
        &mut self,
        Source { range: (from, to), order, filter, limit }: Source,
        why: &str,
    ) -> Result<(), Error> {
        let session = self.parent.session;
        let (engine, stream) = (session.engine(), session.id());
        let tenant = engine.tenant.no;
        let (stream_id, text) = (stream.clone(), READ_BYTES);
        let query =
            Query::Events { tenant, stream: stream_id, from, to, order, limit, text, counts: false, filter };
        for row in engine.ask(query, Answer::events).await? {
            let event = decode_event(engine, stream, &row)?;
            if let Some(piece) = self.piece(&event, why)
                && !self.pieces.iter().any(|had| had.from_seq == piece.from_seq || had.body == piece.body)
            {
                self.pieces.push(piece);
            }
        }
        Ok(())
    }

    fn piece(&self, event: &Event, why: &str) -> Option<Injection> {
        let Some(Fact::MessageAppended(said)) = &event.fact else { return None };
        let planned = &self.parent.built.draft.planned;
        let view = &planned.decision.view;
        if !said.message.standing.is_sendable() || view.hidden().contains(&event.seq) {
            return None;
        }
        let whole = largest_text(&said.message)?;
        // The delegate sees a text as its parent does: shortened, with marks that lead to the rest.
        let of_part = |(index, part): (usize, &Part)| {
            let is_it = part.bodies().contains(&&whole);
            view.standing((event.seq, index)).filter(|_| is_it)
        };
        let shorter = said.message.parts.iter().enumerate().find_map(of_part);
        let shorter = shorter.and_then(|at| planned.texts.of(view.reduced(at)?));
        Some(Injection {
            section: Section::Recall,
            authority: Authority::Data,
            from_stream: Some(event.stream.clone()),
            from_seq: event.seq,
            body: shorter.map_or(whole, |text| Body::Inline(text.to_owned())),
            what: describe(&said.message, event.seq, view),
            why: why.into(),
        })
    }
}

/// Returns the call that a result answers, or else who speaks.
fn describe(said: &Message, seq: Seq, view: &View) -> Box<str> {
    let gist = said.parts.iter().find_map(|part| match part {
        Part::ToolResult { call, .. } => view.gist(call, seq),
        _ => None,
    });
    gist.map_or_else(|| role_words(said).into(), |gist| plain(gist).into())
}

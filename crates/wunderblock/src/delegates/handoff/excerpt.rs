//! Entries of a parent's conversation for a slice, the most wanted first.

use super::handed::{Handoff, ParentRequest};
use crate::base::error::Error;
use crate::ledger::reading::query_batch::NEWEST;
use crate::ledger::reading::stored::decode_event;
use crate::request::named::names::{NameKind, names};
use crate::request::steps::candidates::{largest_text, role_words};
use wunderblock_core::authority::Authority;
use wunderblock_core::decision::Injection;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::fence::plain;
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_core::view::View;
use wunderblock_store::{Answer, EventFilter, Query, ReadOrder};

/// Maximum number of positions in a range.
const RANGE_ENTRIES: u64 = 512;
/// Maximum number of entries about a file, the newest ones.
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
        slice.range(*from, *to).await?;
    }
    let mut paths = handoff.excerpt.paths.clone();
    let named = names(&parent.message).into_iter().filter(|name| name.kind == NameKind::Path);
    paths.extend(named.map(|name| name.text));
    for path in paths {
        let filter = EventFilter { path: Some(path.as_str().into()), ..EventFilter::default() };
        let why = format!("it is about {}", plain(&path));
        slice.newest(filter, FILE_ENTRIES, &why).await?;
    }
    if handoff.wants_newest() {
        slice.newest(EventFilter::default(), NEWEST_ENTRIES, "one of the newest entries").await?;
    }
    Ok(slice.pieces)
}

struct Slicing<'p> {
    parent: &'p ParentRequest<'p>,
    pieces: Vec<Injection>,
}

impl Slicing<'_> {
    /// Adds the entries of a range of positions.
    async fn range(&mut self, from: Seq, to: Seq) -> Result<(), Error> {
        let head = self.parent.session.info().await?.head;
        let problem = |why: String| Err(Error::Config(format!("invalid positions {from}–{to}: {why}")));
        if from > head || from > to {
            return problem(format!("the session's positions are 1 to {head}"));
        }
        if to.min(head).0 - from.0 >= RANGE_ENTRIES {
            return problem(format!("a range has at most {RANGE_ENTRIES} positions"));
        }
        let before = self.pieces.len();
        let mut pages = self.parent.session.pages(from, to);
        while let Some(events) = pages.next().await? {
            events.iter().for_each(|event| self.add(event, "its position was given"));
        }
        if self.pieces.len() == before {
            return problem(
                "none of them has a text that is not hidden, erased or chosen already".to_owned(),
            );
        }
        Ok(())
    }

    /// Adds the newest entries that a filter accepts, the newest first.
    async fn newest(&mut self, filter: EventFilter, limit: u64, why: &str) -> Result<(), Error> {
        let session = self.parent.session;
        let (engine, stream) = (session.engine(), session.id());
        let query = Query::Events {
            tenant: engine.tenant.no,
            stream: stream.clone(),
            from: Seq::START,
            to: NEWEST,
            order: ReadOrder::Descending,
            limit,
            text: READ_BYTES,
            counts: false,
            filter,
        };
        for row in engine.ask(query, Answer::events).await? {
            self.add(&decode_event(engine, stream, &row)?, why);
        }
        Ok(())
    }

    /// Adds an entry, unless it is one already.
    fn add(&mut self, event: &Event, why: &str) {
        let is_same =
            |piece: &Injection, had: &Injection| had.from_seq == piece.from_seq || had.body == piece.body;
        if let Some(piece) = self.piece(event, why)
            && !self.pieces.iter().any(|had| is_same(&piece, had))
        {
            self.pieces.push(piece);
        }
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
        let shorter = shorter.and_then(|at| planned.texts.of(view.reductions().text(at)?));
        Some(Injection {
            section: Section::Recall,
            authority: Authority::Data,
            from_stream: Some(event.stream.clone()),
            from_seq: event.seq,
            body: shorter.map_or(whole, |text| Body::Inline(text.to_owned())),
            what: describe(&said.message, event.seq, view),
            why: why.into(),
            part_of: None,
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

//! What a recap or a digest is made of, read from the end of a session.

use crate::base::error::Error;
use crate::ledger::reading::stored::decode_event;
use crate::ledger::session::PageLimit;
use crate::ledger::session::Session;
use crate::ledger::texts::Texts;
use crate::request::steps::work::log_of;
use wunderblock_core::author::Author;
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::quote;
use wunderblock_core::state::ItemStatus;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_core::view::View;
use wunderblock_core::work::{DelegateAtWork, TodoItem, WorkLog};
use wunderblock_redact::Redactor;
use wunderblock_store::{Answer, EventFilter, Query, ReadOrder, StreamInfo};
use wunderblock_summary::plan_call;
use wunderblock_summary::standing::standing_rules;

/// How far back a session is read.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    /// Maximum number of events, and of bytes of their text, from which the work log is made.
    work: PageLimit,
    /// Maximum number of the user's messages, and of bytes of their text.
    words: PageLimit,
}

impl Reach {
    /// The user's words of the whole session, and the work of many hours.
    pub(super) const WHOLE: Self = Self {
        work: PageLimit { events: 4_096, text: Bytes(8 << 20) },
        words: PageLimit { events: 1_024, text: Bytes(2 << 20) },
    };
    /// The end of a session.
    pub(super) const END: Self = Self {
        work: PageLimit { events: 512, text: Bytes(1 << 20) },
        words: PageLimit { events: 16, text: Bytes(64 << 10) },
    };
    /// The end of a session, for its list alone.
    const LIST: PageLimit = PageLimit { events: 256, text: Bytes(256 << 10) };
}

/// What a recap or a digest is made of.
pub(super) struct Gathered {
    pub(super) info: StreamInfo,
    pub(super) work: WorkLog,
    /// Newest plan that the agent presented, with its position.
    pub(super) plan: Option<(Seq, String)>,
    /// The user's standing rules, the most certain and newest first, with their positions.
    pub(super) rules: Vec<(Seq, String)>,
    /// What the user typed, newest first.
    pub(super) words: Vec<(Seq, String)>,
}

pub(super) async fn gather(session: &Session, reach: Reach) -> Result<Gathered, Error> {
    let info = session.info().await?;
    let (view, texts) = read_end(session, EventFilter::default(), reach.work).await?;
    let said = EventFilter { role: Some(Role::User), author: Some(Author::Person), ..EventFilter::default() };
    let (turns, turn_texts) = read_end(session, said, reach.words).await?;
    let redactor = &session.engine().config.redactor;
    let mut work = log_of(&view, &texts, redactor);
    // The names of files that commands write follow from the commands, whatever their arguments mean.
    let secrets = secrets_of_calls(&view, &texts, redactor);
    work.files.retain(|file| !secrets.iter().any(|secret| file.path.contains(secret)));
    let rules = standing_rules(&turns, &turn_texts);
    // Secrets are removed from whole texts: a part that is shown may cut one.
    let safe = |text: &str| redactor.redact(text).text.into_owned();
    let rule = |rule| Some((rule_at(rule), safe(quote::words(rule, &turns, &turn_texts)?)));
    let typed = turns.entries().rev().filter(|entry| entry.message.is_persons());
    Ok(Gathered {
        info,
        work,
        plan: plan(&view, &texts).map(|(at, text)| (at, safe(&text))),
        rules: rules.iter().filter_map(rule).collect(),
        words: typed
            .filter_map(|entry| Some((entry.seq, safe(&words(&entry.message, &turn_texts)?))))
            .collect(),
    })
}

/// Returns the open items of the agent's list, as the end of the session states them.
pub(crate) async fn open_items(session: &Session) -> Result<Vec<TodoItem>, Error> {
    let (view, texts) = read_end(session, EventFilter::default(), Reach::LIST).await?;
    let mut items = log_of(&view, &texts, &session.engine().config.redactor).todo;
    items.retain(|item| !matches!(item.status, ItemStatus::Done | ItemStatus::Dropped));
    Ok(items)
}

/// Returns the delegates at work, as the last hours of the session state them.
pub(crate) async fn delegates_at_work(session: &Session) -> Result<Vec<DelegateAtWork>, Error> {
    let (view, texts) = read_end(session, EventFilter::default(), Reach::WHOLE.work).await?;
    Ok(log_of(&view, &texts, &session.engine().config.redactor).delegates)
}

const fn rule_at(rule: &wunderblock_core::decision::Quote) -> Seq {
    rule.at.0
}

/// Reads the latest events that a filter accepts, as a view with its texts.
async fn read_end(session: &Session, filter: EventFilter, limit: PageLimit) -> Result<(View, Texts), Error> {
    let engine = session.engine();
    let query = Query::Events {
        tenant: engine.tenant.no,
        stream: session.id().clone(),
        from: Seq::START,
        to: crate::ledger::reading::query_batch::NEWEST,
        order: ReadOrder::Descending,
        limit: limit.events,
        text: limit.text,
        counts: false,
        filter,
    };
    let rows = engine.ask(query, Answer::events).await?;
    let mut view = View::new(LaneId::main());
    for row in rows.iter().rev() {
        view.apply(&decode_event(engine, session.id(), row)?);
    }
    let mut texts = Texts::default();
    crate::compaction::drive::read_view_texts(engine, &view, &mut texts).await?;
    Ok((view, texts))
}

/// Returns the secrets in the arguments of calls.
fn secrets_of_calls<'t>(view: &'t View, texts: &'t Texts, redactor: &Redactor) -> Vec<&'t str> {
    let parts = view.entries().flat_map(|entry| &entry.message.parts);
    let inputs = parts.filter_map(|part| match part {
        Part::ToolCall { input, .. } => texts.of(input),
        _ => None,
    });
    let secrets = inputs.flat_map(|text| {
        let found = redactor.redact(text).found.into_iter();
        found.filter_map(|secret| text.get(secret.from_byte..secret.to_byte)).collect::<Vec<_>>()
    });
    secrets.collect()
}

/// Returns the newest plan that the agent presented.
fn plan(view: &View, texts: &dyn Bodies) -> Option<(Seq, String)> {
    view.entries().rev().find_map(|entry| {
        entry.message.parts.iter().find_map(|part| match part {
            Part::ToolCall { name, input, .. } => Some((entry.seq, plan_call(name, texts.of(input)?)?)),
            _ => None,
        })
    })
}

/// Returns what a person typed in a message. `None` if nobody typed any of it.
fn words(said: &Message, texts: &dyn Bodies) -> Option<String> {
    let texts = said.parts.iter().enumerate().filter_map(|(index, part)| match part {
        Part::Text { text, .. } => Some((index, texts.of(text)?)),
        _ => None,
    });
    let pieces = texts.flat_map(|(index, text)| said.own_pieces(index, text));
    let pieces: Vec<&str> = pieces.map(|(_, piece)| piece.trim()).filter(|piece| !piece.is_empty()).collect();
    (!pieces.is_empty()).then(|| pieces.join("\n"))
}

//! Human-readable results of a search for a text or a handle. The results give the number of places, how many of them
//! the request shows, and the best places.

use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::lanes::explain::entry::{EntryDescription, describe_entries};
use crate::lanes::explain::placement::{Advice, Placement, measure_entries};
use crate::ledger::session::Session;
use crate::limits;
use crate::recall::grep::{GrepOptions, Match};
use crate::request::input::options::ContextOptions;
use crate::request::steps::draft::Draft;
use std::cmp::Reverse;
use std::ops::ControlFlow;
use wunderblock_core::budget::Treatment;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;

/// Maximum number of places described in full.
const BEST: usize = 5;
/// Number of described places reserved for entries that the request shows. The other places are for entries that the
/// request leaves out.
const SHOWN: usize = 2;
/// Maximum number of places that are ranked to find the best. The number is limited because describing an entry takes
/// several reads.
const RANKED: usize = 40;

/// Result of a search for a text or a handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// All places: first the sources, then the summaries, then the conversation, newest first.
    pub places: Vec<Placement>,
    /// Best places, as indices into `places`, with a description of each entry.
    pub best: Vec<(usize, Option<EntryDescription>)>,
    /// Spelling that was found instead of the given one, from which it differs in upper and lower case.
    pub spelling: Option<String>,
    /// Whether more places may exist: the search stops at [`limits::PLACEMENTS`] and at its deadline.
    pub more: bool,
}

impl Found {
    /// Searches for a text or a handle in a request that was built with these options, and in the whole session.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn of<'a>(
        session: &'a Session,
        options: &'a ContextOptions,
        draft: &'a Draft,
        sought: &'a str,
        deadline: &'a Deadline,
    ) -> BoxFuture<'a, Self> {
        Box::pin(async move {
            let mut places = session.locate(options, draft, sought, deadline).await?;
            let spelling = if places.is_empty() { spelling(session, sought, deadline).await? } else { None };
            if let Some(spelling) = &spelling {
                places = session.locate(options, draft, spelling, deadline).await?;
            }
            let best = best(session, &places).await?;
            for (index, entry) in &best {
                if let (Some(place), Some(entry)) = (places.get_mut(*index), entry) {
                    weigh_along(session, place, entry, draft).await?;
                }
            }
            let more = places.len() >= limits::PLACEMENTS || deadline.is_over();
            Ok(Self { places, best, spelling, more })
        })
    }

    /// Returns the number of places that the request shows.
    #[must_use]
    pub fn in_request(&self) -> usize {
        self.places.iter().filter(|place| place.shown).count()
    }
}

/// Returns how the newest place in a session spells a text, ignoring upper and lower case.
pub(crate) async fn spelling(
    session: &Session,
    sought: &str,
    deadline: &Deadline,
) -> Result<Option<String>, Error> {
    let scope = GrepOptions {
        session: Some(session.id.clone()),
        ignore_case: true,
        deadline: deadline.clone(),
        messages_only: true,
        ..GrepOptions::default()
    };
    let mut found = None;
    let mut keep = |hit: Match| {
        found = hit.text.get(hit.found).map(ToOwned::to_owned);
        ControlFlow::Break(())
    };
    session.engine.recall().grep(sought, &scope, &mut keep).await?;
    Ok(found)
}

/// Adds the tokens of the entries that return to the request together with a pinned entry: its call or its results.
async fn weigh_along(
    session: &Session,
    place: &mut Placement,
    entry: &EntryDescription,
    draft: &Draft,
) -> Result<(), Error> {
    if let Some(Advice::Pin { seq, needs, .. }) = place.advice {
        let along = measure_entries(session, &entry.along, draft).await?;
        let needs = needs + along.values().copied().sum();
        place.advice = Some(Advice::back(seq, needs, draft, entry.address.clone()));
    }
    Ok(())
}

/// Selects the best places. Up to two places that the request shows come first, followed by the places that it leaves
/// out. Within each group, people precede models, models precede tools, and newer places precede older ones.
async fn best(
    session: &Session,
    places: &[Placement],
) -> Result<Vec<(usize, Option<EntryDescription>)>, Error> {
    let of_the_session =
        |place: &&Placement| place.treatment == Treatment::LeftOut || place.section.is_some();
    let ranked = places.iter().filter(of_the_session).filter_map(|place| place.seq).take(RANKED);
    let ranked: Vec<Seq> = ranked.collect();
    let mut known = describe_entries(session, ranked).await?;
    let mut order: Vec<usize> = (0..places.len()).collect();
    let rank = |index: &usize| {
        let Some(place) = places.get(*index) else { return (4, Reverse(Seq::START)) };
        let entry = place.seq.and_then(|seq| known.get(&seq));
        let who = match entry.map(|entry| entry.role) {
            // Sources have no position. Sources rank equally with people's messages.
            None if place.seq.is_none() => 0,
            Some(Role::User | Role::System) => 0,
            Some(Role::Assistant) => 1,
            Some(Role::Tool) => 2,
            None => 3,
        };
        (who, Reverse(place.seq.unwrap_or(Seq::START)))
    };
    order.sort_by_key(rank);
    let is_shown = |index: &usize| places.get(*index).is_some_and(|place| place.shown);
    let (shown, rest): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_shown);
    let first = SHOWN.max(BEST.saturating_sub(rest.len()));
    let chosen = shown.into_iter().take(first).chain(rest).take(BEST);
    Ok(chosen
        .map(|index| {
            let seq = places.get(index).and_then(|place| place.seq);
            (index, seq.and_then(|seq| known.remove(&seq)))
        })
        .collect())
}

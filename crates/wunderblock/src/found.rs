//! What was found of a text or a handle, as a person would be told: how often, how much of it a request shows, the best.

use crate::entry::{EntryDescription, describe_entries};
use crate::error::Error;
use crate::future::BoxFuture;
use crate::limits;
use crate::placement::{Advice, Placement, measure_entries};
use crate::request::draft::Draft;
use crate::request::options::ContextOptions;
use crate::session::Session;
use std::cmp::Reverse;
use wunderblock_core::budget::Treatment;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;

/// Places that are told of in full.
const BEST: usize = 5;
/// Of them, places in the request where there are others that are not.
const SHOWN: usize = 2;
/// Places that are looked at to find the best.
const RANKED: usize = 40;

/// What was found of a text or a handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Every place, sources first, then summaries, then the conversation, the newest first.
    pub places: Vec<Placement>,
    /// The best of them, by their index, with what is known of the entry.
    pub best: Vec<(usize, Option<EntryDescription>)>,
    /// Whether there may be more: no more than a maximum is looked for.
    pub more: bool,
}

impl Found {
    /// Looks for a text or a handle in a request that was built with these options, and in all the session.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn of<'a>(
        session: &'a Session,
        options: &'a ContextOptions,
        draft: &'a Draft,
        sought: &'a str,
    ) -> BoxFuture<'a, Self> {
        Box::pin(async move {
            let mut places = session.locate(options, draft, sought).await?;
            let best = best(session, &places).await?;
            for (index, entry) in &best {
                if let (Some(place), Some(entry)) = (places.get_mut(*index), entry) {
                    weigh_along(session, (place, entry), draft).await?;
                }
            }
            let more = places.len() >= limits::PLACEMENTS;
            Ok(Self { places, best, more })
        })
    }

    /// How many of the places the request shows.
    #[must_use]
    pub fn in_request(&self) -> usize {
        self.places.iter().filter(|place| place.shown).count()
    }
}

/// What comes back with an entry needs room, too: its call, its results.
async fn weigh_along(
    session: &Session,
    (place, entry): (&mut Placement, &EntryDescription),
    draft: &Draft,
) -> Result<(), Error> {
    if let Some(Advice::Pin { seq, needs, .. }) = place.advice {
        let along = measure_entries(session, &entry.along, draft).await?;
        let needs = needs + along.values().copied().sum();
        place.advice = Some(Advice::back(seq, (needs, draft), entry.address.clone()));
    }
    Ok(())
}

/// Two that the request shows, then what people said before what models said before what tools wrote, the newest first.
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

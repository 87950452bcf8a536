//! Recall without being asked: passages of the past that bear on the newest typed turn.
//!
//! ```text
//! new turn, step ─ telling words ─► search: own past, project ─ floor ─► not shown, not lately ─ 5 % ─► context.injected
//! ```
//! What enters is an event, so a replay does not search (`docs/design/0035-unasked-recall.md`).

use super::named::with_plan_input;
use crate::base::error::Error;
use crate::recall::prompted::{PromptPassage, telling_words};
use crate::request::input::job::BuildJob;
use crate::request::named::unasked::{RecallWanted, RecalledPassage, UnaskedOutcome, UnaskedRecall};
use crate::request::need::{Asking, MarkedWanted, Need};
use crate::request::packer::Packer;
use crate::request::stages::Planned;
use std::collections::BTreeSet;
use wunderblock_core::authority::Authority;
use wunderblock_core::cost;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::StreamId;
use wunderblock_core::message::{Body, Role};
use wunderblock_core::plan::{Injection, PlanInput, returning, shown_entries};
use wunderblock_core::section::Section;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_store::Marked;

/// Divisor of the window: recalled passages take at most a twentieth of it.
const SHARE_DIVISOR: u64 = 20;
/// Number of the user's later turns in which a passage does not enter again.
const TURNS: usize = 5;
/// Maximum number of the lane's latest injections that are read.
const INJECTIONS: u64 = 256;
/// Maximum number of words of a passage that its label names.
const WORDS: usize = 6;

/// Brings passages back that bear on the newest typed turn, if the turn is new or a step has made room.
pub(in crate::request) async fn recall_unasked(
    planned: &mut Planned,
    job: &BuildJob,
    ask: &Asking,
) -> Result<(), Error> {
    let (named, trim) = (&planned.snapshot.named, &planned.decision.plan.trim);
    let is_due = planned.decision.view.lane().built.is_none_or(|(_, through)| through < named.turn);
    // A text that entered now would come after a reply that still waits, but before its results.
    if !job.options.recall || !is_due || !trim.waiting.is_empty() || telling_words(&named.typed).is_none() {
        return Ok(());
    }
    let before = trim.drop_before.max(trim.stub_before);
    let wanted = RecallWanted { typed: named.typed.clone(), before };
    let found = ask.ask(|reply| Need::Recall(wanted, reply)).await?;
    let floor = if found.is_partly { UnaskedOutcome::NotIndexed } else { UnaskedOutcome::Floor };
    let mut unasked = UnaskedRecall { outcome: floor, entered: Vec::new() };
    if !found.passages.is_empty() {
        let (items, outcome) = fresh(planned, job, ask, found.passages).await?;
        unasked.outcome = outcome.unwrap_or(floor);
        let of = |item: &Injection| RecalledPassage {
            session: item.from_stream.clone(),
            at: item.from_seq,
            what: item.what.clone(),
            why: item.why.clone(),
        };
        unasked.entered = items.iter().map(of).collect();
        planned.decision.bring_back(items, &planned.texts)?;
    }
    planned.unasked = Some(unasked);
    Ok(())
}

/// Returns the passages that enter, and why others do not.
async fn fresh(
    planned: &mut Planned,
    job: &BuildJob,
    ask: &Asking,
    passages: Vec<PromptPassage>,
) -> Result<(Vec<Injection>, Option<UnaskedOutcome>), Error> {
    let known = Known::of(planned, ask).await?;
    let packer = Packer::new(job.key);
    let (all, mut items) = (passages.len(), Vec::<Injection>::new());
    for passage in passages.into_iter().filter(|passage| !known.has(passage, job)) {
        let item = injection(passage, job);
        if items.iter().all(|had| had.body != item.body) {
            items.push(packer.packed(&item));
        }
    }
    packer.unload(&planned.costs, &mut planned.texts);
    let wanted = items.len();
    let most = Tokens(planned.target.budget.window.0 / SHARE_DIVISOR).saturating_sub(known.tokens);
    let trim = &planned.decision.plan.trim;
    let items = with_plan_input(planned, job, |input| {
        returning(&PlanInput { hits: &items, recall: most.min(input.recall), ..input }, trim)
    });
    let outcome = match items.len() {
        entered if entered < wanted => Some(UnaskedOutcome::NoRoom),
        _ => (wanted < all).then_some(UnaskedOutcome::Lately),
    };
    Ok((items, outcome))
}

/// What a request shows already, and what entered lately.
struct Known {
    /// Own positions whose texts the request shows.
    shown: BTreeSet<Seq>,
    /// Messages of which a part entered lately, or is still shown where it entered.
    lately: BTreeSet<(Option<StreamId>, Seq)>,
    /// Own positions that are hidden.
    hidden: BTreeSet<Seq>,
    turn: Seq,
    typed: String,
    /// Number of tokens of the recalled texts that the request shows.
    tokens: Tokens,
}

impl Known {
    async fn of(planned: &Planned, ask: &Asking) -> Result<Self, Error> {
        let (view, plan) = (&planned.decision.view, &planned.decision.plan);
        let (lane, to) = (view.lane().id.clone(), planned.through());
        let marked =
            async |what, limit| ask.ask(|reply| Need::Marked(MarkedWanted { what, to, limit }, reply)).await;
        let turns = marked(Marked::UserTurn, TURNS as u64 + 1).await?;
        let since = turns.get(TURNS).map_or(Seq::START, |event| event.seq);
        let shown_from = plan.trim.drop_before;
        let injected = marked(Marked::OfLane("context.injected", lane), INJECTIONS).await?;
        let items = |from: Seq| injected.iter().filter(move |event| event.seq >= from).flat_map(items_of);
        let recalled = items(shown_from).chain(&plan.inject).filter(|item| item.section == Section::Recall);
        let place = |item: &Injection| (item.from_stream.clone(), item.from_seq);
        let lately = items(since.next().min(shown_from)).chain(&plan.inject).map(place).collect();
        let tokens = recalled.map(|item| cost::injection(item, &planned.costs).tokens).sum();
        let named = &planned.snapshot.named;
        Ok(Self {
            shown: shown_entries(view, &plan.trim),
            lately,
            hidden: view.hidden().iter().copied().collect(),
            turn: named.turn,
            typed: named.typed.clone(),
            tokens,
        })
    }

    fn has(&self, PromptPassage { hit, .. }: &PromptPassage, job: &BuildJob) -> bool {
        let seq = hit.seq;
        let own = hit.session == job.stream;
        let stream = (!own).then(|| hit.session.clone());
        let is_shown = own && (seq >= self.turn || self.shown.contains(&seq) || self.hidden.contains(&seq));
        is_shown || self.lately.contains(&(stream, seq)) || self.typed.contains(&hit.snippet)
    }
}

fn items_of(event: &Event) -> &[Injection] {
    match &event.fact {
        Some(Fact::ContextInjected(injected)) => &injected.items,
        _ => &[],
    }
}

/// Returns a passage as it enters, with who said it, when, and the words that it shares with the turn.
fn injection(PromptPassage { hit, body }: PromptPassage, job: &BuildJob) -> Injection {
    let who = if hit.role == Role::User { "a user's message" } else { "an assistant's message" };
    let words: Vec<&str> = hit.matched.iter().take(WORDS).map(AsRef::as_ref).collect();
    let why = match words.is_empty() {
        true => "it is near the newest turn".to_owned(),
        false => format!("it shares with the newest turn: {}", words.join(", ")),
    };
    Injection {
        section: Section::Recall,
        authority: Authority::Data,
        from_stream: (hit.session != job.stream).then(|| hit.session.clone()),
        from_seq: hit.seq,
        body: Body::Inline(hit.snippet),
        what: format!("a part of {who}, {}", hit.at.ago(job.now)).into(),
        why: why.into(),
        part_of: body,
    }
}

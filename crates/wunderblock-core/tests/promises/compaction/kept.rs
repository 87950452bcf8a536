//! Promises of compaction: it loses nothing, never makes a request longer, touches nothing that is protected, and
//! leaves the request well-formed.

use crate::compaction::rounds::{Round, Stage, climb, play, rounds, weight};
use crate::resume::resume;
use crate::simulated::history::{History, budget, config};
use crate::simulated::lane::{decide, show, show_trimmed, view_of};
use crate::well_formed;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::budget::Treatment;
use wunderblock_core::compact::{NodeDraft, Proposal};
use wunderblock_core::compaction::RungTaken;
use wunderblock_core::cost;
use wunderblock_core::decision::{PartForm, PartPosition};
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Body, Part};
use wunderblock_core::pair::{Exchange, ExchangeKind, arrange};
use wunderblock_core::plan::is_said;
use wunderblock_core::plan::{GAP_COST, Trim};
use wunderblock_core::policy::Action;
use wunderblock_core::ports::Bodies;
use wunderblock_core::render::{RenderedRequest, SourceLine, measure};
use wunderblock_core::section::Section;
use wunderblock_core::trim::treatment;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::View;

/// Returns the positions whose entries a request shows.
fn shown(rendered: &RenderedRequest) -> BTreeSet<Seq> {
    let entries = rendered.lines.iter().filter(|line| line.section != Section::Summaries);
    entries.filter_map(|line| line.seq).collect()
}

/// Returns the ranges of the marks in a request.
fn marked(rendered: &RenderedRequest) -> Vec<(Seq, Seq)> {
    let whats = rendered.lines.iter().filter_map(|line| line.what.strip_prefix("mark of positions "));
    let range = |what: &str| {
        let (from, to) = what.split_once('–').unwrap();
        (Seq(from.parse().unwrap()), Seq(to.parse().unwrap()))
    };
    whats.map(range).collect()
}

/// Checks that nothing is lost: each entry of a view is shown, or replaced in one place, or listed with the reason.
pub(crate) fn check_whole(stage: &Stage<'_>) {
    let (before, after, new) = (stage.before, stage.after, &stage.new);
    let (shown, marks) = (shown(new), marked(new));
    let nodes: Vec<(Seq, Seq)> = after.nodes().map(|node| (node.from, node.to)).collect();
    for entry in before.entries().filter(|entry| !shown.contains(&entry.seq)) {
        let is_in = |ranges: &[(Seq, Seq)]| {
            ranges.iter().filter(|(from, to)| (*from..=*to).contains(&entry.seq)).count()
        };
        let listed = new.missing.iter().any(|run| (run.from..=run.to).contains(&entry.seq));
        assert!(listed, "{} is neither shown nor listed", entry.seq);
        if entry.seq < after.trim().drop_before {
            let alone = new.missing.iter().any(|run| run.known.is_some() && run.from == entry.seq);
            let places = is_in(&nodes) + is_in(&marks);
            assert!(places == 1 || places == 0 && alone, "{} stands in {places} places", entry.seq);
        }
    }
    for pair in nodes.windows(2) {
        assert!(pair[0].1 < pair[1].0, "{nodes:?} overlap");
    }
    let placed: Vec<Seq> = after.trim().nodes.iter().map(|placed| placed.at).collect();
    for (from, to) in after.trim().nodes.iter().map(|placed| (placed.from, placed.to)) {
        assert!(
            from <= to && from < after.trim().drop_before,
            "{from}–{to} is not a range before the frontier"
        );
    }
    let words = new.lines.iter().filter(|line| line.what.starts_with("summary of positions"));
    let words: Vec<Seq> = words.filter_map(|line| line.seq).collect();
    let here: Vec<Seq> = placed.into_iter().filter(|at| after.node(*at).is_some()).collect();
    assert_eq!(words, here, "the summaries a request shows");
}

/// Drafts of all nodes ever recorded, including erased ones, by position.
type Nodes = BTreeMap<Seq, NodeDraft>;

/// Checks that a summary was made from everything it covers, and that its sources are adjacent from its beginning on.
fn check_graph(stage: &Stage<'_>, known: &mut Nodes) {
    let proposal = &stage.climbed.proposal;
    known.extend(proposal.nodes.iter().map(|draft| (draft.at, draft.clone())));
    let gone: BTreeSet<Seq> = shown(&stage.old).difference(&shown(&stage.new)).copied().collect();
    for draft in &proposal.nodes {
        let job = &draft.job;
        let mut sources: Vec<&NodeDraft> = job.sources.iter().map(|at| &known[at]).collect();
        sources.sort_by_key(|source| source.job.from);
        let level = sources.iter().map(|source| source.job.level + 1).max().unwrap_or(0);
        assert_eq!(job.level, level, "{job:?}");
        let mut next = job.from;
        for source in &sources {
            assert_eq!(source.job.from, next, "the sources of {job:?} leave something out");
            next = source.job.to.next();
        }
        assert!(next <= job.to.next(), "the sources of {job:?} reach beyond it");
        assert!(job.entries.iter().all(|seq| stage.before.entry(*seq).is_some()), "{job:?}");
        assert!(job.entries.is_sorted(), "{job:?}");
        assert!(!draft.text.inline().unwrap().trim().is_empty(), "a summary that says nothing");
    }
    // An exchange is judged by the position at which it ends.
    let is_under =
        |seq: Seq| proposal.nodes.iter().any(|draft| (draft.job.from..=draft.job.to).contains(&seq));
    for exchange in arrange(stage.before).exchanges.iter().filter(|exchange| is_under(exchange.last)) {
        for seq in exchange.members.iter().filter(|seq| gone.contains(seq)) {
            // An exchange that a summary already covers is left out of the request, and no other summary is made for
            // it.
            let told = known.values().any(|draft| draft.job.entries.contains(seq));
            assert!(told, "no summary tells of {seq}: {:?}", stage.after.trim());
        }
    }
}

/// Checks that the climb ends, and that its report is accurate.
pub(crate) fn check_account(stage: &Stage<'_>) {
    let proposal = &stage.climbed.proposal;
    let policy = &stage.round.policy;
    // The last rung asks once for summaries beside what stays, and at most twice for each of its two other forms: for
    // what it leaves out, and for one of all.
    let most = policy.steps.len() + proposal.nodes.len() + 5;
    assert!(stage.climbed.asked <= most, "asked {} times", stage.climbed.asked);
    // A summary of what a step leaves out stays even if it takes more than the step saves.
    if !was_covered(proposal) {
        assert!(proposal.after <= proposal.before);
        assert_eq!(proposal.trim.is_none(), proposal.after == proposal.before);
    }
    assert_eq!(proposal.before, weight(stage.history, stage.before, stage.budget).tokens);
    let weight = weight(stage.history, stage.after, stage.budget);
    assert_eq!(proposal.after, weight.tokens, "what the lane weighs now");
    let counted = measure(&stage.new.request, &stage.history.wax);
    assert!(counted.fits(weight), "it weighs {weight:?} and measures {counted:?}");
    let mut now = proposal.before;
    for rung in proposal.rungs.iter() {
        if matches!(&*rung.rung, "fill" | "cut" | "cover") {
            if rung.taken {
                now = now.saturating_sub(rung.saved) + rung.added;
            }
            continue;
        }
        let action = policy.steps.iter().find(|action| action.name() == rung.rung.as_ref()).unwrap();
        let (part, least) = action.gain();
        let needed = part.of(now).max(least).max(Tokens(1));
        assert_eq!(rung.taken, rung.saved >= needed, "{rung:?} of {now}, which needs {needed}");
        assert_eq!(rung.taken, rung.why.is_none());
        now = if rung.taken { now.saturating_sub(rung.saved) } else { now };
    }
    assert_eq!(now, proposal.after, "the steps add up");
}

/// Returns whether the last rung summarised what the policy left out. It gives up what the policy protects.
fn was_covered(proposal: &Proposal) -> bool {
    proposal.rungs.iter().any(|rung| rung.taken && *rung.rung == *"cover")
}

/// Checks that a step that is not taken changes nothing: without that step, the climb ends in the same place.
fn check_untaken(stage: &Stage<'_>) {
    let proposal = &stage.climbed.proposal;
    let taken =
        |action: &Action| proposal.rungs.iter().any(|rung| rung.taken && rung.rung.as_ref() == action.name());
    let mut policy = stage.round.policy.clone();
    let by_name: BTreeSet<&str> = policy.steps.iter().map(Action::name).collect();
    if by_name.len() < policy.steps.len() || was_covered(proposal) {
        // A name that occurs twice does not show which of the two was taken. The last rung belongs to every policy,
        // except those without steps.
        return;
    }
    // The summarising step decides whether ranges are tasks, and the condensing step depends on this decision even if
    // the summarising step was not taken.
    let is_read = |action: &Action| matches!(action, Action::Summarise { .. });
    let condenses =
        policy.steps.iter().any(|action| matches!(action, Action::Condense { .. }) && taken(action));
    policy.steps.retain(|action| taken(action) || (condenses && is_read(action)));
    if policy.covers() != stage.round.policy.covers() {
        return;
    }
    let mut history = stage.history.clone();
    history.events.truncate(stage.upto);
    let round = stage.round;
    let other = climb(&history, stage.before, stage.budget, (&policy, round.level), &round.scribe).proposal;
    assert_eq!(other.trim, proposal.trim);
    let texts = |nodes: &[NodeDraft]| -> Vec<(Seq, Body)> {
        nodes.iter().map(|draft| (draft.at, draft.text.clone())).collect()
    };
    assert_eq!(texts(&other.nodes), texts(&proposal.nodes));
    assert_eq!(other.reduced, proposal.reduced);
}

/// Returns the places of an exchange's own parts, and of the results that it shows.
fn places(exchange: &Exchange, view: &View) -> Vec<PartPosition> {
    let own = exchange.speakers.iter().filter_map(|seq| view.entry(*seq)).flat_map(|entry| {
        let parts = entry.message.parts.iter().enumerate();
        parts
            .filter(|(_, part)| !matches!(part, Part::ToolResult { .. }))
            .map(|(index, _)| (entry.seq, index))
    });
    own.chain(exchange.calls().iter().filter_map(|call| call.result)).collect()
}

/// Checks that protected content is shown unchanged. The last rung keeps only what stays under every policy, and cuts
/// it if it does not fit.
pub(crate) fn check_protected(stage: &Stage<'_>) {
    let (before, after) = (stage.before, stage.after);
    let newest = before.newest_user();
    let now = arrange(after).exchanges.clone();
    for exchange in arrange(before).exchanges.clone() {
        let open = exchange.is_waiting() && newest.is_none_or(|user| exchange.last > user);
        let always = exchange.shape == ExchangeKind::System
            || newest.is_some_and(|seq| exchange.speakers.contains(&seq))
            || exchange.members.iter().any(|seq| before.pinned().contains(seq))
            || open;
        let was = treatment(&exchange, before.trim(), before);
        if always && was != Treatment::LeftOut {
            assert!(!stage.climbed.guard.is_free(&exchange), "{exchange:?} is not protected");
        }
        let is_covered = was_covered(&stage.climbed.proposal);
        let is_given_up = is_covered && (open || !always);
        if stage.climbed.guard.is_free(&exchange) || was == Treatment::LeftOut || is_given_up {
            continue;
        }
        let same = now.iter().find(|other| other.speakers == exchange.speakers);
        let is = same.map(|exchange| treatment(exchange, after.trim(), after));
        let is_cut = is_covered && is == Some(Treatment::Clipped);
        assert!(is_cut || is.is_some_and(|is| is <= was), "{exchange:?} was {was:?} and is {is:?}");
        // The newest exchange that the conversation shows is cut if it would not fit otherwise.
        let arrangement = arrange(before);
        let is_shown =
            |exchange: &&Exchange| treatment(exchange, before.trim(), before) != Treatment::LeftOut;
        let said = arrangement.exchanges.iter().filter(is_shown).filter(|exchange| is_said(exchange, before));
        let last = said.map(|exchange| exchange.last).max();
        if is_cut
            || stage.climbed.proposal.rungs.iter().any(|rung| &*rung.rung == "cut")
                && Some(exchange.last) == last
        {
            continue;
        }
        for at in places(&exchange, before) {
            let form =
                |view: &View| view.trim().form_of(at).or_else(|| view.standing(at).map(PartForm::Reduced));
            let (old, new) = (form(before), form(after));
            assert_eq!(new, old, "the form of {at:?}, which is protected");
        }
    }
    check_lines(stage, newest);
}

/// Checks that the lines of pins and of the newest turn are as they were.
fn check_lines(stage: &Stage<'_>, newest: Option<Seq>) {
    let must = |line: &&SourceLine| match line.seq {
        Some(_) if line.section == Section::Summaries => false,
        Some(seq) => {
            stage.before.pinned().contains(&seq) || newest == Some(seq) && line.section == Section::Prompt
        }
        None => false,
    };
    for line in stage.old.lines.iter().filter(|line| line.treatment == Treatment::Verbatim).filter(must) {
        // After a summary, the leading system text becomes an operator message.
        let is_system = line.section == Section::System;
        let here =
            |other: &&SourceLine| other.seq == line.seq && (is_system || other.section == line.section);
        // An entry with several results has several lines.
        let now: Vec<Treatment> = stage.new.lines.iter().filter(here).map(|line| line.treatment).collect();
        let is_cut = was_covered(&stage.climbed.proposal) && now.contains(&Treatment::Clipped);
        assert!(is_cut || now.contains(&Treatment::Verbatim), "{line:?} became {now:?}");
    }
}

/// Returns every text of a request.
fn texts(rendered: &RenderedRequest) -> Vec<&str> {
    let messages = rendered.request.messages.iter().flat_map(|message| &message.parts);
    let parts = messages.chain(&rendered.request.system);
    parts.flat_map(|part| part.bodies()).filter_map(Body::inline).collect()
}

/// Returns, for each reference in a request, the number of bytes and the position that it names.
fn references(rendered: &RenderedRequest) -> Vec<(u64, Seq)> {
    let reference = |text: &str| {
        let line = text.strip_prefix("⟨output")?.strip_suffix('⟩')?;
        let (before, after) = line.split_once(" bytes, the same as at #")?;
        let bytes = before.rsplit(' ').next()?.replace(',', "").parse().ok()?;
        let place = after.split_once(" in this request")?.0.parse().ok()?;
        Some((bytes, Seq(place)))
    };
    texts(rendered).into_iter().filter_map(reference).collect()
}

/// Checks that the request shows the target of each reference word for word. Returns the number of references.
pub(crate) fn check_references(history: &History, view: &View, rendered: &RenderedRequest) -> usize {
    let shown = texts(rendered);
    let found = references(rendered);
    for (bytes, place) in &found {
        let there = |at: PartPosition| {
            let part = view.part(at)?;
            let bodies = part.bodies();
            let len: u64 = bodies.iter().map(|body| body.bytes().0).sum();
            let words = bodies.into_iter().map(|body| match body {
                Body::Inline(text) => Some(text.as_str()),
                Body::Blob { blob, .. } => history.wax.text(*blob),
            });
            let words: Option<Vec<&str>> = words.collect();
            (len == *bytes && words?.iter().all(|word| shown.contains(word))).then_some(())
        };
        let parts = view.entry(*place).map_or(0, |entry| entry.message.parts.len());
        let stands = (0..parts).any(|index| there((*place, index)).is_some());
        assert!(stands, "a reference to #{place}, which does not stand there");
    }
    found.len()
}

/// Checks that a reference becomes a stub when its target is no longer shown.
fn check_targets_that_go(stage: &Stage<'_>) {
    let named: BTreeSet<Seq> = references(&stage.new).into_iter().map(|(_, place)| place).collect();
    for place in named {
        let mut history = stage.history.clone();
        history.erase_at(place, place);
        let erased = view_of(&history.events);
        let rendered = show(&history, &erased);
        assert!(references(&rendered).iter().all(|(_, at)| *at != place), "#{place} was erased");
        check_references(&history, &erased, &rendered);
    }
    // Turn everything before the newest exchange into stubs.
    let mut trimmed = stage.after.clone();
    let stub_before =
        arrange(stage.after).exchanges.iter().map(|exchange| exchange.last).max().unwrap_or_default();
    if stub_before > trimmed.trim().stub_before {
        trimmed.trim_to(Trim { stub_before, ..trimmed.trim().clone() });
        check_references(stage.history, &trimmed, &show(stage.history, &trimmed));
    }
}

/// Returns the view of a stage's events without the compaction, whose events are moved to another lane.
fn without(stage: &Stage<'_>) -> View {
    let elsewhere = |event: &Event| {
        let other = LaneId::new("other").unwrap();
        let fact = match event.fact.clone() {
            Some(Fact::ViewTrimmed(mut trimmed)) => {
                trimmed.lane = other;
                Some(Fact::ViewTrimmed(trimmed))
            }
            Some(Fact::SessionCompacted(mut made)) => {
                made.lane = Some(other);
                Some(Fact::SessionCompacted(made))
            }
            fact => fact,
        };
        Event { fact, ..event.clone() }
    };
    let mut view = stage.before.clone();
    stage.history.events[stage.upto..].iter().for_each(|event| view.apply(&elsewhere(event)));
    view
}

/// Checks that as many of the newest exchanges stay as the goal allows: the newest exchange left out would exceed the
/// goal, or lies where the frontier cannot be. Also checks that no older summary has a lower level than a newer one.
fn check_longest(stage: &Stage<'_>) {
    let (before, after, proposal) = (stage.before, stage.after, &stage.climbed.proposal);
    for pair in after.nodes().collect::<Vec<_>>().windows(2) {
        let follows = pair[0].to.next() == pair[1].from;
        // Only the last rung summarises what earlier compactions left out before a summary.
        let is_later = pair[0].level == 0 && pair[0].at > pair[1].at;
        assert!(
            !follows || is_later || pair[0].level >= pair[1].level,
            "{:?}",
            after.nodes().collect::<Vec<_>>()
        );
    }
    let is_as_needed = |action: &Action| matches!(action, Action::Summarise { as_needed: true, .. });
    let is_told = |rung: &RungTaken| rung.taken && matches!(&*rung.rung, "summarise" | "condense");
    let fills = stage.round.policy.steps.iter().any(is_as_needed) && proposal.rungs.iter().any(is_told);
    // The last rung keeps only what stays under every policy.
    if !fills || proposal.before <= proposal.goal || was_covered(proposal) {
        return;
    }
    let earliest = after.trim().nodes.last().map_or(Seq::START, |node| node.from.next());
    let earliest = earliest.max(before.trim().drop_before);
    let now = arrange(after).exchanges.clone();
    let is_shown = |exchange: &Exchange| {
        let same = now.iter().find(|other| other.speakers == exchange.speakers);
        same.is_some_and(|exchange| treatment(exchange, after.trim(), after) != Treatment::LeftOut)
    };
    let arrangement = arrange(before);
    let gone = arrangement.exchanges.iter().filter(|exchange| {
        treatment(exchange, before.trim(), before) != Treatment::LeftOut && !is_shown(exchange)
    });
    let Some(newest) = gone.max_by_key(|exchange| exchange.last).filter(|it| it.last >= earliest) else {
        return;
    };
    let ending = arrangement.exchanges.iter().filter(|exchange| exchange.last == newest.last);
    let tokens: Tokens = ending
        .map(|exchange| cost::exchange(exchange, after.trim(), before, &stage.history.wax).verbatim.tokens)
        .sum();
    let marks = GAP_COST.tokens + GAP_COST.tokens;
    assert!(
        proposal.after + tokens + marks > proposal.goal,
        "{newest:?} takes {tokens}; {} of {} are taken",
        proposal.after,
        proposal.goal
    );
}

pub(crate) fn check_fits(stage: &Stage<'_>) {
    let next = decide(stage.history, stage.after, stage.budget, &[]);
    let other = decide(stage.history, &without(stage), stage.budget, &[]);
    // A summary may make a request fit that would be refused without it.
    assert!(next.is_ok() || other.is_err(), "{next:?}\nwith, and without the compaction: {other:?}");
    let Ok(next) = next else { return };
    let mut history = stage.history.clone();
    let mut view = stage.after.clone();
    history.record(&next).iter().for_each(|event| view.apply(event));
    let rendered = show_trimmed(&history, &view, &next.plan.trim);
    well_formed::check(&rendered.request);
    let counted = measure(&rendered.request, &history.wax);
    assert!(counted.fits(stage.budget.limit()), "{counted:?} of {:?}", stage.budget);
    check_references(&history, &view, &rendered);
}

fn check_resumed(stage: &Stage<'_>) {
    for other in [resume(&stage.history.events), view_of(&stage.history.events)] {
        let live = stage.after;
        assert_eq!(show(stage.history, &other), stage.new);
        assert_eq!(other.trim(), live.trim());
        assert_eq!(other.nodes().collect::<Vec<_>>(), live.nodes().collect::<Vec<_>>());
        assert_eq!(
            decide(stage.history, &other, stage.budget, &[]),
            decide(stage.history, live, stage.budget, &[])
        );
        let Round { policy, level, scribe, .. } = stage.round;
        let next = |view| climb(stage.history, view, stage.budget, (policy, *level), scribe).proposal;
        assert_eq!(next(&other), next(live), "what is compacted next");
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn a_compaction_loses_nothing(rounds in rounds(), budget in budget()) {
        let mut known = Nodes::new();
        play(&rounds, budget, |stage| {
            check_whole(stage);
            check_graph(stage, &mut known);
        });
    }

    #[test]
    fn a_compaction_ends_and_says_what_it_did(rounds in rounds(), budget in budget()) {
        play(&rounds, budget, |stage| {
            check_account(stage);
            check_untaken(stage);
        });
    }

    #[test]
    fn as_much_stays_word_for_word_as_the_goal_allows(rounds in rounds(), budget in budget()) {
        play(&rounds, budget, check_longest);
    }

    #[test]
    fn what_is_protected_stays_word_for_word(rounds in rounds(), budget in budget()) {
        play(&rounds, budget, check_protected);
    }

    #[test]
    fn a_compacted_request_is_well_formed_and_fits_if_it_did(rounds in rounds(), budget in budget()) {
        play(&rounds, budget, |stage| {
            well_formed::check(&stage.new.request);
            check_fits(stage);
        });
    }

    #[test]
    fn a_reference_is_shown_only_while_its_target_stands(rounds in rounds(), budget in budget()) {
        play(&rounds, budget, |stage| {
            check_references(stage.history, stage.after, &stage.new);
            check_targets_that_go(stage);
        });
    }

}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn a_compacted_view_is_resumed_as_it_was(rounds in rounds(), budget in budget()) {
        play(&rounds, budget, check_resumed);
    }
}

/// Checks that the random histories contain the situations that the properties test.
#[test]
fn the_scene_has_references_nodes_and_shorter_texts() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut seen, mut forms) = (BTreeMap::<&str, usize>::new(), BTreeSet::new());
    for _ in 0..150 {
        let rounds = rounds().new_tree(&mut runner).unwrap().current();
        let budget = budget().new_tree(&mut runner).unwrap().current();
        play(&rounds, budget, |stage| {
            *seen.entry("compacted").or_default() += usize::from(stage.climbed.proposal.trim.is_some());
            *seen.entry("references").or_default() += references(&stage.new).len();
            *seen.entry("nodes").or_default() += stage.after.nodes().count();
            *seen.entry("nodes of nodes").or_default() +=
                stage.after.nodes().filter(|node| node.level > 0).count();
            for (_, form) in &stage.after.trim().forms {
                forms.insert(match form {
                    PartForm::Stub => "stub",
                    PartForm::Reduced(_) => "reduced",
                    PartForm::Same(_) => "same",
                    PartForm::Gone => "gone",
                    PartForm::Placeholder => "placeholder",
                });
            }
        });
    }
    assert!(seen.values().all(|count| *count > 2), "{seen:?}");
    assert_eq!(forms.len(), 5, "{forms:?}");
}

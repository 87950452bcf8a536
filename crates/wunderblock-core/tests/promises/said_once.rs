//! Promise: a lane shows each text of the operator once, says where, and shows it again if the place that stands in
//! is gone.

use crate::explained::check_account;
use crate::preamble::Lane;
use crate::prefix_stable::check_grown;
use crate::simulated::desk::block;
use crate::simulated::history::{Step, Text, budget, config, new_history, steps};
use crate::simulated::lane::{build, show, view_of};
use proptest::prelude::*;
use std::collections::HashMap;
use wunderblock_core::budget::{Budget, Reason, Treatment, WindowSource};
use wunderblock_core::compose::Offer;
use wunderblock_core::event::{ContentErased, ContentHidden, Fact};
use wunderblock_core::message::{Body, Message, MessageOrigin, Part, Role};
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Seq, Tokens};

const LIMIT: Tokens = Tokens(100_000);
const WINDOW: Budget = Budget {
    window: LIMIT,
    window_source: WindowSource::Declared,
    reserve: Tokens(0),
    margin: Tokens(0),
    added: Tokens(0),
    max_bytes: Bytes(10_000_000),
};

fn long(text: &str) -> String {
    (0..80).map(|line| format!("{text}, rule {line} of the agent\n")).collect()
}

/// Returns a lane whose operator says these texts, each before a turn of the user.
fn said(texts: &[&str]) -> Lane {
    let mut lane = Lane::new();
    for text in texts {
        say(&mut lane, Message::system(*text));
    }
    lane
}

fn say(lane: &mut Lane, message: Message) -> Seq {
    let seq = lane.history.say(message);
    lane.history.say(Message::user(format!("turn after #{seq}")));
    lane.view = view_of(&lane.history.events);
    seq
}

/// Returns an offer with one text, so that a lane has a preamble from its first request on.
fn offer() -> Offer {
    let mut offer = Offer::default();
    offer.blocks.insert(Section::Safety, vec![block(Section::Safety, "one", None, "Do no harm.".into())]);
    offer
}

fn rebuild(lane: &mut Lane) {
    lane.build(&offer(), (LIMIT, true));
}

fn count(lane: &Lane, text: &str) -> usize {
    lane.words().matches(text.trim_end()).count()
}

#[test]
fn a_copy_is_shown_where_the_text_first_stood() {
    let mut lane = said(&["You are Ada.", "You are Ada.", "You are Ada."]);
    rebuild(&mut lane);
    assert_eq!(count(&lane, "You are Ada."), 1);
    let rendered = show(&lane.history, &lane.view);
    let listed: Vec<_> = rendered.missing.iter().map(|run| (run.from, run.reason, run.shown_at)).collect();
    let at = |seq| (Seq(seq), Reason::Repeated, Some(Seq(3)));
    assert_eq!(listed, [at(5), at(7)]);
    assert!(rendered.lines.iter().any(|line| line.seq == Some(Seq(3))));
}

#[test]
fn a_copy_that_arrives_later_changes_nothing_that_was_shown() {
    let mut lane = said(&["You are Ada."]);
    lane.build(&offer(), (LIMIT, true));
    let before = lane.words();
    say(&mut lane, Message::system("You are Ada."));
    let composed = lane.build(&offer(), (LIMIT, false));
    assert!(
        composed.preamble.is_some() && composed.changes.is_empty(),
        "it is recorded, and changes nothing"
    );
    assert!(lane.words().starts_with(&before));
    assert_eq!(count(&lane, "You are Ada."), 1);
    assert!(lane.build(&offer(), (LIMIT, false)).preamble.is_none(), "it is recorded once");
}

#[test]
fn a_text_that_is_given_again_after_another_is_named_again() {
    let (plan, default) = (long("plan only"), long("do the work"));
    let mut lane = said(&[&plan, &default, &plan]);
    rebuild(&mut lane);
    let words = lane.words();
    assert_eq!((count(&lane, &plan), count(&lane, &default)), (1, 1));
    let (again, last) =
        (words.find("⟨given again here: the text of").unwrap(), words.find("do the work").unwrap());
    assert!(again > last && words[again..].contains("bytes at #3, above"), "{words}");
    let mut short = said(&["plan only", "do the work", "plan only"]);
    rebuild(&mut short);
    assert_eq!(count(&short, "plan only"), 2, "a short text says it with its own words");
}

#[test]
fn a_later_version_takes_the_place_of_the_first_when_the_beginning_is_rebuilt() {
    let named = |text: &str| Message::system(text).standing(MessageOrigin::Injected("system.message".into()));
    let (old, new) = (long("the first prompt"), long("the first prompt") + "and one more line\n");
    for (first, second) in
        [(named("version 1"), named("version 2")), (Message::system(&*old), Message::system(&*new))]
    {
        let mut lane = Lane::new();
        let from = say(&mut lane, first);
        lane.build(&offer(), (LIMIT, true));
        let to = say(&mut lane, second);
        lane.append(built(&lane, from.next()));
        let waits = lane.build(&offer(), (LIMIT, false));
        assert!(waits.changes.is_empty(), "it waits for the lane's next step");
        let lines = |lane: &Lane| {
            show(&lane.history, &lane.view).lines.iter().filter_map(|line| line.seq).collect::<Vec<_>>()
        };
        let order = lines(&lane);
        assert!(order.contains(&from) && order.iter().is_sorted(), "{order:?}");
        let taken = lane.build(&offer(), (LIMIT, true));
        assert_eq!(taken.changes.len(), 1, "{:?}", taken.changes);
        assert_eq!(lines(&lane)[..2], [Seq(2), to], "at the place of the first");
        assert!(!lines(&lane).contains(&from));
        let rendered = show(&lane.history, &lane.view);
        let gone: Vec<_> = rendered.missing.iter().map(|run| (run.from, run.shown_at)).collect();
        assert_eq!(gone, [(from, Some(to))]);
    }
}

fn built(lane: &Lane, through: Seq) -> Fact {
    let mut history = lane.history.clone();
    let plan = wunderblock_core::plan::Plan { through, ..Default::default() };
    history.built(plan, WINDOW).fact.unwrap()
}

#[test]
fn different_texts_are_all_shown() {
    let (rules, skills) = (long("keep to the rules"), long("know these skills"));
    let mut lane = said(&[&rules, &skills, "Answer in French."]);
    rebuild(&mut lane);
    assert_eq!(show(&lane.history, &lane.view).missing, []);
    for text in [&*rules, &*skills, "Answer in French."] {
        assert_eq!(count(&lane, text), 1);
    }
}

#[test]
fn of_a_message_with_one_new_part_only_the_new_part_is_shown() {
    let (rules, skills) = (long("keep to the rules"), long("know these skills"));
    let parts = |last: &str| Message::new(Role::System, [&*rules, &*skills, last].map(Part::text).into());
    let mut lane = Lane::new();
    say(&mut lane, parts("the folder is a"));
    let second = say(&mut lane, parts("the folder is b"));
    rebuild(&mut lane);
    for text in [&*rules, &*skills, "the folder is a", "the folder is b"] {
        assert_eq!(count(&lane, text), 1, "{text}");
    }
    let rendered = show(&lane.history, &lane.view);
    let listed: Vec<_> =
        rendered.missing.iter().map(|run| (run.from, run.known.unwrap().0, run.shown_at)).collect();
    assert_eq!(listed, [(second, 2, Some(Seq(3)))], "two parts of one message");
    assert!(rendered.lines.iter().any(|line| line.seq == Some(second)));
}

#[test]
fn a_copy_is_shown_again_once_the_first_is_erased_or_hidden() {
    for gone in [
        Fact::ContentErased(ContentErased {
            from_seq: Seq(3),
            to_seq: Seq(3),
            events: 1,
            blobs: 0,
            source_bytes: Bytes(0),
            reason: None,
        }),
        Fact::ContentHidden(ContentHidden { target: Seq(3), hidden: true }),
    ] {
        let mut lane = said(&["You are Ada.", "You are Ada."]);
        rebuild(&mut lane);
        lane.append(gone);
        assert_eq!(count(&lane, "You are Ada."), 1);
        let rendered = show(&lane.history, &lane.view);
        assert!(rendered.lines.iter().any(|line| line.seq == Some(Seq(5))), "the copy stands in");
    }
}

/// Generates histories in which the operator repeats a few texts.
fn repeating() -> impl Strategy<Value = Vec<Step>> {
    let system = (5..7u8, prop_oneof![Just(100usize), Just(400usize)]);
    let system = system.prop_map(|(kind, len)| Step::System(Text { kind, len, blob: true }));
    // A ledger keeps equal texts in the same way: those that repeat have 512 bytes and more, so they are in blobs.
    let alike = |step| match step {
        Step::System(text) => Step::System(Text { blob: text.kind >= 5, ..text }),
        step => step,
    };
    let again = prop::collection::vec(prop::option::weighted(0.4, system), 40);
    (steps(40), again).prop_map(move |(steps, again)| {
        let both = steps.into_iter().map(alike).zip(again);
        both.flat_map(|(step, again)| again.into_iter().chain([step])).collect()
    })
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn copies_cost_nothing_are_listed_and_never_change_what_was_shown(steps in repeating(), budget in budget()) {
        let mut history = new_history();
        history.input.is_used = true;
        history.input.offer = offer();
        let mut view = view_of(&history.events);
        let mut last = None;
        for step in &steps {
            let from = history.events.len();
            history.play(step);
            history.events[from..].iter().for_each(|event| view.apply(event));
            let at = history.events.len();
            let Ok(built) = build(&mut history, &mut view, budget, &[]) else { continue };
            check_account(&built.rendered, &view_of(&history.events), &history.wax, budget);
            let changes = |fact: &Fact| match fact {
                Fact::PreambleChanged(changed) => !changed.changes.is_empty() || !changed.takes_in.is_empty(),
                Fact::ViewTrimmed(_) | Fact::ContentErased(_) | Fact::ContentPinned(_) | Fact::ContentHidden(_) => true,
                _ => false,
            };
            if let Some((before, end)) = &last
                && !history.events[*end..].iter().filter_map(|event| event.fact.as_ref()).any(changes)
            {
                check_grown(before, &built);
            }
            // A source of the caller may say the same as the session; only the session's texts are shown once.
            let whole = built.rendered.lines.iter().filter(|line| line.treatment == Treatment::Verbatim);
            let shown = whole.filter_map(|line| view.entry(line.seq?)).filter(|it| it.message.role == Role::System);
            let mut texts: HashMap<&Body, usize> = HashMap::new();
            for part in shown.flat_map(|entry| &entry.message.parts) {
                if let Part::Text { text, .. } = part {
                    *texts.entry(text).or_default() += 1;
                }
            }
            let is_long = |text: &Body| text.bytes() >= Bytes(5_000);
            // If the place that stands in is erased, both copies may be shown until the beginning is rebuilt.
            let is_gone = |fact: &Option<Fact>| matches!(fact, None | Some(Fact::ContentErased(_)));
            if !history.events.iter().any(|event| is_gone(&event.fact)) {
                prop_assert!(texts.iter().all(|(text, count)| !is_long(text) || *count == 1), "{texts:?}");
            }
            last = Some((built, at));
        }
    }
}

//! What bears on a new turn comes back without being asked for: once, within its share, and from nobody else's sessions.

use super::scene::*;
use crate::scene as words;
use futures_executor::block_on;
use wunderblock::{Built, ContextOptions, UnaskedOutcome};
use wunderblock_core::event::{ContentHidden, Fact, SessionOpened};
use wunderblock_core::id::{LaneId, Scope};
use wunderblock_core::message::{Message, Role};
use wunderblock_core::section::Section;
use wunderblock_core::units::Seq;

const WINDOW: u64 = 24_000;
const FACT: &str = "The kestrel valves of the greenhouse stall at noon, because pump seven overheats.";
const ASKS: &str = "Why do the kestrel valves of the greenhouse stall at noon?";

fn recalling(options: ContextOptions) -> ContextOptions {
    ContextOptions { recall: true, ..options }
}

/// Returns a session whose requests do not show the fact any more, its position, and the options of its requests.
fn forgotten() -> (Scene, Seq, ContextOptions) {
    let (scene, options) = (Scene::new(), recalling(under(&preset("balanced"), WINDOW)));
    scene.user("Begin.");
    scene.reply("I begin.");
    scene.user("And now?");
    let at = scene.reply(FACT);
    for from in 0..6 {
        scene.turns(from * 8..from * 8 + 8);
        scene.build(&options);
    }
    assert!(scene.compactions() > 0 && scene.trim().drop_before > at);
    words::catch_up(&scene.engine);
    (scene, at, options)
}

fn ask(scene: &Scene, prompt: &str, options: &ContextOptions) -> Built {
    scene.user(prompt);
    scene.build(options)
}

/// Returns the positions that entered, and why no more did.
fn entered(built: &Built) -> (Vec<Seq>, UnaskedOutcome) {
    let unasked = built.draft.unasked.as_ref().expect("a search");
    (unasked.entered.iter().map(|one| one.at).collect(), unasked.outcome)
}

#[test]
fn what_a_compaction_dropped_comes_back_once_and_replays() {
    let (scene, at, options) = forgotten();
    let off = ContextOptions { recall: false, prompt: Some(ASKS.to_owned()), ..options.clone() };
    let without = scene.explain(&off);
    assert!(without.draft.unasked.is_none() && !Shown::of(&without.draft.body).says("recalled from"));
    let first = ask(&scene, ASKS, &options);
    assert_eq!(entered(&first).0, [at]);
    let shown = Shown::of(&first.draft.body);
    assert!(
        shown.says(FACT) && shown.says(&format!("recalled from position {at}: a part of an assistant's"))
    );
    let report = first.draft.report.entries.iter().filter(|entry| entry.section == Section::Recall);
    assert_eq!(report.count(), 1);
    let count = scene.count("context.injected");
    for round in 0..3 {
        scene.say(Message::new(Role::Assistant, vec![call(&format!("c{round}"), "Bash", "{}")]));
        scene.say(result(&format!("c{round}"), "nothing"));
        let next = scene.build(&options);
        assert!(next.draft.unasked.is_none(), "the turn has been searched for");
        let (stem, body) = (first.draft.stem.0 as usize, &next.draft.body);
        assert_eq!(body[..stem], first.draft.body[..stem], "the request only grows at its end");
    }
    assert_eq!(scene.count("context.injected"), count);
    for recorded in [first.recorded, Some(scene.head())] {
        block_on(scene.session.replay(recorded)).unwrap();
    }
    assert!(block_on(scene.session.replay(first.recorded)).unwrap().body == first.draft.body);
    assert_eq!(scene.problems(), [""; 0]);
}

#[test]
fn a_passage_does_not_enter_again_within_five_turns() {
    let (scene, at, options) = forgotten();
    let first = ask(&scene, ASKS, &options);
    assert_eq!(entered(&first).0, [at]);
    let next = |prompt: &str| {
        // A step drops the passage from the request.
        for part in 0..12 {
            scene.reply(&format!("Part {part}: {}", "the work goes on. ".repeat(180)));
        }
        words::catch_up(&scene.engine);
        ask(&scene, prompt, &options)
    };
    for turn in 1..5 {
        assert!(next("Go on.").draft.unasked.is_none(), "{turn}");
    }
    assert!(scene.trim().drop_before > first.recorded.unwrap());
    assert_eq!(entered(&next(ASKS)), (Vec::new(), UnaskedOutcome::Lately), "the fifth turn");
    assert_eq!(entered(&next(ASKS)).0, [at], "the sixth");
}

#[test]
fn noise_recalls_nothing() {
    let (scene, _, options) = forgotten();
    let built = ask(&scene, "Compose a haiku about winter mornings in Lisbon.", &options);
    assert_eq!(entered(&built), (Vec::new(), UnaskedOutcome::Floor));
    for prompt in ["Go on.", "/compact", "Yes, please do that."] {
        assert!(ask(&scene, prompt, &options).draft.unasked.is_none(), "{prompt}");
    }
    assert_eq!(scene.count("context.injected"), 0);
}

#[test]
fn what_enters_takes_at_most_a_twentieth_of_the_window() {
    let (scene, options) = (Scene::new(), recalling(under(&preset("balanced"), WINDOW)));
    scene.user("Begin.");
    for number in 0..24 {
        let more = format!("Bed {number} has clay, and its gate {number} is shut. ").repeat(5);
        scene.reply(&format!("{number}: {FACT} {more}"));
    }
    for from in 0..6 {
        scene.turns(from * 8..from * 8 + 8);
        scene.build(&options);
    }
    words::catch_up(&scene.engine);
    let built = ask(&scene, ASKS, &options);
    let (all, outcome) = entered(&built);
    let lines = built.draft.report.entries.iter().filter(|entry| entry.section == Section::Recall);
    let tokens: u64 = lines.map(|line| line.tokens.0).sum();
    assert!(all.len() > 1 && (WINDOW / 40..=WINDOW / 20).contains(&tokens), "{tokens} tokens in {all:?}");
    assert_eq!(outcome, UnaskedOutcome::NoRoom);
    // Together with what is still shown of it.
    let built = ask(&scene, &format!("{ASKS} And the gate of bed 3?"), &options);
    let lines = built.draft.report.entries.iter().filter(|entry| entry.section == Section::Recall);
    assert!(lines.map(|line| line.tokens.0).sum::<u64>() <= WINDOW / 20);
}

fn scope(project: Option<&str>, agent: Option<&str>, user: Option<&str>) -> Scope {
    let [project, agent, user] = [project, agent, user].map(|name| name.map(str::to_owned));
    Scope { project, agent, user, ..Scope::default() }
}

/// Opens a session with texts. Returns its engine handle.
fn open(scene: &Scene, id: &str, scope: &Scope, text: &str) -> wunderblock::Session {
    let session = scene.engine.session_by_id(words::stream(id));
    let opened = SessionOpened { scope: scope.clone(), ..SessionOpened::default() };
    let events = vec![
        scene.event(Fact::SessionOpened(opened)),
        scene.event(said(Message::text(Role::User, "What is it?"))),
        scene.event(said(Message::text(Role::Assistant, text))),
    ];
    block_on(session.append(events)).unwrap();
    session
}

#[test]
fn nothing_comes_from_another_project_agent_or_user() {
    let scopes = [
        scope(Some("garden"), Some("pi"), Some("ann")),
        scope(Some("garden"), Some("pi"), Some("anna")),
        scope(Some("garden"), Some("pi"), None),
        scope(Some("garden"), Some("codex"), Some("ann")),
        scope(Some("garden"), None, Some("ann")),
        scope(Some("garden/pond"), Some("pi"), Some("ann")),
        scope(None, Some("pi"), Some("ann")),
    ];
    for is_indexed in [false, true] {
        let scene = Scene::new();
        for (number, scope) in scopes.iter().enumerate() {
            open(&scene, &format!("past{number}"), scope, &format!("{FACT} The mark is W{number}."));
        }
        if is_indexed {
            words::catch_up(&scene.engine);
        }
        for (number, scope) in scopes.iter().enumerate() {
            let asking = open(&scene, &format!("asking{number}"), scope, "Nothing yet.");
            block_on(asking.append(vec![scene.event(said(Message::text(Role::User, ASKS)))])).unwrap();
            let built = block_on(asking.context(recalling(window(WINDOW)))).unwrap();
            words::sound(&built);
            let unasked = built.draft.unasked.unwrap();
            let from: Vec<&str> =
                unasked.entered.iter().filter_map(|one| Some(one.session.as_ref()?.as_str())).collect();
            // Sessions without a project have no others beside them.
            let expected = scope.project.is_some().then(|| format!("past{number}"));
            assert_eq!(from, expected.as_deref().into_iter().collect::<Vec<_>>(), "{scope:?}");
            let shown = Shown::of(&built.draft.body);
            for other in 0..scopes.len() {
                let may = expected.is_some() && other == number;
                assert_eq!(shown.says(&format!("The mark is W{other}.")), may, "{scope:?}, {other}");
            }
        }
    }
}

#[test]
fn hidden_and_erased_texts_do_not_come_back_and_copies_are_erased() {
    let own = scope(Some("garden"), Some("pi"), None);
    let scene = Scene::new();
    let (kept, hidden) = (format!("{FACT} Kept."), format!("{FACT} Hidden."));
    for number in 0..6 {
        open(&scene, &format!("filler{number}"), &own, "Nothing of that kind is known here.");
    }
    let past = open(&scene, "past", &own, &kept);
    let other = open(&scene, "other", &own, &hidden);
    let hide = Fact::ContentHidden(ContentHidden { target: Seq(3), hidden: true });
    block_on(other.append(vec![scene.event(hide)])).unwrap();
    let asking = open(&scene, "asking", &own, "Nothing yet.");
    block_on(asking.append(vec![scene.event(said(Message::text(Role::User, ASKS)))])).unwrap();
    let built = block_on(asking.context(recalling(window(WINDOW)))).unwrap();
    let shown = Shown::of(&built.draft.body);
    assert!(shown.says(&kept) && !shown.says(&hidden));
    block_on(past.erase(Seq(3), Seq(3), None)).unwrap();
    assert!(!words::exported(&asking).contains("Kept."), "the copy is erased with its text");
    let lane = Some(LaneId::new("second").unwrap());
    let built = block_on(asking.context(ContextOptions { lane, ..recalling(window(WINDOW)) })).unwrap();
    assert_eq!(entered(&built), (Vec::new(), UnaskedOutcome::Floor));
    assert_eq!(scene.problems(), [""; 0]);
}

#[test]
fn a_search_that_cannot_run_stops_no_build() {
    let own = scope(Some("garden"), None, None);
    let scene = Scene::new();
    let past = open(&scene, "past", &own, FACT);
    let filler = |_| scene.event(said(Message::text(Role::User, "a few words")));
    block_on(past.append((0..4_200).map(filler).collect::<Vec<_>>())).unwrap();
    let asking = open(&scene, "asking", &own, "Nothing yet.");
    let build = || {
        block_on(asking.append(vec![scene.event(said(Message::text(Role::User, ASKS)))])).unwrap();
        entered(&block_on(asking.context(recalling(window(WINDOW)))).unwrap())
    };
    assert_eq!(build(), (Vec::new(), UnaskedOutcome::NotIndexed));
    words::catch_up(&scene.engine);
    assert_eq!(build(), (vec![Seq(3)], UnaskedOutcome::Floor));
}

#[test]
fn a_lane_in_memory_recalls_what_the_ledger_does() {
    let (scene, at, options) = forgotten();
    for prompt in [ASKS, "What was error E0007 in src/part_7.rs?", "Did step_12_7 break the conveyor?"] {
        scene.user(prompt);
        let mut memory = block_on(scene.session.lane(LaneId::main()).in_memory()).unwrap();
        let (ledger, built) = (scene.build(&options), memory.context(&options).unwrap());
        assert_eq!(built.draft.unasked, ledger.draft.unasked, "{prompt}");
        assert!(built.draft.body == ledger.draft.body, "{prompt}");
        assert_eq!(prompt == ASKS, entered(&ledger).0.contains(&at));
    }
}

//! Lists wait for the lane's next step; instructions and the system text do not.

use crate::scene::*;
use crate::untrusted_stays_untrusted::outside::desk::*;
use futures_executor::block_on;
use wunderblock::{Resource, Sources};
use wunderblock_core::message::Role;
use wunderblock_core::plan::TrimReason;
use wunderblock_core::units::Tokens;

fn listed(version: &str) -> Sources {
    let resource = |uri: &str, text: Option<String>| Resource {
        uri: uri.to_owned(),
        name: String::new(),
        description: format!("of {version}"),
        text,
        pinned: false,
    };
    Sources {
        tools: Some(vec![tool("Read", &long(&format!("{version} tool"))).into()]),
        skills: Some(vec![skill("bake", &format!("{version} skill"), "Heat the oven.")]),
        memory: Some(vec![given("taste", &format!("{version} memory"))]),
        resources: Some(vec![
            resource("doc://fetched", Some(format!("{version} text"))),
            resource("doc://not-fetched", None),
        ]),
        ..Sources::default()
    }
}

fn four(how: &str) -> Vec<String> {
    let names = ["tools Read", "skills bake", "pinned_memory taste"];
    let resources = ["resources doc://fetched", "resources doc://not-fetched"];
    names.iter().chain(&resources).map(|name| format!("{name} {how}")).collect()
}

#[test]
fn what_does_not_change_is_recorded_once() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[("AGENTS.md", &long("Be brief")), ("sub/AGENTS.md", "Be kind.")]);
    let sources = || Sources { instructions: Some(project.instructions()), ..listed("first") };
    let mut last = built(&session, &with(sources()));
    assert!(last.draft.changes.is_empty(), "a lane's first preamble changes nothing");
    for number in 0..4 {
        append(&engine, "s", reads(number, "notes.txt"));
        let next = built(&session, &with(sources()));
        assert_eq!((told(&next.draft.changes), told(&next.draft.pending)), (Vec::new(), Vec::new()));
        assert!(goes_on(&last, &next));
        last = next;
    }
    assert_eq!(preambles(&session).len(), 1);
}

#[test]
fn lists_that_change_wait_for_the_next_step() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let first = built(&session, &with(listed("first")));
    append(&engine, "s", reads(1, "a.txt"));
    let second = built(&session, &with(listed("second")));
    assert!(goes_on(&first, &second));
    assert_eq!(told(&second.draft.pending), four("altered"));
    assert_eq!((times(&second, "second"), second.draft.changes.len()), (0, 0));
    // When the window is full, a step rewrites the beginning anyway.
    append(
        &engine,
        "s",
        (0..40).map(|n| said(&format!("n{n}"), Role::User, &"many words ".repeat(400))).collect(),
    );
    let main = wunderblock_core::id::LaneId::main();
    let narrow = wunderblock::ContextOptions {
        lane: Some(main),
        window: Some(Tokens(24_000)),
        ..with(listed("second"))
    };
    let third = built(&session, &narrow);
    assert_eq!(third.draft.step, Some(TrimReason::OverBudget));
    assert_eq!((told(&third.draft.changes), third.draft.pending.len()), (four("altered"), 0));
    assert!(times(&third, "second tool") > 0 && times(&third, "first") == 0);
    let fourth = built(&session, &narrow);
    assert!(goes_on(&third, &fourth) && fourth.draft.pending.is_empty());
}

#[test]
fn a_change_requested_now_breaks_the_prefix_immediately() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let first = built(&session, &with(listed("first")));
    let second = built(&session, &with(Sources { now: true, ..listed("second") }));
    assert_eq!(told(&second.draft.changes), four("altered"));
    assert!(!goes_on(&first, &second));
    let (.., difference) = block_on(session.diff(first.recorded.unwrap(), second.recorded.unwrap())).unwrap();
    assert!(!difference.append_only);
    let causes: Vec<_> = difference.causes.iter().map(|(_, why)| why.as_str()).collect();
    assert!(causes.len() == 1 && causes[0].contains("tools Read altered"), "{causes:?}");
    assert_eq!(difference.causes[0].0, preambles(&session)[1].0);
}

#[test]
fn a_changed_instruction_leaves_what_waits_waiting() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[("AGENTS.md", &long("Be brief"))]);
    let sources = |lists: Sources| Sources { instructions: Some(project.instructions()), ..lists };
    built(&session, &with(sources(listed("first"))));
    project.write("AGENTS.md", &long("Be long"));
    let second = built(&session, &with(sources(listed("second"))));
    assert_eq!(told(&second.draft.changes), ["instructions AGENTS.md altered"]);
    assert_eq!(told(&second.draft.pending), four("altered"));
    assert!(
        times(&second, "Be long") > 0 && times(&second, "first tool") > 0 && times(&second, "second") == 0
    );
    assert!(block_on(session.replay(second.recorded)).unwrap().body == second.draft.body);
}

#[test]
fn a_source_that_is_not_named_stays_as_it_was() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[("AGENTS.md", &long("Be brief"))]);
    let all = Sources { instructions: Some(project.instructions()), ..listed("first") };
    let first = built(&session, &with(all));
    append(&engine, "s", reads(1, "a.txt"));
    let silent = built(&session, &with(Sources::default()));
    assert!(goes_on(&first, &silent));
    let other = Sources { system: Some(vec![given("house", "You speak softly.")]), ..Sources::default() };
    let third = built(&session, &with(other));
    assert_eq!(told(&third.draft.changes), ["system house added"]);
    assert!(
        times(&third, "Be brief") > 0 && times(&third, "first tool") > 0 && times(&third, "first skill") == 1
    );
    let emptied =
        Sources { tools: Some(Vec::new()), skills: Some(Vec::new()), now: true, ..Sources::default() };
    let fourth = built(&session, &with(emptied));
    assert_eq!(told(&fourth.draft.changes), ["tools Read altered", "skills bake removed"]);
    assert!(
        times(&fourth, "first tool") == 0
            && times(&fourth, "first skill") == 0
            && times(&fourth, "Be brief") > 0
    );
}

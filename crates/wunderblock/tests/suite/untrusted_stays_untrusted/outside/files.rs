//! Instructions are read from their source at each build, never from history.

use crate::scene::*;
use crate::untrusted_stays_untrusted::outside::desk::*;
use futures_executor::block_on;
use wunderblock::{ContextOptions, Sources};
use wunderblock_core::message::{Message, MessageOrigin, Role};

#[test]
fn a_changed_file_holds_in_the_next_build_and_stands_there_once() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[("AGENTS.md", "Use tabs."), ("CLAUDE.md", &long("Write tests"))]);
    let first = built(&session, &with(project.sources()));
    project.write("AGENTS.md", "Use spaces.");
    let second = built(&session, &with(project.sources()));
    assert_eq!(told(&second.draft.changes), ["instructions AGENTS.md altered"]);
    assert_eq!((times(&second, "Use tabs"), times(&second, "Use spaces")), (0, 1));
    project.remove("AGENTS.md");
    project.remove("CLAUDE.md");
    let third = built(&session, &with(project.sources()));
    assert_eq!(
        told(&third.draft.changes),
        ["instructions AGENTS.md removed", "instructions CLAUDE.md removed"]
    );
    assert_eq!((times(&third, "Use"), times(&third, "Write tests")), (0, 0));
    for one in [&first, &second, &third] {
        assert!(block_on(session.replay(one.recorded)).unwrap().body == one.draft.body);
    }
}

#[test]
fn a_directorys_instructions_enter_at_the_tail_and_move_up_with_the_next_change() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let nested = long("Here we speak French");
    let project = Project::new(&[("AGENTS.md", "Use tabs."), ("sub/AGENTS.md", &nested)]);
    append(&engine, "s", reads(9, "b.txt"));
    let first = built(&session, &with(project.sources()));
    assert_eq!(times(&first, "French"), 0);
    append(&engine, "s", reads(1, "sub/a.txt"));
    let second = built(&session, &with(project.sources()));
    assert!(goes_on(&first, &second) && second.draft.changes.is_empty());
    let copies = times(&second, "French");
    assert!(copies > 0);
    append(&engine, "s", reads(2, "sub/b.txt"));
    let third = built(&session, &with(project.sources()));
    assert!(goes_on(&second, &third));
    assert_eq!((times(&third, "French"), kinds(&session, "context.injected")), (copies, 1), "said once");
    project.write("AGENTS.md", "Use spaces.");
    let fourth = built(&session, &with(project.sources()));
    assert_eq!(
        told(&fourth.draft.changes),
        ["instructions AGENTS.md altered", "instructions sub/AGENTS.md moved up from the tail"]
    );
    assert_eq!(times(&fourth, "French"), copies, "not a second time at the tail");
    append(&engine, "s", reads(3, "sub/c.txt"));
    let fifth = built(&session, &with(project.sources()));
    assert!(goes_on(&fourth, &fifth) && fifth.draft.changes.is_empty());
    for one in [&first, &second, &third, &fourth, &fifth] {
        assert!(block_on(session.replay(one.recorded)).unwrap().body == one.draft.body);
    }
}

#[test]
fn a_directorys_instructions_that_change_or_go_leave_no_old_copy() {
    let home = Home::new();
    let engine = home.engine();
    for (id, now) in [("changed", Some("Here we speak Greek.")), ("gone", None)] {
        let session = begun(&engine, id);
        let project = Project::new(&[("AGENTS.md", "Use tabs."), ("sub/AGENTS.md", "Here we speak French.")]);
        built(&session, &with(project.sources()));
        append(&engine, id, reads(1, "sub/a.txt"));
        assert_eq!(times(&built(&session, &with(project.sources())), "French"), 1);
        append(&engine, id, reads(2, "sub/b.txt"));
        match now {
            Some(text) => project.write("sub/AGENTS.md", text),
            None => project.remove("sub/AGENTS.md"),
        }
        let next = built(&session, &with(project.sources()));
        assert_eq!(times(&next, "French"), 0, "{id}");
        assert_eq!(times(&next, "Greek"), usize::from(now.is_some()), "{id}");
        assert_eq!(next.draft.changes.len(), 1, "{id}: {:?}", told(&next.draft.changes));
        append(&engine, id, reads(3, "sub/c.txt"));
        let after = built(&session, &with(project.sources()));
        assert!(
            goes_on(&next, &after) && after.draft.changes.is_empty(),
            "{id}: {:?}",
            told(&after.draft.changes)
        );
    }
}

#[test]
fn the_order_in_which_directories_are_reached_makes_no_second_change() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[("AGENTS.md", "One."), ("z/AGENTS.md", "Last."), ("a/AGENTS.md", "First.")]);
    for (number, (path, text)) in [("z/x.txt", "Two."), ("a/x.txt", "Three.")].into_iter().enumerate() {
        append(&engine, "s", reads(2 * number, path));
        built(&session, &with(project.sources()));
        // The text at the tail moves up.
        project.write("AGENTS.md", text);
        let moved = built(&session, &with(project.sources()));
        append(&engine, "s", reads(2 * number + 1, path));
        let next = built(&session, &with(project.sources()));
        assert!(
            goes_on(&moved, &next) && next.draft.changes.is_empty(),
            "{path}: {:?}",
            told(&next.draft.changes)
        );
    }
    assert_eq!(preambles(&session).len(), 3);
}

#[test]
fn what_was_built_is_built_again_from_the_record_alone() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[("AGENTS.md", &long("Use tabs")), ("sub/AGENTS.md", &long("Be kind"))]);
    append(&engine, "s", reads(1, "sub/a.txt"));
    let first = built(&session, &with(project.sources()));
    project.write("AGENTS.md", "Use spaces.");
    let second = built(&session, &with(project.sources()));
    drop(project);
    for one in [&first, &second] {
        assert!(block_on(session.replay(one.recorded)).unwrap().body == one.draft.body);
        let past = ContextOptions { at: one.recorded, ..with(Sources::default()) };
        assert!(block_on(session.explain(&past)).unwrap().draft.body == one.draft.body);
    }
}

#[test]
fn a_source_that_is_not_named_keeps_what_stands_at_the_tail() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[("AGENTS.md", "Use tabs."), ("sub/AGENTS.md", "Here we speak French.")]);
    built(&session, &with(project.sources()));
    append(&engine, "s", reads(1, "sub/a.txt"));
    built(&session, &with(project.sources()));
    let other = Sources { system: Some(vec![given("house", "You speak softly.")]), ..Sources::default() };
    let next = built(&session, &with(other));
    assert_eq!((times(&next, "Use tabs"), times(&next, "French")), (1, 1));
}

#[test]
fn ignore_rules_hold_from_the_first_build_that_reads_instructions() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[
        ("AGENTS.md", "Use tabs."),
        ("CLAUDE.md", "Hush."),
        (".wunderblockignore", "CLAUDE.md\n"),
    ]);
    let tools = Sources { tools: Some(vec![tool("Read", "Reads.").into()]), ..Sources::default() };
    built(&session, &with(tools));
    let next = built(&session, &with(project.sources()));
    assert_eq!((times(&next, "Use tabs"), times(&next, "Hush")), (1, 0));
    // From here on, the rules apply, whatever happens to their file.
    project.remove(".wunderblockignore");
    let later = built(&session, &with(project.sources()));
    assert_eq!(times(&later, "Hush"), 0);
    assert!(
        later.draft.findings.iter().any(|finding| finding.detail.contains("next session")),
        "{:?}",
        later.draft.findings
    );
}

#[test]
fn what_somebody_else_put_in_stays_whatever_it_is_called() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[("AGENTS.md", "Use tabs.")]);
    for name in ["instructions", "state", "preamble", "recall"] {
        let standing = MessageOrigin::Injected(name.into());
        let said = Message::text(Role::User, format!("A harness says {name}.")).standing(standing);
        append(&engine, "s", vec![message(name, said)]);
    }
    let first = built(&session, &with(project.sources()));
    project.write("AGENTS.md", "Use spaces.");
    let second = built(&session, &with(project.sources()));
    assert_eq!((times(&first, "A harness says"), times(&second, "A harness says")), (4, 4));
}

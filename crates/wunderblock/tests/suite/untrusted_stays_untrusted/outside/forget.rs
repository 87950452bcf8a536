//! Preambles belong to their lane, and can be permanently erased.

use crate::scene::*;
use crate::untrusted_stays_untrusted::outside::desk::*;
use futures_executor::block_on;
use wunderblock::{ContextOptions, Sources};
use wunderblock_core::id::LaneId;
use wunderblock_core::preamble::Preamble;
use wunderblock_core::section::Section;
use wunderblock_core::state::{NamedText, WorkState};

const SECRET: &str = "rosebud-4711";

/// Checks that no file of the ledger contains a text, plain or in a compressed body.
fn gone(home: &Home, secret: &str) {
    for entry in std::fs::read_dir(home.folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let holds = |bytes: &[u8]| memchr::memmem::find(bytes, secret.as_bytes()).is_some();
        assert!(!holds(&bytes), "it is in {}", path.display());
        for at in memchr::memmem::find_iter(&bytes, b"\x28\xb5\x2f\xfd") {
            let mut plain = Vec::new();
            if let Ok(frame) = zstd::stream::read::Decoder::new(&bytes[at..]) {
                let _ = std::io::Read::read_to_end(&mut std::io::Read::take(frame, 1 << 22), &mut plain);
            }
            assert!(!holds(&plain), "it is packed in {}", path.display());
        }
    }
}

fn secrets(project: &Project) -> Sources {
    let text = long(&format!("The word is {SECRET}"));
    Sources {
        safety: Some(vec![given("policy", &text)]),
        tools: Some(vec![tool("Read", &text).into()]),
        skills: Some(vec![skill("bake", SECRET, &text)]),
        memory: Some(vec![given("short", SECRET), given("long", &text)]),
        ..project.sources()
    }
}

#[test]
fn an_erased_preamble_is_gone_and_the_next_build_records_another() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let project = Project::new(&[
        ("AGENTS.md", &long(&format!("Say {SECRET}"))),
        ("CLAUDE.md", SECRET),
        (".wunderblockignore", &format!("{SECRET}\n")),
    ]);
    let first = built(&session, &with(secrets(&project)));
    assert!(times(&first, SECRET) > 0);
    catch_up(&engine);
    let at = preambles(&session)[0].0;
    let erased = block_on(session.erase(at, at, Some("a secret"))).unwrap();
    assert_eq!(erased.events, 1);
    assert!(erased.blobs > 0);
    gone(&home, SECRET);
    let replayed = block_on(session.replay(first.recorded)).unwrap();
    assert!(replayed.erased && !String::from_utf8_lossy(&replayed.body).contains(SECRET));
    // The files have other contents now, and the erased texts do not come back.
    project.write("AGENTS.md", "Use tabs.");
    project.remove("CLAUDE.md");
    project.remove(".wunderblockignore");
    let second = built(&session, &with(project.sources()));
    assert_eq!((times(&second, SECRET), times(&second, "Use tabs.")), (0, 1));
    let [(_, rest), (_, new)] = preambles(&session).try_into().unwrap();
    assert_eq!(rest.preamble, Preamble::default(), "the lane has none, rather than an earlier one");
    assert!(new.preamble != Preamble::default());
    assert!(block_on(session.replay(second.recorded)).unwrap().body == second.draft.body);
    assert_eq!(problems(&engine), [""; 0]);
    gone(&home, SECRET);
}

#[test]
fn an_erased_preamble_does_not_bring_an_older_one_back() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let tools = |words: &str, now| Sources {
        tools: Some(vec![tool("Read", &long(words)).into()]),
        now,
        ..Sources::default()
    };
    built(&session, &with(tools("the oldest words", false)));
    built(&session, &with(tools(SECRET, true)));
    catch_up(&engine);
    let at = preambles(&session)[1].0;
    block_on(session.erase(at, at, None)).unwrap();
    let next = built(&session, &with(tools("the newest words", false)));
    assert_eq!((times(&next, "oldest"), times(&next, SECRET)), (0, 0));
    assert!(times(&next, "newest") > 0 && next.draft.pending.is_empty());
}

#[test]
fn a_state_erased_from_the_tail_is_injected_again_with_its_current_content() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let state = |text: &str| Sources {
        state: Some(WorkState {
            provided: vec![NamedText { name: "status".into(), text: text.into() }],
            ..WorkState::default()
        }),
        ..Sources::default()
    };
    built(&session, &with(state(&long(SECRET))));
    catch_up(&engine);
    let at = events(&session)
        .iter()
        .find(|event| event.fact.as_ref().is_some_and(|fact| fact.kind() == "context.injected"))
        .unwrap()
        .seq;
    block_on(session.erase(at, at, None)).unwrap();
    gone(&home, SECRET);
    let next = built(&session, &with(state("all is well")));
    assert_eq!((times(&next, SECRET), times(&next, "all is well")), (0, 1));
}

#[test]
fn each_lane_has_its_own_preamble_and_its_own_freeze() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let lane = |name: &str, version: &str, now: bool| {
        let sources = Sources {
            system: Some(vec![given("house", &format!("You are {name}."))]),
            tools: Some(vec![tool("Read", &long(&format!("{version} tool"))).into()]),
            now,
            ..Sources::default()
        };
        ContextOptions { lane: Some(LaneId::new(name).unwrap()), ..with(sources) }
    };
    let (one, two) =
        (built(&session, &lane("one", "first", false)), built(&session, &lane("two", "second", false)));
    assert!(times(&one, "You are one.") == 1 && times(&one, "first tool") > 0 && times(&one, "second") == 0);
    assert!(times(&two, "You are two.") == 1 && times(&two, "second tool") > 0 && times(&two, "first") == 0);
    append(&engine, "s", reads(1, "a.txt"));
    // One lane is still waiting for a change that the other lane already has.
    let (one_on, two_on) =
        (built(&session, &lane("one", "second", false)), built(&session, &lane("two", "second", false)));
    assert!(goes_on(&one, &one_on) && goes_on(&two, &two_on));
    assert_eq!(
        (told(&one_on.draft.pending), two_on.draft.pending.len()),
        (vec!["tools Read altered".to_owned()], 0)
    );
    let one_now = built(&session, &lane("one", "second", true));
    assert_eq!(told(&one_now.draft.changes), ["tools Read altered"]);
    let two_still = built(&session, &lane("two", "second", false));
    assert!(goes_on(&two_on, &two_still) && two_still.draft.changes.is_empty());
    for one in [&one, &two, &one_on, &two_on, &one_now, &two_still] {
        assert!(block_on(session.replay(one.recorded)).unwrap().body == one.draft.body);
    }
    let lanes: Vec<String> =
        preambles(&session).into_iter().map(|(_, changed)| changed.lane.to_string()).collect();
    assert_eq!(lanes, ["one", "two", "one"]);
    assert!(
        preambles(&session).iter().all(|(_, changed)| changed.preamble.blocks[0].section == Section::System)
    );
}

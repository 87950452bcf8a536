//! C-29: `expand` returns messages verbatim, on pages of limited length, without skipping anything.

use crate::nothing_is_lost::graph::scene::{Scene, joined, node, said, tokens, user};
use futures_executor::block_on;
use proptest::prelude::*;
use wunderblock::summary_graph::{Expand, Expanded, ItemKind, Shows};
use wunderblock_core::event::{Event, Fact, UsageMeasured};
use wunderblock_core::message::{Body, MediaForm, Part, Role};
use wunderblock_core::units::Seq;

fn page(tokens: u64) -> Expand {
    Expand { page_tokens: tokens, ..Expand::default() }
}

/// Returns the texts of messages in their original form, with position and part.
fn originals(facts: &[(Seq, Fact)]) -> Vec<(Seq, usize, String)> {
    fn texts(part: &Part) -> Vec<String> {
        let text = |body: &Body| body.inline().unwrap().to_owned();
        match part {
            Part::ToolResult { content, .. } => content.iter().flat_map(texts).collect(),
            Part::Media { form: MediaForm::Base64, .. } => vec![String::new()],
            Part::Media { body, .. } => vec![text(body)],
            part => part.bodies().into_iter().map(text).collect(),
        }
    }
    let mut out = Vec::new();
    for (seq, fact) in facts {
        let Fact::MessageAppended(said) = fact else { continue };
        let mut all: Vec<String> = said.message.parts.iter().flat_map(texts).collect();
        if all.is_empty() {
            all.push(String::new());
        }
        out.extend(all.into_iter().enumerate().map(|(part, text)| (*seq, part, text)));
    }
    out
}

fn call(id: &str, input: &str) -> Part {
    Part::ToolCall { call: id.into(), name: "Bash".into(), input: input.into(), gist: None, extra: None }
}

fn result(id: &str, content: Vec<Part>) -> Part {
    Part::ToolResult { call: id.into(), content, failed: false, extra: None }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ,.]{0,80}",
        2 => "(\\PC{0,30}\n){0,8}",
        2 => "[数据库连接失败重试]{0,300}",
        1 => ("[a-z0-9]{1,12}[ \n]?", 100usize..900).prop_map(|(word, times)| word.repeat(times)),
        1 => (1usize..4_000).prop_map(|len| " ".repeat(len)),
        1 => "[\u{1f600}-\u{1f640}]{0,200}",
        1 => Just(String::new()),
    ]
}

fn fact() -> impl Strategy<Value = Fact> {
    let part = prop_oneof![
        3 => text().prop_map(Part::text),
        1 => text().prop_map(|text| Part::Thinking { text: text.into(), signature: None, extra: None }),
        1 => text().prop_map(|text| call("c1", &text)),
        1 => prop::collection::vec(text().prop_map(Part::text), 0..3).prop_map(|content| result("c1", content)),
        1 => (text(), any::<bool>()).prop_map(|(text, data)| Part::Media {
            mime: "image/png".into(),
            form: if data { MediaForm::Base64 } else { MediaForm::Url },
            body: text.into(),
            extra: None,
        }),
    ];
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::Tool), Just(Role::System)];
    prop_oneof![
        6 => (role, prop::collection::vec(part, 0..5)).prop_map(|(role, parts)| said(role, parts)),
        1 => Just(Fact::UsageMeasured(UsageMeasured::default())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn all_pages_are_all_that_was_said(
        facts in prop::collection::vec(fact(), 1..40),
        most in prop_oneof![Just(200u64), Just(2_000), 200u64..1_500],
        (a, b) in (0usize..40, 0usize..40),
    ) {
        let scene = Scene::new();
        let mut facts = facts;
        facts.push(user("so that something is said"));
        let seqs = scene.add(facts.clone());
        let all: Vec<(Seq, Fact)> = seqs.iter().copied().zip(facts).collect();
        let (a, b) = (a.min(all.len() - 1), b.min(all.len() - 1));
        let range = &all[a.min(b)..=a.max(b)];
        let address = scene.at(&format!("{}-{}", range[0].0, range[range.len() - 1].0));
        if originals(range).is_empty() {
            prop_assert!(scene.expand(&address, &page(most)).is_err());
            return Ok(());
        }
        let uncounted = scene.pages(&address, &page(most));
        prop_assert_eq!(joined(&uncounted), originals(range));
        scene.catch_up();
        let counted = scene.pages(&address, &page(most));
        prop_assert_eq!(uncounted, counted, "pages end where they end for everybody");
    }
}

#[test]
fn a_page_reads_like_a_conversation() {
    let scene = Scene::new();
    scene.add(vec![
        user("Why does it fail?\n"),
        said(Role::Assistant, vec![Part::text("I look."), call("c1", "{\"command\":\"cargo test\"}")]),
        said(Role::Tool, vec![result("c1", vec![Part::text("error[E0308]\n  at line 3")])]),
        said(Role::Tool, vec![result("c9", vec![])]),
        said(
            Role::User,
            vec![Part::Media {
                mime: "image/png".into(),
                form: MediaForm::Base64,
                body: "iVBORw0KGgo=".into(),
                extra: None,
            }],
        ),
    ]);
    let all = scene.expand(&scene.at("1-6"), &Expand::default()).unwrap();
    let expected = format!(
        "#2 user\nWhy does it fail?\n\n#3 assistant\nI look.\n→ Bash · cargo test\n{{\"command\":\"cargo test\"}}\n\n\
         #4 tool\n← Bash · cargo test\nerror[E0308]\n  at line 3\n\n#5 tool\n⟨no content⟩\n\n\
         #6 user\n[image/png]\n⟨12 bytes of data: read {}⟩\n",
        scene.at("6")
    );
    assert_eq!(all.text, expected);
    assert_eq!((all.shows, all.page, all.pages, all.next), (Shows::Events, 1, 1, None));
    let kinds: Vec<ItemKind> = all.items.iter().map(|item| item.kind).collect();
    use ItemKind::{Call, Media, Result, Text};
    assert_eq!(kinds, [Text, Text, Call, Result, Text, Media]);
}

#[test]
fn a_message_longer_than_a_page_is_split_not_skipped() {
    let scene = Scene::new();
    let long: String = (0..4_000).map(|line| format!("line {line} of the log 数据\n")).collect();
    scene.add(vec![user("before"), user(&long), user("after")]);
    let pages = scene.pages(&scene.at("1-4"), &Expand::default());
    assert!(pages.len() > 20, "{}", pages.len());
    assert_eq!(joined(&pages)[1].2, long);
    assert!(pages[0].text.starts_with("#2 user\nbefore\n\n#3 user\n⟨B0-"), "{}", pages[0].text);
    assert!(pages[0].text.contains("; page 2 continues⟩\nline 0 of"), "{}", pages[0].text);
    assert!(pages.last().unwrap().text.ends_with("#4 user\nafter\n"));
    let items = pages.iter().flat_map(|page| &page.items);
    assert!(
        items.filter(|item| item.to_byte < item.bytes).all(|item| item.text.ends_with('\n')),
        "cut at lines"
    );
    let handle = pages[1].items[0].address.clone();
    let alone = scene.pages(&handle, &Expand::default());
    assert_eq!((alone[0].shows, joined(&alone)[0].2.as_str()), (Shows::Body, long.as_str()));
}

#[test]
fn no_number_of_tiny_texts_makes_a_page_too_long() {
    let scene = Scene::new();
    let tiny = |kind: usize| match kind % 3 {
        0 => Part::text("ok"),
        1 => call("a-very-long-name-of-a-call", "{}"),
        _ => result("a-very-long-name-of-a-call", vec![Part::text("1")]),
    };
    let facts = vec![said(Role::Assistant, (0..3_000).map(tiny).collect()), user("end")];
    let all: Vec<(Seq, Fact)> = scene.add(facts.clone()).into_iter().zip(facts).collect();
    for most in [200, 2_000] {
        let (found, said) = (joined(&scene.pages(&scene.at("1-3"), &page(most))), originals(&all));
        for (found, said) in found.iter().zip(&said) {
            assert_eq!(found, said);
        }
        assert_eq!(found.len(), said.len());
    }
    for wrong in [0, 199, 100_001] {
        assert!(scene.expand(&scene.at("1-3"), &page(wrong)).is_err());
    }
}

#[test]
fn pages_do_not_move_when_the_session_grows() {
    let scene = Scene::new();
    let turns =
        |from: u64| (from..from + 300).map(|turn| user(&format!("turn {turn} ").repeat(30))).collect();
    scene.add(turns(0));
    let before = scene.pages(&scene.at("1-301"), &Expand::default());
    scene.add(turns(300));
    let after = scene.pages(&scene.at("1-601"), &Expand::default());
    let most = before.len() - 1;
    assert!(most > 5);
    for (before, after) in before.iter().zip(&after).take(most) {
        assert_eq!((&before.items, before.page), (&after.items, after.page));
    }
}

#[test]
fn a_fork_is_read_through_and_nothing_else_is() {
    let scene = Scene::new();
    scene.add(vec![user("shared one"), user("shared two"), user("only the parent's")]);
    let fork = scene.fork("f", Seq(3));
    scene.add_to(&fork, vec![user("only the fork's")]);
    let handle = block_on(fork.info()).unwrap().handle;
    for range in ["1-99", "1-4"] {
        let found = scene.expand(&format!("{handle}#{range}"), &Expand::default()).unwrap();
        assert_eq!(found.text, "#2 user\nshared one\n\n#3 user\nshared two\n\n#4 user\nonly the fork's\n");
    }
    assert_eq!(scene.query(&handle.to_string(), "only parent").items.len(), 1);
    assert_eq!(scene.query(&handle.to_string(), "parent's").matches, Some(0));
}

#[test]
fn what_cannot_be_expanded_says_what_to_do() {
    let scene = Scene::new();
    scene.add(vec![user("one"), Fact::UsageMeasured(UsageMeasured::default())]);
    for (address, says) in [
        (scene.at("3"), "positions 3 to 3 hold no messages, only records"),
        (scene.at("4-9"), "the session has positions 1 to 3"),
        ("wb:0000000000000001".to_owned(), "unknown handle"),
    ] {
        let error = scene.expand(&address, &Expand::default()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let error = scene.expand(&scene.at("2"), &Expand { page: Some(2), ..Expand::default() }).unwrap_err();
    assert_eq!(error.to_string(), "there is no page 2: the last page is 1");
    let blank = Expand { query: Some(" \n".to_owned()), ..Expand::default() };
    assert!(scene.expand(&scene.at("2"), &blank).unwrap_err().to_string().contains("the query is empty"));
}

#[test]
fn a_query_finds_words_in_any_case_and_language() {
    let scene = Scene::new();
    let log: String = (1..=200).map(|line| format!("step {line} compiles\n")).collect();
    let log = log.replace("step 150 compiles", "step 150 FAILED in parse_expr(): 数据库连接失败");
    scene.add(vec![
        user("the port is 4711"),
        said(Role::Tool, vec![result("c", vec![Part::text(log)])]),
        user("The PORT of staging is 8080, the port of production 4711"),
        user("staging again"),
    ]);
    let all = scene.at("1-5");
    let seqs = |found: &Expanded| found.items.iter().map(|item| item.seq.unwrap().0).collect::<Vec<_>>();
    let port = scene.query(&all, "port staging");
    assert_eq!(seqs(&port), [4, 5, 2], "both words first, then the newer");
    assert_eq!(port.items[0].matched, ["port", "staging"]);
    assert!(port.text.starts_with(&format!("#4 user · {}\nThe PORT of", scene.at("4"))), "{}", port.text);
    let cjk = scene.query(&all, "连接失败");
    assert_eq!(seqs(&cjk), [3]);
    let item = &cjk.items[0];
    let lines: Vec<&str> = item.text.lines().collect();
    assert_eq!(lines.len(), 5, "two lines on either side: {}", item.text);
    assert!(lines[2].starts_with("step 150 FAILED"));
    assert!(cjk.text.contains("· line 150 · bytes "), "{}", cjk.text);
    assert_eq!(seqs(&scene.query(&all, "PARSE_EXPR()")), [3], "no pattern, but words");
    assert_eq!(scene.query(&all, "nowhere").text, "");
    let alone = scene.query(&item.address, "150 step");
    assert!(alone.items[0].text.contains("step 150"), "{}", alone.text);
    assert_eq!((alone.shows, alone.page), (Shows::Hits, 1));
}

#[test]
fn many_hits_take_one_page_and_the_rest_is_counted() {
    let scene = Scene::new();
    scene.add((0..500).map(|turn| user(&format!("the needle of turn {turn} ").repeat(9))).collect());
    let found = scene.query(&scene.at("1-501"), "needle");
    let shown = found.items.len() as u64;
    assert_eq!((found.matches, found.more, found.pages), (Some(500), Some(500 - shown), 1));
    assert!(shown > 10, "{shown}");
    assert_eq!(found.items[0].seq, Some(Seq(501)), "the newest of equals first");
    assert!(found.text.contains(&format!("⟨{} more match;", 500 - shown)));
    let dense = Scene::new();
    dense.one(user(&"\u{1f9ff}\u{fffd}\u{10ffff}needle".repeat(5_000)));
    let small = Expand { query: Some("needle".to_owned()), ..page(200) };
    let found = dense.expand(&dense.at("2"), &small).unwrap();
    assert_eq!(found.items.len(), 1, "one hit always has room");
}

/// Creates 1,000 facts, each in a separate message among others, under three levels of nodes.
fn planted() -> (Scene, Seq) {
    let scene = Scene::new();
    let mut leaves = Vec::new();
    for leaf in 0..100 {
        let mut facts = Vec::new();
        for fact in leaf * 10..leaf * 10 + 10 {
            facts.push(user(&format!("Note well: the value of key-{fact:04} is {}.", value(fact))));
            facts
                .push(said(Role::Assistant, vec![Part::text(format!("I work on step {fact}. ").repeat(12))]));
        }
        let seqs = scene.add(facts);
        let text = format!("keys key-{:04} to key-{:04} were set", leaf * 10, leaf * 10 + 9);
        leaves.push(scene.compacted(node((seqs[0], seqs[19]), &text)));
    }
    let mut lower = Vec::new();
    for (group, ten) in leaves.chunks(10).enumerate() {
        let text = format!("keys key-{:04} to key-{:04} were set", group * 100, group * 100 + 99);
        lower.push(scene.compacted(wunderblock_core::event::SessionCompacted {
            level: 1,
            sources: ten.to_vec(),
            ..node((Seq(group as u64 * 210 + 2), Seq(group as u64 * 210 + 210)), &text)
        }));
    }
    let root = scene.compacted(wunderblock_core::event::SessionCompacted {
        level: 2,
        sources: lower,
        ..node((Seq(2), Seq(2_100)), "keys key-0000 to key-0999 were set")
    });
    scene.catch_up();
    (scene, root)
}

fn value(fact: usize) -> String {
    format!("v{:08x}", fact.wrapping_mul(2_654_435_761) & 0xffff_ffff)
}

/// Finds the summary whose keys include `key` on a page, and returns its address.
fn names(page: &Expanded, key: usize) -> Option<String> {
    let names = |text: &str| {
        let mut ends = text.split("key-").skip(1).map(|rest| rest[..4].parse::<usize>().unwrap());
        ends.next().unwrap() <= key && key <= ends.next().unwrap()
    };
    page.items.iter().find(|item| names(&item.text)).map(|item| item.address.clone())
}

/// Finds every `step`-th of a thousand facts.
fn finds_facts(step: usize) {
    let (scene, root) = planted();
    let address = scene.at(&root.to_string());
    for fact in (0..1_000).step_by(step) {
        let found = scene.query(&address, &format!("key-{fact:04}"));
        assert!(found.text.contains(&value(fact)), "key-{fact:04}:\n{}", found.text);
        let (mut at, mut reads, mut wanted) = (address.clone(), 0, Expand::default());
        loop {
            let page = scene.expand(&at, &wanted).unwrap();
            reads += 1;
            if page.text.contains(&value(fact)) {
                break;
            }
            match if page.shows == Shows::Nodes { names(&page, fact) } else { None } {
                Some(child) => (at, wanted) = (child, Expand::default()),
                None => wanted.page = Some(page.next.unwrap_or_else(|| panic!("key-{fact:04}: {page:#?}"))),
            }
        }
        assert!(reads <= 5, "key-{fact:04} took {reads} reads");
    }
}

/// Every 37th of the facts has each place within its summary, and all summaries of summaries lead to some.
#[test]
fn facts_among_a_thousand_are_found_by_a_query_and_by_descending() {
    finds_facts(37);
}

#[test]
#[ignore = "takes minutes: .ci/full runs it, and so does --ignored"]
fn a_thousand_facts_are_found_by_a_query_and_by_descending() {
    finds_facts(1);
}

#[test]
fn beneath_a_node_over_nodes_stand_the_events() {
    let (scene, root) = planted();
    let address = scene.at(&root.to_string());
    let below = Expand { children: false, ..Expand::default() };
    let pages = scene.pages(&address, &below);
    let all: Vec<Event> = scene.events();
    let facts: Vec<(Seq, Fact)> = all
        .into_iter()
        .filter_map(|event| Some((event.seq, event.fact?)))
        .filter(|(_, fact)| matches!(fact, Fact::MessageAppended(_)))
        .map(|(seq, fact)| (seq, whole(&scene, fact)))
        .collect();
    assert_eq!(joined(&pages), originals(&facts));
    assert!(
        pages.iter().map(|page| tokens(&page.text)).sum::<u64>() / pages.len() as u64 > 1_000,
        "pages are full"
    );
}

fn whole(scene: &Scene, mut fact: Fact) -> Fact {
    for body in fact.bodies_mut() {
        if let Some(handle) = body.handle() {
            let address = wunderblock::Address { handle, range: None };
            let read = block_on(scene.engine.recall().read(address, &wunderblock::Slice::All)).unwrap();
            *body = Body::Inline(String::from_utf8(read.bytes).unwrap());
        }
    }
    fact
}

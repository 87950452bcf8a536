//! Figures of a simulation, each compared with a value obtained another way.

use crate::compacts_without_losing::simulate::scene::{
    Step, events, of, options, played, presets, simulate, simulate_all,
};
use futures_executor::block_on;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wunderblock::catalog::{BilledTokens, Catalog, MicroDollars};
use wunderblock::policy::Policies;
use wunderblock::{ContextOptions, Error, SimulateOptions};
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::EventId;
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::units::{Millis, Tokens};

const MINUTE: i64 = 60_000;

fn at(id: &str, minutes: i64, message: Message) -> NewEvent {
    let fact = Fact::MessageAppended(MessageAppended { message });
    let at = Millis(1_790_000_000_000 + minutes * MINUTE);
    NewEvent { id: EventId::new(id).unwrap(), at, source: EventSource::Live, fact }
}

fn said(id: &str, minutes: i64, role: Role, text: &str) -> NewEvent {
    at(id, minutes, Message::text(role, text))
}

/// Returns at least the given number of words, without a literal.
fn filler(words: usize) -> String {
    "plain words go on and on ".repeat(words.div_ceil(6))
}

/// The simulation of `off` agrees with requests that the engine builds one by one.
#[test]
fn off_costs_what_its_requests_cost() {
    let steps: Vec<Step> = (0..14)
        .flat_map(|turn| {
            [
                Step::User(300),
                Step::Reply(500, vec![(Some(2_000 + turn * 100), false)]),
                Step::Reply(200, Vec::new()),
            ]
        })
        .collect();
    let all = events(&steps);
    let live = played(Vec::new());
    let context = ContextOptions {
        model: Some("claude-sonnet-4-5".to_owned()),
        window: Some(Tokens(200_000)),
        ..ContextOptions::uncompacted()
    };
    let mut sent = Vec::new();
    for event in &all {
        let is_reply =
            matches!(&event.fact, Fact::MessageAppended(said) if said.message.role == Role::Assistant);
        if is_reply {
            sent.push(block_on(live.session.context(&context)).unwrap().draft.report.total_tokens.0);
        }
        block_on(live.session.append(vec![event.clone()])).unwrap();
    }
    let found = simulate(&played(all).session, &options(200_000, None, presets(&["off"])));
    let off = of(&found, "off");
    assert_eq!(off.series, sent, "each request takes what the engine's own takes");
    // Nothing is left out, so each request begins with the whole previous one. The requests follow each other within
    // the lifetime of the cache.
    let catalog = Catalog::embedded();
    let row = catalog.lookup("claude-sonnet-4-5").row;
    let price = row.price_at(Millis(1_700_000_000_000)).unwrap();
    let mut before = 0;
    let mut cost = MicroDollars::ZERO;
    for total in sent {
        let cached = if before >= row.cache.minimum.0 { before } else { 0 };
        let writes = total >= row.cache.minimum.0;
        let fresh = Tokens(total - cached);
        cost += price.cost(BilledTokens {
            input: if writes { Tokens::ZERO } else { fresh },
            cache_read: Tokens(cached),
            cache_write: if writes { fresh } else { Tokens::ZERO },
            output: Tokens::ZERO,
        });
        before = total;
    }
    assert_eq!(off.cost, Some(cost.0));
}

/// Creates a session in which the agent returns to something it saw long before.
fn far_back(between: usize) -> Vec<NewEvent> {
    let call = |id: &str, path: &str| Part::ToolCall {
        call: id.into(),
        name: "Read".into(),
        input: format!("{{\"file_path\":\"{path}\"}}").into(),
        gist: None,
        extra: None,
    };
    let result = |id: &str, text: String| Part::ToolResult {
        call: id.into(),
        content: vec![Part::text(text)],
        failed: false,
        extra: None,
    };
    let note = format!("{}\nthe retry limit is max_retry_4711 there\n{}", filler(300), filler(300));
    let mut events = vec![
        said("u1", 0, Role::User, "please look into the queue"),
        at("a1", 1, Message::new(Role::Assistant, vec![call("c1", "src/queue/worker.rs")])),
        at("r1", 2, Message::new(Role::Tool, vec![result("c1", note)])),
    ];
    for nth in 0..between {
        let (reply, user) = (format!("b{nth}"), format!("v{nth}"));
        events.push(said(&reply, 3, Role::Assistant, &filler(1_000)));
        events.push(said(&user, 3, Role::User, &filler(1_000)));
    }
    let back = "It was max_retry_4711 in src/queue/worker.rs, and unheard_of_8812 is new.";
    events.push(said("z1", 4, Role::Assistant, back));
    events
}

#[test]
fn a_name_repeated_soon_is_not_a_far_reference() {
    let found = simulate(&played(far_back(1)).session, &options(200_000, None, presets(&["off"])));
    assert_eq!(found.far_references, 0);
    assert_eq!(of(&found, "off").far.recall_per_reply, 1.0, "nothing was missed");
}

#[test]
fn a_stub_that_names_what_it_replaces_can_be_followed() {
    let found = simulate(&played(far_back(8)).session, &options(200_000, None, presets(&["off"])));
    assert_eq!(found.far_references, 2, "the path and the name; what is new was never named before");
    assert_eq!(of(&found, "off").far.counts.recalled, 2);
    let found = simulate(&played(far_back(8)).session, &options(14_000, Some(1_000), presets(&["off"])));
    let off = of(&found, "off");
    assert!(off.steps > 0, "{off:?}");
    assert_eq!(off.far.counts.recalled, 1, "the path stands in the call; what was read does not: {off:?}");
    assert_eq!(off.far.counts.reached, 2, "the stub names the path and shows the handle: {off:?}");
}

#[test]
fn a_pause_lets_the_cache_go_cold() {
    let session = |minutes: i64| {
        vec![
            said("u1", 0, Role::User, &filler(3_000)),
            said("a1", 1, Role::Assistant, "done"),
            said("u2", minutes, Role::User, "and now?"),
            said("a2", minutes + 1, Role::Assistant, "done, too"),
        ]
    };
    let cached = |minutes| {
        let found = simulate(&played(session(minutes)).session, &options(200_000, None, presets(&["off"])));
        of(&found, "off").cached_tokens
    };
    assert!(cached(3) > 3_000, "{}", cached(3));
    assert_eq!(cached(30), 0, "it is kept for five minutes");
}

#[test]
fn nothing_is_recorded() {
    let played = played(far_back(8));
    let before = block_on(played.session.info()).unwrap();
    simulate(&played.session, &options(14_000, Some(1_000), presets(&["balanced", "lossless"])));
    assert_eq!(block_on(played.session.info()).unwrap().head, before.head);
}

#[test]
fn a_progress_callback_can_stop_a_simulation() {
    let played = played(far_back(8));
    let told = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&told);
    let progress = Arc::new(move |done, of| {
        assert!(done <= of);
        count.fetch_add(1, Ordering::Relaxed) < 3
    });
    let options =
        SimulateOptions { progress: Some(progress), ..options(200_000, None, presets(&["off", "balanced"])) };
    assert!(
        block_on(played.session.engine().simulate(&[vec![played.session.clone()]], &options))
            .unwrap()
            .is_none()
    );
    assert!(told.load(Ordering::Relaxed) < 10);
}

#[test]
fn a_session_without_a_reply_has_nothing_to_play() {
    let played = played(vec![said("u1", 0, Role::User, "hello")]);
    let found = block_on(
        played
            .session
            .engine()
            .simulate(&[vec![played.session.clone()]], &options(200_000, None, presets(&["off"]))),
    );
    assert!(matches!(found, Err(Error::Silence(_))), "{found:?}");
    assert!(block_on(played.engine.find_session("played")).is_ok());
}

#[test]
fn a_user_turn_larger_than_the_window_is_still_no_failure() {
    let events = vec![
        said("u1", 0, Role::User, &filler(60_000)),
        said("a1", 1, Role::Assistant, "that is long"),
        said("u2", 2, Role::User, "go on"),
        said("a2", 3, Role::Assistant, "gladly"),
    ];
    let found = simulate(
        &played(events).session,
        &options(8_000, None, crate::compacts_without_losing::simulate::scene::every_preset()),
    );
    for policy in &found.policies {
        assert_eq!((policy.over_budget, policy.refused), (0, 0), "{policy:?}");
    }
}

fn tool(id: &str, minutes: i64, name: &str, input: &str, answer: &str) -> [NewEvent; 2] {
    let (call, name) = (format!("call-{id}").as_str().into(), name.into());
    let part = Part::ToolCall { call, name, input: input.into(), gist: None, extra: None };
    let call = format!("call-{id}").as_str().into();
    let content = vec![Part::text(answer)];
    let result = Part::ToolResult { call, content, failed: false, extra: None };
    [
        at(&format!("{id}-call"), minutes, Message::new(Role::Assistant, vec![part])),
        at(&format!("{id}-result"), minutes, Message::new(Role::Tool, vec![result])),
    ]
}

/// The needs of the calls after a compaction are counted, and a work log brings more of them into reach.
#[test]
fn what_the_next_calls_need_is_in_the_request_or_one_read_away() {
    let mut all = vec![said("begin", 0, Role::User, "Go through the parts, one after the other.")];
    for turn in 0..90_i64 {
        // Every file is read once, and edited much later.
        let file = if turn < 30 { turn } else { turn * 7 % 30 };
        let (path, line) = (format!("src/part_{file}.rs"), format!("let value_{file} = compute({file});"));
        let id = |what: &str| format!("{what}{turn}");
        all.push(said(&id("user"), turn * 4, Role::User, "Go on."));
        if turn < 30 {
            let body = format!("{line}\n{}", filler(200));
            all.extend(tool(
                &id("read"),
                turn * 4 + 1,
                "Read",
                &format!(r#"{{"file_path":"{path}"}}"#),
                &body,
            ));
        } else {
            let edit =
                format!(r#"{{"file_path":"{path}","old_string":"{line}","new_string":"let a = {turn};"}}"#);
            all.extend(tool(&id("edit"), turn * 4 + 2, "Edit", &edit, "done"));
        }
        all.push(said(&id("reply"), turn * 4 + 3, Role::Assistant, &filler(120)));
    }
    let sharing = |name: &str, share: &str| {
        let text = format!("extends = \"balanced\"\nname = \"{name}\"\n[protect]\nwork_share = {share}\n");
        Arc::new(Policies::embedded().parse(&text, "own.toml").unwrap().policy)
    };
    let policies = vec![sharing("without", "0.0"), sharing("with", "0.1"), presets(&["off"]).remove(0)];
    let found = simulate(&played(all).session, &options(8_000, Some(1_000), policies));
    let (without, with, off) = (of(&found, "without"), of(&found, "with"), of(&found, "off"));
    assert_eq!((off.compactions, off.needed), (0, 0), "nothing is compacted");
    for policy in [without, with] {
        assert!(policy.compactions > 3 && policy.needed > 5, "{policy:?}");
        assert!(policy.needed_shown <= policy.needed_reached && policy.needed_reached <= policy.needed);
    }
    assert!(with.needs_reachable > without.needs_reachable, "{with:?}\n{without:?}");
}

/// References beyond 8,000 tokens are far, and references below that distance are near. Names in the exchange that
/// the reply continues are neither far nor near.
#[test]
fn near_is_what_was_said_before_the_exchange_that_goes_on() {
    let events = vec![
        said("u1", 0, Role::User, "the limit is max_retry_4711"),
        said("a1", 1, Role::Assistant, "I look at it."),
        said("u2", 2, Role::User, "the other is max_wait_4712"),
        said("a2", 3, Role::Assistant, "It is max_retry_4711 and max_wait_4712."),
        said("u3", 4, Role::User, "again?"),
        said("a3", 5, Role::Assistant, "I wait for max_wait_4712."),
    ];
    let found = simulate(&played(events).session, &options(200_000, None, presets(&["off"])));
    assert_eq!((found.far_references, found.near_references), (0, 1), "max_retry_4711, in the second reply");
    assert_eq!(of(&found, "off").near.counts.recalled, 1);
}

/// If a file is longer than one read, names after its first page are not reached by the file's name.
#[test]
fn one_read_reaches_its_first_page() {
    let session = |words: usize| {
        let mut all = vec![said("u1", 0, Role::User, "please look into the queue")];
        let body = format!("{}\nthe limit is max_retry_4711 there\n{}", filler(words), filler(300));
        all.extend(tool("read", 1, "Read", r#"{"file_path":"src/queue/worker.rs"}"#, &body));
        for nth in 0..8 {
            all.push(said(&format!("b{nth}"), 3, Role::Assistant, &filler(1_000)));
            all.push(said(&format!("v{nth}"), 3, Role::User, &filler(1_000)));
        }
        all.push(said("z1", 4, Role::Assistant, "It was max_retry_4711."));
        let found = simulate(&played(all).session, &options(16_000, Some(1_000), presets(&["manus"])));
        let counts = of(&found, "manus").far.counts;
        (counts.references, counts.recalled, counts.reached)
    };
    assert_eq!(session(300), (1, 0, 1), "on the first page");
    assert_eq!(session(6_000), (1, 0, 0), "behind it");
}

/// A file that is read again counts as a repeated read only if its text has left the request and has not changed
/// since.
#[test]
fn what_is_read_again_is_counted_where_it_is_gone() {
    let read = |id: &str| tool(id, 1, "Read", r#"{"file_path":"src/queue/worker.rs"}"#, &filler(600));
    let mut all = vec![said("u1", 0, Role::User, "please look into the queue")];
    all.extend(read("r1"));
    for nth in 0..8 {
        all.push(said(&format!("b{nth}"), 3, Role::Assistant, &filler(1_000)));
        all.push(said(&format!("v{nth}"), 3, Role::User, &filler(1_000)));
    }
    all.extend(read("r2"));
    let edit = r#"{"file_path":"src/queue/worker.rs","old_string":"plain","new_string":"simple"}"#;
    all.extend(tool("e1", 1, "Edit", edit, "done"));
    all.extend(read("r3"));
    all.push(said("z1", 4, Role::Assistant, "That is all."));
    let wide = simulate(&played(all.clone()).session, &options(200_000, None, presets(&["off"])));
    assert_eq!((wide.rereads, of(&wide, "off").repeated_reads), (1, 0), "the third is after a change");
    let narrow = simulate(&played(all).session, &options(14_000, Some(1_000), presets(&["off", "manus"])));
    assert_eq!(of(&narrow, "off").repeated_reads, 1);
    assert_eq!(of(&narrow, "manus").repeated_reads, 1, "a stub is not what was read");
}

/// Long turns count for more than short ones.
#[test]
fn words_of_the_user_are_counted_by_word() {
    let mut all = vec![said("u1", 0, Role::User, &filler(3_000)), said("a1", 1, Role::Assistant, "yes")];
    for nth in 0..9 {
        all.push(said(&format!("u{}", nth + 2), 2, Role::User, "and now, please?"));
        all.push(said(&format!("a{}", nth + 2), 3, Role::Assistant, &filler(900)));
    }
    let found = simulate(&played(all).session, &options(12_000, Some(1_000), presets(&["off", "codex"])));
    let off = of(&found, "off");
    assert!(off.user_words_share < 0.95 && off.user_words_share > 0.3, "{off:?}");
    assert!(off.user_words_shown < off.user_words);
}

/// Sessions are played separately, and their figures are added up.
#[test]
fn sessions_are_played_by_themselves_and_added_up() {
    let one = played(far_back(8));
    let other = one.engine.session_by_id(wunderblock_core::id::StreamId::new("other").unwrap());
    let again = |mut event: NewEvent| {
        event.id = EventId::new(format!("x{}", event.id.as_str())).unwrap();
        event
    };
    block_on(other.append(far_back(9).into_iter().map(again).collect::<Vec<NewEvent>>())).unwrap();
    let options = options(14_000, Some(1_000), presets(&["balanced", "manus", "off"]));
    let (a, b) = (
        simulate_all(&[vec![one.session.clone()]], &options),
        simulate_all(&[vec![other.clone()]], &options),
    );
    let both = simulate_all(&[vec![one.session.clone()], vec![other.clone()]], &options);
    assert_eq!((both.histories.len(), both.far_references), (2, a.far_references + b.far_references));
    for policy in &both.policies {
        let (a, b) = (of(&a, &policy.name), of(&b, &policy.name));
        assert_eq!(policy.tokens_sent, a.tokens_sent + b.tokens_sent);
        assert_eq!(policy.cost, a.cost.zip(b.cost).map(|(a, b)| a + b));
        assert_eq!(policy.far.counts.recalled, a.far.counts.recalled + b.far.counts.recalled);
    }
    assert_eq!(both.histories[0].policies[0].replies.len() as u64, both.histories[0].requests);
    let joined = simulate_all(&[vec![one.session.clone(), other]], &options);
    assert_eq!((joined.histories.len(), joined.histories[0].sessions), (1, 2));
    assert!(joined.far_references > both.far_references, "the second session names what the first did");
}

/// Each session is played in each window, and a reply counts as one reply in all of them.
#[test]
fn windows_are_varied_and_pooled() {
    let played = played(far_back(8));
    let one = options(14_000, Some(1_000), presets(&["manus", "off"]));
    let found = simulate(&played.session, &SimulateOptions { windows: 3, ..one.clone() });
    let limits = &found.histories[0].limits;
    assert_eq!((found.windows, limits.len()), (3, 3));
    assert!(limits[0] < limits[1] && limits[1] < limits[2], "{limits:?}");
    let manus = of(&found, "manus");
    assert_eq!(manus.requests + manus.refused, found.requests);
    assert_eq!(found.requests, 3 * found.histories[0].requests);
    assert_eq!(manus.far.counts.references, 3 * found.far_references);
    assert_eq!(manus.far.recall, manus.far.recall_per_reply, "there is one reply with references");
    let middle = simulate(&played.session, &one);
    assert_eq!(middle.histories[0].limits[0], limits[1]);
}

/// A common size of summaries makes policies comparable.
#[test]
fn summaries_can_be_given_one_size() {
    let played = played(far_back(14));
    let options = options(14_000, Some(1_000), presets(&["frugal", "claude-code", "off"]));
    let sized = SimulateOptions { summary_tokens: Some(Tokens(300)), ..options };
    let found = simulate(&played.session, &sized);
    assert_eq!(found.summary_tokens, Some(300));
    assert_eq!(
        (of(&found, "off").writer, of(&found, "off").summary_target),
        (wunderblock::SummaryWriter::Nobody, 0)
    );
    for name in ["frugal", "claude-code"] {
        let policy = of(&found, name);
        assert_eq!((policy.writer, policy.summary_target), (wunderblock::SummaryWriter::Extractive, 300));
        let mean = policy.summary_tokens / policy.summaries.max(1);
        assert!(policy.summaries > 0 && mean <= 600, "{mean} {policy:?}");
    }
}

/// A summary's "changed FILE" and a work log's "edited FILE" only list the file and say nothing about it.
#[test]
fn work_logs_and_lists_of_files_recall_nothing() {
    let mut all = vec![said("u1", 0, Role::User, "please make the queue faster")];
    let edit = r#"{"file_path":"src/queue/worker.rs","old_string":"plain","new_string":"simple"}"#;
    all.extend(tool("e1", 1, "Edit", edit, "done"));
    for nth in 0..12 {
        all.push(said(&format!("b{nth}"), 3, Role::Assistant, &filler(1_000)));
        all.push(said(&format!("v{nth}"), 3, Role::User, &filler(1_000)));
    }
    all.push(said("z1", 4, Role::Assistant, "It was in src/queue/worker.rs."));
    let found = simulate(&played(all).session, &options(14_000, Some(1_000), presets(&["frugal"])));
    let frugal = of(&found, "frugal");
    let counts = frugal.far.counts;
    assert!(frugal.summaries > 0, "{frugal:?}");
    assert_eq!((counts.references, counts.recalled, counts.in_lists), (1, 0, 1), "{frugal:?}");
}

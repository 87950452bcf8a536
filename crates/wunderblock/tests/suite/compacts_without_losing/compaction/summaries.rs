//! Compactions with a model that misbehaves: the lane is compacted, nothing is lost, and rejections are recorded.

use crate::compacts_without_losing::compaction::scene::*;
use crate::compacts_without_losing::summarisers::scene::DIALECTS;
use std::sync::{Arc, OnceLock};
use wunderblock::catalog::Catalog;
use wunderblock::model::{ApiKey, Client, Endpoint, ModelLimits};
use wunderblock::redact::Redactor;
use wunderblock::summarize::ModelSummariser;
use wunderblock::{CompactOptions, CompactionResult, Compactor};
use wunderblock_core::event::SessionCompacted;
use wunderblock_core::message::{Dialect, Message, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Bytes, Millis, Tokens};
use wunderblock_testkit::server::{Behaviour, INVENTED, ORDERS, ScriptedProvider};

const WINDOW: u64 = 32_000;
const KEY: &str = "sk-test-not-a-real-key";

fn redactor() -> Arc<Redactor> {
    static REDACTOR: OnceLock<Arc<Redactor>> = OnceLock::new();
    Arc::clone(REDACTOR.get_or_init(|| Arc::new(Redactor::embedded())))
}

/// A policy that makes one summary of everything old.
fn policy() -> Arc<Policy> {
    crate::compacts_without_losing::compaction::scene::policy(
        "extends = \"balanced\"\n[[step]]\ndo = \"summarise\"\nall = true\n[summary]\ntarget = 1_200\nshare = 0.3\ngrounded = 1\n",
    )
}

fn scene() -> Scene {
    Scene::of(24)
}

fn limits(answers: bool) -> ModelLimits {
    let wait = Millis(if answers { 30_000 } else { 300 });
    ModelLimits {
        connect: Millis(10_000),
        first_byte: wait,
        idle: wait,
        total: Millis(if answers { 60_000 } else { 2_000 }),
        per_token: Millis(0),
        response: Bytes(64 << 20),
        retries: 0,
    }
}

fn compactor(
    provider: &ScriptedProvider,
    (dialect, model): (Dialect, &str),
    limits: ModelLimits,
) -> Compactor {
    let endpoint =
        Endpoint { base_url: provider.url(dialect), ..Endpoint::new(dialect, Some(ApiKey::new(KEY))) };
    let client = Client::new(&endpoint, limits, redactor()).unwrap();
    let summariser = ModelSummariser::new(client, &Catalog::embedded(), model, Millis(1_795_000_000_000));
    Compactor { summariser: Some(Arc::new(summariser)), ..Compactor::new(policy()) }
}

/// Compacts a session, and checks the properties that hold however the model behaved.
fn compacted(scene: &Scene, compactor: Compactor, what: &str) -> Vec<SessionCompacted> {
    let before = scene.messages();
    let done = scene.compact(&CompactOptions { compactor, ..by_hand(&policy(), WINDOW) });
    assert_eq!(done.outcome, CompactionResult::Compacted, "{what}");
    assert!(done.after < done.before, "{what}");
    assert_eq!(scene.messages(), before, "{what}");
    let built = scene.build(&window(WINDOW));
    assert_eq!(scene.unreachable(&built), [], "{what}");
    let body = String::from_utf8_lossy(&built.draft.body).into_owned();
    assert!(!body.contains("maintenance mode") && !body.contains(ORDERS), "{what}");
    assert!(INVENTED.iter().all(|file| !body.contains(file)), "{what}");
    let recorded = crate::scene::exported(&scene.session);
    assert!(!recorded.contains(KEY), "{what}");
    scene.is_whole();
    let made: Vec<SessionCompacted> = scene.made().into_iter().map(|(_, made)| made).collect();
    assert!(!made.is_empty(), "{what}");
    for made in &made {
        assert!(made.tokens_after < made.tokens_before && made.check.is_some(), "{what}");
    }
    made
}

/// Returns a valid summary: the one that is written without a model.
fn good() -> String {
    let done = scene().compact(&CompactOptions { dry_run: true, ..by_hand(&policy(), WINDOW) });
    assert_eq!(done.nodes.len(), 1);
    done.nodes[0].text.clone()
}

#[test]
fn each_misbehaviour_is_recorded_and_the_lane_is_compacted_all_the_same() {
    let good = good();
    let text = || good.clone();
    let long = || "said ".repeat(40);
    let table: Vec<(Behaviour, &str, bool)> = vec![
        (Behaviour::Hang, "it took too long", false),
        (Behaviour::HangMidStream(long()), "it took too long", false),
        (Behaviour::Empty, "it answered nothing", true),
        (Behaviour::Echo, "", true),
        (Behaviour::TenTimes, "twice its maximum", true),
        (Behaviour::InventsFiles(text()), "never_was.rs", true),
        (Behaviour::Injection(text()), "order", true),
        (Behaviour::Status(401, None), "does not let us in", true),
        (Behaviour::Status(413, None), "more than it takes", true),
        (Behaviour::Overflow, "more than it takes", true),
        (Behaviour::Status(429, Some(3_600)), "too many calls", true),
        (Behaviour::Status(429, None), "too many calls", true),
        (Behaviour::Status(500, None), "status 500", true),
        (Behaviour::Declines, "refused", true),
        (Behaviour::CutMidStream(long()), "broken", true),
        (Behaviour::MalformedJson, "broken", true),
        (Behaviour::WrongContentType, "broken", true),
        (Behaviour::ErrorEventMidStream(long()), "status", true),
    ];
    // How each provider tells of its failures is tested one level below, by
    // `summarisers::failures::each_misbehaviour_is_one_failure_and_the_floor_holds`.
    for ((behaviour, why, answers), dialect) in table.into_iter().zip(DIALECTS.into_iter().cycle()) {
        let what = format!("{behaviour:?}").chars().take(60).collect::<String>();
        let provider = ScriptedProvider::start([behaviour]).unwrap();
        for made in compacted(&scene(), compactor(&provider, dialect, limits(answers)), &what) {
            assert_eq!(&*made.producer, "extractive", "{what}");
            let said: Vec<&str> = made.rejected.iter().map(|no| &*no.why).collect();
            assert!(!said.is_empty() && said.iter().all(|said| said.contains(why)), "{what}: {said:?}");
            assert!(made.rejected.iter().all(|no| &*no.producer == dialect.1), "{what}");
            let calls = made.spent.as_ref().map_or(0, |spent| spent.calls);
            assert_eq!(calls as usize, provider.requests().len(), "{what}: every call counts");
        }
    }
}

#[test]
fn what_is_good_is_taken_at_once_or_after_a_correction() {
    let good = good();
    let scripts = [
        vec![Behaviour::Good(good.clone())],
        vec![Behaviour::InventsFiles(good.clone()), Behaviour::Good(good.clone())],
        vec![Behaviour::Injection(good.clone()), Behaviour::Good(good.clone())],
        vec![Behaviour::TenTimes, Behaviour::Good(good.clone())],
        vec![Behaviour::Overflow, Behaviour::Good(good.clone())],
        vec![Behaviour::Slow(good.clone(), 2)],
    ];
    for (script, asked) in scripts.iter().zip(DIALECTS.into_iter().cycle()) {
        is_taken(script, asked, &good);
    }
}

fn is_taken(script: &[Behaviour], (dialect, model): (Dialect, &str), good: &str) {
    let what = &format!("{script:?}").chars().take(60).collect::<String>();
    let provider = ScriptedProvider::start(script.to_vec()).unwrap();
    let scene = scene();
    let own = compactor(&provider, (dialect, model), limits(true));
    let made = compacted(&scene, own, what);
    assert_eq!(made.len(), 1);
    assert_eq!(&*made[0].producer, model, "{what}: {:?}", made[0].rejected);
    assert_eq!(made[0].rejected.len(), script.len() - 1, "{what}: {:?}", made[0].rejected);
    assert!(made[0].prompt.is_some());
    let spent = made[0].spent.as_ref().unwrap();
    assert_eq!(spent.calls as usize, script.len(), "{what}");
    assert!(
        spent.input > Tokens(1_000) && spent.output > Tokens(10) && spent.micro_dollars > Some(0),
        "{spent:?}"
    );
    let shown = Shown::of(&scene.build(&window(WINDOW)).draft.body);
    let missing: Vec<&str> = good.lines().filter(|line| !shown.says(line.trim())).collect();
    assert!(missing.is_empty(), "{what}: {missing:?}");
}

#[test]
fn a_summariser_with_a_small_window_is_given_no_more_than_it_holds() {
    // The first version of GPT-4 has a window of 8,192 tokens, which is less than half of the range to be summarised.
    let provider = ScriptedProvider::start([Behaviour::Echo]).unwrap();
    let scene = scene();
    let own = compactor(&provider, (Dialect::OpenaiChat, "gpt-4"), limits(true));
    let made = compacted(&scene, own, "a small window");
    assert!(made[0].tokens_before > Some(Tokens(8_192)));
    let requests = provider.requests();
    assert!(!requests.is_empty(), "it is asked all the same: {:?}", made[0].rejected);
    for request in requests {
        assert!(crate::scene::recount(&request.body) < 8_192);
    }
}

/// Returns a secret in a known format. The secret is assembled here so that scanners do not report this file as a
/// leak.
fn secret(number: u64) -> String {
    let hash = blake3::hash(format!("secret {number}").as_bytes()).to_hex();
    let mixed = hash.chars().zip("QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUiOp".chars());
    let signs: String = mixed.map(|(a, b)| if a.is_ascii_digit() { a } else { b }).collect();
    format!("gh{}_{signs}", 'p')
}

#[test]
fn secrets_are_never_sent_and_the_originals_stay_exact() {
    let scene = Scene::new();
    for number in 0..24 {
        let hidden = secret(number);
        scene.turns(number..number + 1);
        scene.user(&format!("The token is {hidden}, keep it."));
        let id = format!("run_{number}");
        let input = format!(r#"{{"command":"export TOKEN={hidden}"}}"#);
        scene.say(Message::new(Role::Assistant, vec![call(&id, "Bash", &input)]));
        scene.say(result(&id, &format!("TOKEN={hidden}\nok")));
    }
    let provider = ScriptedProvider::start([Behaviour::Echo]).unwrap();
    let own = compactor(&provider, (Dialect::Anthropic, "claude-sonnet-4-5"), limits(true));
    let made = compacted(&scene, own, "secrets");
    let requests = provider.requests();
    assert!(!requests.is_empty());
    for hidden in (0..24).map(secret) {
        assert!(requests.iter().all(|request| !request.says(&hidden[8..])), "{hidden} was sent");
        for made in &made {
            let text = made.summary.as_ref().and_then(|body| body.inline()).unwrap_or_default();
            assert!(!text.contains(&hidden[8..]), "{hidden} stands in a summary");
        }
    }
    let said = crate::scene::exported(&scene.session);
    assert!((0..24).map(secret).all(|hidden| said.contains(&hidden)), "what is read back is exact");
}

/// Failed calls are limited like other calls, and a person does not have to wait for hours.
#[test]
fn a_provider_that_is_down_holds_nothing_up() {
    let scene = Scene::of(30);
    let provider = ScriptedProvider::start([Behaviour::Status(500, None)]).unwrap();
    let own = compactor(&provider, (Dialect::Anthropic, "claude-sonnet-4-5"), limits(true));
    let fine = crate::compacts_without_losing::compaction::scene::policy(
        "extends = \"always\"\n[limits]\ncalls_per_hour = 4\n",
    );
    let own = Compactor { policy: Arc::clone(&fine), ..own };
    let done = scene.compact(&CompactOptions { compactor: own, ..by_itself(&fine, WINDOW) });
    assert_eq!(done.outcome, CompactionResult::Compacted);
    assert!(done.nodes.len() > 6);
    assert_eq!(provider.requests().len(), 4, "no more than the policy says");
    assert_eq!(done.spent.iter().map(|spent| spent.calls).sum::<u32>(), 4);
    scene.is_whole();
}

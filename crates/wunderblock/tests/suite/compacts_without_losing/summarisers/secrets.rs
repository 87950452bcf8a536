//! Secrets never reach a summariser, wherever they occur and wherever a text is cut.

use crate::compacts_without_losing::summarisers::scene::{
    DIALECTS, GOOD, Scale, brief, call, entry, material, model, options, patient, redactor, result, template,
};
use proptest::prelude::*;
use wunderblock::summarize::attempt::write;
use wunderblock::summarize::prompt::{Put, task};
use wunderblock::summarize::{Brief, Earlier, Manner, ReadMaterial};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_testkit::server::{Behaviour, ScriptedProvider};

/// Returns a token in GitHub's format. The secret is assembled here so that scanners do not report this file as a
/// leak.
fn token(seed: u64) -> String {
    const WORD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let random: String = (0..36)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(WORD[(state >> 33) as usize % WORD.len()])
        })
        .collect();
    format!("gh{}_{random}", 'p')
}

/// Returns whether a text contains more of a secret than its redaction mark.
fn leaks(text: &str, secret: &str) -> bool {
    text.contains(&secret[4..16]) || text.contains(&secret[secret.len() - 12..])
}

#[test]
fn planted_secrets_never_reach_the_provider() {
    let secrets: Vec<String> = (1..=8).map(token).collect();
    let [user, said, input, gist, output, earlier, focus, thought] = &secrets[..] else { panic!() };
    let words = |secret: &str| format!("use {secret} for it");
    let command = format!("{}; export GH={input}", "true && ".repeat(22));
    let mut made = call("c1", "Bash", &serde_json::json!({"command": command}).to_string());
    if let Part::ToolCall { gist: recorded, .. } = &mut made {
        *recorded = Some(format!("curl -H {gist}").chars().take(30).collect());
    }
    let thinking = Part::Thinking { text: words(thought).into(), signature: None, extra: None };
    // The secret lies where the result is cut.
    let long = format!("{}{output}{}", "x ".repeat(490), " y".repeat(3_000));
    let entries = [
        entry(1, Message::text(Role::User, format!("{} in src/tail.rs", words(user)))),
        entry(2, Message::new(Role::Assistant, vec![thinking, Part::text(words(said)), made])),
        entry(3, Message::new(Role::Tool, vec![result("c1", &long)])),
    ];
    let summary = words(earlier);
    let (at, from, to) = (Seq(9), Seq(1), Seq(1));
    let condensed = Earlier { at, from, to, level: 0, text: &summary, items: None, unchecked: false };
    let (material, template, focus_text) = (material(&entries, vec![condensed]), template(), words(focus));
    let brief = Brief { focus: Some(&focus_text), ..brief(&template) };
    let redactor = redactor();
    for dialect in DIALECTS {
        // A correction quotes the fault. This reply contains a secret, which the correction must not repeat.
        let leaky = format!("{GOOD}- keep leaked/{user} (#1)\n");
        let provider = ScriptedProvider::start([
            Behaviour::Overflow,
            Behaviour::Good(leaky),
            Behaviour::Good(GOOD.to_owned()),
        ])
        .unwrap();
        let mut options = options(&redactor);
        options.before = Tokens(100_000);
        let draft = write(
            &ReadMaterial::of(&material),
            &brief,
            &Scale,
            Some(&model(&provider, dialect, patient())),
            &options,
        );
        let requests = provider.requests();
        assert_eq!(requests.len(), 3);
        for request in &requests {
            let body = String::from_utf8(request.body.clone()).unwrap();
            for secret in &secrets {
                assert!(!leaks(&body, secret), "{body}");
            }
            assert!(body.contains("for it"), "the rest of the words is there");
        }
        assert!(draft.rejected.iter().all(|one| secrets.iter().all(|secret| !leaks(&one.why, secret))));
        assert_eq!(draft.manner, Manner::Normal);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_secret_is_gone_wherever_it_stands_and_however_little_fits(
        before in 0_usize..3_000,
        after in 0_usize..3_000,
        place in 0..4,
        limit in 500_u64..4_000,
        seed in any::<u64>(),
    ) {
        let secret = token(seed);
        let text = format!("{}{secret} {}", "a b ".repeat(before / 4), "c d ".repeat(after / 4));
        let message = match place {
            0 => Message::text(Role::User, text),
            1 => Message::text(Role::Assistant, text),
            2 => Message::new(Role::Tool, vec![result("c", &text)]),
            _ => Message::new(Role::Assistant, vec![call("c", "Bash", &serde_json::json!({"command": text}).to_string())]),
        };
        let entries = [entry(1, message)];
        let (template, redactor) = (template(), redactor());
        let put = Put { limit: Tokens(limit), redactor: &redactor, correction: &[] };
        if let Some(task) = task(&material(&entries, Vec::new()), &brief(&template), &put, &Scale) {
            prop_assert!(!leaks(&task.prompt, &secret) && !leaks(&task.system, &secret), "{}", task.prompt);
        }
    }
}

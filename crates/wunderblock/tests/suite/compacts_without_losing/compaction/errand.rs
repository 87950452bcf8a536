//! A task has the same result with and without compaction, both for a scripted agent and for one that knows only its
//! requests.

use crate::compacts_without_losing::compaction::scene::*;
use crate::scene as words;
use futures_executor::block_on;
use std::sync::Arc;
use tempfile::TempDir;
use wunderblock::summary_graph::Expand;
use wunderblock::{Address, Compactor, ContextOptions};
use wunderblock_core::message::{Dialect, Message, Part, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Tokens;
use wunderblock_testkit::agent::{self, Script};

/// An agent that reads files one by one, adds up their totals, and is finally asked about old ones. The agent's only
/// memory is its request, and it looks up anything else by the handles it sees.
struct Clerk<'s> {
    scene: &'s Scene,
    options: ContextOptions,
    lookups: usize,
}

const FILES: u64 = 20;

fn number(file: u64) -> u64 {
    (file * 7_919 + 1_301) % 9_973
}

fn content(file: u64) -> String {
    let noise: String =
        (0..40).map(|line| format!("row {line} of ledger_{file}: {}\n", line * 31 + file)).collect();
    format!("{noise}total of ledger_{file} = {}\n{noise}", number(file))
}

impl Clerk<'_> {
    fn request(&self) -> Shown {
        Shown::of(&self.scene.build(&self.options).draft.body)
    }

    /// Finds the number after some words, in the request or under its handles.
    fn find(&mut self, words: &str) -> Option<u64> {
        let shown = self.request();
        let behind = |text: &str| {
            let at = text.rfind(words)? + words.len();
            let digits: String = text[at..].chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        };
        if let Some(found) = shown.texts.iter().rev().find_map(|text| behind(text)) {
            return Some(found);
        }
        for handle in shown.handles.iter().rev() {
            let (address, _) = block_on(Address::find(&self.scene.engine, handle)).unwrap();
            let wanted = Expand { query: Some(words.trim().to_owned()), ..Expand::default() };
            self.lookups += 1;
            let Ok(page) = block_on(self.scene.engine.recall().expand(address, &wanted)) else { continue };
            if let Some(found) = behind(&page.text) {
                return Some(found);
            }
        }
        None
    }

    fn work(&mut self) -> Vec<u64> {
        self.scene.user("Add up the totals of all ledgers, then answer my questions.");
        for file in 0..FILES {
            let before = if file == 0 { 0 } else { self.find("the sum so far is ").expect("the last sum") };
            let id = format!("read_{file}");
            let input = format!(r#"{{"file_path":"ledgers/ledger_{file}.txt"}}"#);
            self.scene.say(Message::new(Role::Assistant, vec![call(&id, "Read", &input)]));
            self.scene.say(result(&id, &content(file)));
            let found = self.find(&format!("total of ledger_{file} = ")).expect("just read");
            self.scene.reply(&format!("ledger_{file} is read; the sum so far is {}", before + found));
        }
        let mut answers = vec![self.find("the sum so far is ").unwrap()];
        for file in [0, 3, 9, 13, 18] {
            self.scene.user(&format!("What was the total of number {file}?"));
            let found = self.find(&format!("total of ledger_{file} = ")).unwrap_or_default();
            self.scene.reply(&format!("It was {found}."));
            answers.push(found);
        }
        answers
    }
}

fn errand(policy: Option<&Arc<Policy>>, size: u64) -> (Vec<u64>, usize, usize) {
    let scene = Scene::new();
    let options = policy.map_or_else(|| window(size), |policy| under(policy, size));
    let mut clerk = Clerk { scene: &scene, options, lookups: 0 };
    let answers = clerk.work();
    let lookups = clerk.lookups;
    scene.is_whole();
    (answers, lookups, scene.compactions())
}

#[test]
fn a_task_ends_as_it_would_without_compaction() {
    let (answers, lookups, _) = errand(None, 200_000);
    assert_eq!(answers[0], (0..FILES).map(number).sum::<u64>());
    assert_eq!(answers[1..], [0, 3, 9, 13, 18].map(number));
    assert_eq!(lookups, 0, "all of it is in the window");
    for name in ["balanced", "lossless", "claude-code", "manus"] {
        let (compacted, lookups, compactions) = errand(Some(&preset(name)), 10_000);
        assert_eq!(compacted, answers, "{name}");
        assert!(compactions > 0 && lookups > 0, "{name}: {compactions} compactions, {lookups} looked up");
    }
}

/// The scripted agent of the testkit, with crashes, retries, failing tools and changing tools, writes the same
/// session.
#[test]
fn a_scripted_session_is_the_same_under_every_policy() {
    let run = |policy: Option<Arc<Policy>>| {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("ledger.db");
        let script = Script {
            seed: 11,
            session: words::stream("agent"),
            model: MODEL.to_owned(),
            window: Tokens(10_000),
            dialect: Dialect::Anthropic,
            calls: 20,
            compactor: policy.map(Compactor::new),
        };
        let done = agent::run(&script, &|| words::open(&path), &|built| {
            words::sound(built);
            None
        });
        let engine = words::open(&path);
        agent::replay_all(&engine, &script.session, &done);
        words::catch_up(&engine);
        assert_eq!(words::problems(&engine), [""; 0]);
        let said: Vec<Message> =
            messages(&engine.session_by_id(script.session)).into_iter().map(|(_, message)| message).collect();
        (said, done)
    };
    let (plain, before) = run(None);
    assert!(before.steps > 0 && before.compactions == 0);
    for name in ["balanced", "always", "lossless", "gemini-cli"] {
        let (said, done) = run(Some(preset(name)));
        assert!(said == plain, "{name}: the session itself is the same");
        assert_eq!(done.requests.len(), before.requests.len(), "{name}");
        assert!(done.compactions > 0, "{name}");
    }
    let results = plain
        .iter()
        .flat_map(|message| &message.parts)
        .filter(|part| matches!(part, Part::ToolResult { .. }));
    assert!(results.count() > 12);
}

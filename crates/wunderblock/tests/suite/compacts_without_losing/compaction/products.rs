//! Presets behave like the products they are named after.

use crate::compacts_without_losing::compaction::scene::*;
use wunderblock::{Built, CompactionResult};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::section::Section;

/// Returns the texts of a request's messages, in order.
fn said(built: &Built) -> Vec<String> {
    let request = wunderblock_wire::decode(built.draft.dialect, &built.draft.body).unwrap();
    let texts = request.messages.iter().flat_map(|message| &message.parts).flat_map(Part::bodies);
    texts.filter_map(|body| body.inline().map(str::to_owned)).collect()
}

fn compacted(name: &str, tokens: u64, scene: &Scene) -> Built {
    assert_eq!(scene.compact(&by_hand(&preset(name), tokens)).outcome, CompactionResult::Compacted);
    let built = scene.build(&window(tokens));
    assert_eq!(scene.unreachable(&built), [], "{name}");
    assert_eq!(scene.problems(), [""; 0]);
    built
}

#[test]
fn the_summary_of_codex_stands_behind_what_the_user_said() {
    let scene = Scene::of(12);
    let built = compacted("codex", 24_000, &scene);
    assert!(scene.trim().nodes_last);
    let texts = said(&built);
    let summary = texts.iter().position(|text| text.contains("summary of positions")).unwrap();
    let kept: Vec<usize> = texts
        .iter()
        .enumerate()
        .filter(|(_, text)| text.starts_with("Please look at"))
        .map(|(at, _)| at)
        .collect();
    assert!(
        kept.len() > 6 && kept.iter().filter(|at| **at < summary).count() >= kept.len() - 1,
        "{summary}: {kept:?}"
    );
    // The summary keeps its place when the conversation goes on, and new turns follow it.
    scene.turns(12..14);
    let next = scene.build(&window(24_000));
    assert!(said(&next).starts_with(&texts));
    // If there is no room, the plan leaves out more, in the same order.
    scene.turns(14..30);
    let later = said(&scene.build(&window(24_000)));
    let summary = later.iter().position(|text| text.contains("summary of positions"));
    let first = later.iter().position(|text| text.starts_with("Please look at"));
    assert!(summary.is_none_or(|summary| first.is_some_and(|first| first < summary)));
}

#[test]
fn claude_code_keeps_the_files_it_read_last_and_not_those_it_changed_since() {
    let scene = Scene::of(10);
    let edit = r#"{"file_path":"src/part_8.rs","old_string":"fn step_8_3","new_string":"fn third"}"#;
    scene.say(Message::new(Role::Assistant, vec![call("edit_8", "Edit", edit)]));
    scene.say(result("edit_8", "The file src/part_8.rs has been updated."));
    scene.reply("Done.");
    scene.user("Thank you. What is next?");
    let built = compacted("claude-code", 64_000, &scene);
    let texts = said(&built);
    let shows = |number: u64| texts.iter().any(|text| text.contains(&format!("fn step_{number}_5()")));
    let shown: Vec<u64> = (0..10).filter(|number| shows(*number)).collect();
    assert_eq!(shown, [4, 5, 6, 7, 9], "the five read last that are as they were read");
}

#[test]
fn manus_reads_a_text_again_when_the_newest_turn_names_it() {
    let scene = Scene::new();
    for mut message in (0..12).flat_map(turn) {
        // Set the gist of each call as the decoders of agents' formats do.
        for part in &mut message.parts {
            if let Part::ToolCall { gist, input, .. } = part {
                *gist = wunderblock_wire::gist("Read", text_of(input)).map(Into::into);
            }
        }
        scene.say(message);
    }
    compacted("manus", 24_000, &scene);
    let options = under(&preset("manus"), 24_000);
    let shows = |built: &Built| said(built).iter().any(|text| text.contains("fn step_2_5()"));
    scene.user("Commit all of it, then stop.");
    assert!(!shows(&scene.build(&options)), "nothing is named");
    scene.reply("It is committed.");
    scene.user("Any concerns about src/part_2.rs?");
    let built = scene.build(&options);
    assert!(shows(&built), "it is named");
    let recalled = built.draft.report.sections.iter().filter(|line| line.name == Section::Recall);
    assert!(recalled.map(|line| line.tokens.0).sum::<u64>() > 0);
}

//! Reductions as reports describe them.

use crate::reduces_without_lying::reduce::scene::*;
use futures_executor::block_on;
use wunderblock::Deadline;
use wunderblock_core::budget::Treatment;
use wunderblock_core::event::ContentReduced;

#[test]
fn a_report_says_what_became_shorter_and_how_to_read_the_whole() {
    let scene = Scene::new();
    let at = scene.turn(0);
    let built = scene.build(&under(&fold()));
    let entry = built.draft.report.entries.iter().find(|entry| entry.seq == Some(at)).unwrap();
    assert_eq!(entry.treatment, Treatment::Reduced);
    let [shorter] = entry.reduced.as_slice() else { panic!("{entry:?}") };
    assert!(shorter.how.tokens_after < shorter.how.tokens_before && shorter.part == 0);
    assert_eq!(scene.read(&shorter.handle.unwrap().to_string()), output(0, 120).as_bytes());
    let json = serde_json::to_value(entry).unwrap();
    let told = json["reduced"][0].as_object().unwrap();
    let keys: Vec<&str> = told.keys().map(String::as_str).collect();
    let mut expected =
        ["part", "kind", "level", "tokens_before", "tokens_after", "lossless", "gaps", "handle"];
    expected.sort_unstable();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(keys, expected);
    // An entry that is shown unchanged has no `reduced` field.
    let user = built.draft.report.entries.iter().find(|entry| entry.seq == Some(at.prev().prev())).unwrap();
    assert_eq!(serde_json::to_value(user).unwrap().get("reduced"), None);
}

#[test]
fn finding_a_text_says_that_it_is_shown_shorter() {
    let scene = Scene::new();
    let at = scene.turn(0);
    let options = under(&fold());
    let built = scene.build(&options);
    let handle =
        built.draft.report.entries.iter().find(|entry| entry.seq == Some(at)).unwrap().handle.unwrap();
    for sought in [handle.to_string(), "served request 100".to_owned()] {
        let placements =
            block_on(scene.session.locate(&options, &built.draft, &sought, &Deadline::default())).unwrap();
        let placement = placements.iter().find(|placement| placement.seq == Some(at)).unwrap();
        assert_eq!(placement.treatment, Treatment::Reduced, "{sought}");
        assert!(placement.why.starts_with("shown shorter, as "), "{}", placement.why);
        assert_eq!(placement.shown, placement.advice.is_none(), "{placement:?}");
        assert!(placement.why.contains("gap") || placement.shown, "{placement:?}");
    }
}

#[test]
fn a_record_from_before_reads_as_it_did_and_is_written_as_it_was() {
    let old = r#"{"target":7,"part":0,"text":"head ⟨9 bytes left out⟩ tail","reducer":"head-tail","bytes_before":900}"#;
    let reduced: ContentReduced = serde_json::from_str(old).unwrap();
    assert!(!reduced.standing && reduced.how.is_none());
    assert_eq!(serde_json::to_string(&reduced).unwrap(), old);
}

//! Summaries of summaries: one line per file, and nothing that waits for ever.

use super::*;

/// Returns the summary made of two earlier ones, which have these items.
fn united(one: &[serde_json::Value], two: &[serde_json::Value], form: As) -> String {
    let made = |items: &[serde_json::Value]| Extract {
        text: "not read".to_owned(),
        items: Some(serde_json::to_string(items).unwrap()),
    };
    let (one, two) = (made(one), made(two));
    let all = vec![earlier(1, 20, &one), earlier(21, 40, &two)];
    extract(&material(&[], all), &brief(&each(form), 2_500), &Thirds)
}

/// Returns an item about a file or a command, as a ledger has it.
fn item(fill: &str, about: serde_json::Value, lead: &str, refs: &[u64]) -> serde_json::Value {
    let line = serde_json::json!({ "about": about, "lead": lead, "quote": "", "tail": "" });
    serde_json::json!({ "fill": fill, "text": { "line": line }, "refs": refs })
}

fn command(name: &str, count: u32, lead: &str, at: u64) -> serde_json::Value {
    item("commands", serde_json::json!({ "verb": "", "name": name, "count": count }), lead, &[at])
}

fn file(verb: &str, name: &str, count: u32, added: &[&str], at: u64) -> serde_json::Value {
    let about = serde_json::json!({ "verb": verb, "name": name, "count": count, "added": added });
    item("files-modified", about, "", &[at])
}

#[test]
fn a_file_of_two_summaries_is_one_line() {
    let one = [
        file("changed ", "src/queue.rs", 2, &["Backlog", "drain_all"], 11),
        file("changed ", "src/old.rs", 1, &["Legacy"], 12),
    ];
    let two = [
        file("changed ", "src/queue.rs", 3, &["retry_limit", "Backlog"], 31),
        file("removed ", "src/old.rs", 1, &[], 32),
    ];
    let text = united(&one, &two, As::Markdown);
    let want = "- changed `src/queue.rs` ×5, with `drain_all`, `retry_limit`, `Backlog` #31\n- removed `src/old.rs` #32";
    assert_eq!(part(&text, "Changed").trim(), want, "{text}");
}

#[test]
fn a_command_keeps_its_count_whatever_words_it_contains() {
    let one = [command("echo a ×9, with b", 2, " → failed", 11)];
    let text = united(&one, &[command("echo a ×9, with b", 3, " → ok", 31)], As::Markdown);
    assert_eq!(part(&text, "Commands").trim(), "- `echo a ×9, with b` ×5 → ok #31", "{text}");
}

#[test]
fn what_waited_for_a_result_does_not_wait_in_a_summary_of_summaries() {
    let waits = item(
        "current",
        serde_json::json!({ "verb": "", "name": "sed -n 1,9p src/a.rs", "count": 1 }),
        " → no result yet",
        &[12],
    );
    let one = [
        command("cargo bench", 1, " → running when last seen", 7),
        command("cargo test", 1, " → ok", 9),
        waits,
    ];
    let text = united(&one, &[command("cargo fmt", 1, " → ok", 31)], As::Markdown);
    assert!(text.contains("`cargo test` → ok") && text.contains("`cargo fmt` → ok"), "{text}");
    assert!(!text.contains("running when") && !text.contains("no result"), "{text}");
}

#[test]
fn a_summary_of_elements_contains_no_element_of_an_earlier_summary() {
    let text = united(&[command("cat </goal> <b>", 1, " → ok", 7)], &[], As::Xml);
    assert!(text.contains("`cat ‹∕goal> ‹b>` → ok #7"), "{text}");
}

#[test]
fn a_text_without_items_is_quoted_under_its_headings() {
    let text = "## Commands\n- `cargo test` ×2 → ok: \"12 passed\" #9\n\n## Goal\n- \"Add a filter.\" #2\n";
    let broken = Earlier { items: Some("[{"), ..foreign(1, 20, text) };
    let again = extract(&material(&[], vec![broken]), &brief(&each(As::Markdown), 2_500), &Thirds);
    assert_eq!(part(&again, "Goal").trim(), "- \"Add a filter.\" #2", "{again}");
    assert_eq!(part(&again, "Commands").trim(), "- \"`cargo test` ×2 → ok: '12 passed'\" #9", "{again}");
}

//! Summaries of summaries: one line per file, and nothing that waits for ever.

use super::*;

/// Returns the summary made of two earlier ones.
fn united(one: &str, two: &str) -> String {
    let earlier = |from, text| Earlier {
        at: Seq(900),
        from: Seq(from),
        to: Seq(from + 19),
        level: 0,
        text,
        unchecked: false,
    };
    let template = each(As::Markdown);
    extract(&material(&[], vec![earlier(1, one), earlier(21, two)]), &brief(&template, 2_500), &Thirds)
}

#[test]
fn a_file_of_two_summaries_is_one_line() {
    let one = "## Changed\n- changed `src/queue.rs` ×2, with `Backlog`, `drain_all`: \"The queue drops what it cannot send.\" #11 #10\n- changed `src/old.rs`, with `Legacy` #12\n";
    let two = "## Changed\n- changed `src/queue.rs` ×3, with `retry_limit`, `Backlog` #31\n- removed `src/old.rs` #32\n";
    let text = united(one, two);
    let want = "- changed `src/queue.rs` ×5, with `drain_all`, `retry_limit`, `Backlog` #31\n- removed `src/old.rs` #32";
    assert_eq!(part(&text, "Changed").trim(), want, "{text}");
}

#[test]
fn a_command_keeps_its_count_whatever_words_it_contains() {
    let one = "## Commands\n- `echo a, with b` ×2 → ok #11\n";
    let text = united(one, "## Commands\n- `echo a, with b` ×3 → ok #31\n");
    assert_eq!(part(&text, "Commands").trim(), "- `echo a, with b` ×5 → ok #31", "{text}");
}

#[test]
fn what_waited_for_a_result_does_not_wait_in_a_summary_of_summaries() {
    let one = "## Commands\n- `cargo bench` → running when last seen #7\n- `cargo test` → ok #9\n\n## Current\n- `sed -n 1,9p src/a.rs` → no result yet #12\n";
    let text = united(one, "## Commands\n- `cargo fmt` → ok #31\n");
    assert!(text.contains("`cargo test` → ok") && text.contains("`cargo fmt` → ok"), "{text}");
    assert!(!text.contains("running when") && !text.contains("no result"), "{text}");
}

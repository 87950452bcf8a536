//! Words of people and models: decisions, wrap-ups, and sentences that say nothing.

use super::*;

fn text_of(messages: Vec<Message>) -> String {
    summary(messages, &each(As::Markdown), 4_000)
}

#[test]
fn a_decision_is_a_question_with_its_answer() {
    let text = text_of(vec![
        user("Split the session module, please."),
        model("I see two ways.\n\n1. Move it whole.\n2. Cut it at the store.\n\nWhich one would you like?"),
        user("the second, and keep the old code until the tests pass"),
        model("Please let me know which option you would like to choose, and I will go on."),
        call("1", "AskUserQuestion", "", r#"{"questions":[{"question":"Which database?","header":"DB"}]}"#),
        result("1", "User has answered your questions: \"Which database?\"=\"SQLite\"", false),
        model("Let me decide on the layout first:"),
    ]);
    let told = part(&text, "Decisions");
    assert!(
        told.contains("\"Which one would you like?\" → answered: \"the second, and keep the old code until the tests pass\" #102 #103"),
        "{told}"
    );
    assert!(told.contains("\"Which database?\" → answered: \"SQLite\" #105 #106"), "{told}");
    assert!(!told.contains("Please let me know") && !told.contains("Let me decide"), "{told}");
}

#[test]
fn a_question_that_is_met_with_a_question_is_not_decided() {
    let text = text_of(vec![
        user("Cancel my flight."),
        model("Could you give me your reservation number?"),
        user("I do not have it. Is there another way to find it?"),
    ]);
    assert!(!part(&text, "Decisions").contains("answered"), "{text}");
}

#[test]
fn the_last_wrap_up_is_told_from_its_head() {
    let structure = "The structure we agreed on:\n\n├── modes/print.ts\n├── core/session.ts\n".to_owned()
        + &"└── more of the same, which a summary may leave to its reader\n".repeat(30);
    let text = text_of(vec![
        user("Which structure did we agree on?"),
        model(&structure),
        user("good, start with the modes"),
        model("Done."),
        model("Let me search"),
        call("1", "grep", "modes", "{}"),
    ]);
    let told = part(&text, "Current");
    assert!(told.contains("The structure we agreed on:") && told.contains("├── core/session.ts"), "{told}");
    let done = part(&text, "Done").to_owned() + part(&text, "Next") + part(&text, "Decisions");
    assert!(!done.contains("Done.") && !done.contains("Let me search"), "{done}");
}

#[test]
fn boxes_of_a_plan_file_stand_as_the_file_has_them() {
    let wrote = |input: serde_json::Value| input.to_string();
    let text = text_of(vec![
        user("Make a plan in docs/work.md and follow it."),
        call(
            "1",
            "Write",
            "docs/work.md",
            &wrote(serde_json::json!({
                "file_path": "docs/work.md", "content": "# Plan\n- [ ] write the parser\n- [ ] test it\n- [ ] old idea\n"
            })),
        ),
        result("1", "ok", false),
        call(
            "2",
            "Edit",
            "docs/work.md",
            &wrote(serde_json::json!({
                "file_path": "docs/work.md", "old_string": "- [ ] write the parser", "new_string": "- [x] write the parser"
            })),
        ),
        result("2", "ok", false),
        call(
            "3",
            "Edit",
            "docs/work.md",
            &wrote(serde_json::json!({
                "file_path": "docs/work.md", "old_string": "- [ ] old idea\n", "new_string": ""
            })),
        ),
        result("3", "not found", true),
        call("4", "Read", "docs/work.md", "{}"),
        result("4", "     2→- [x] write the parser\n     3→- [ ] test it\n     4→- [ ] old idea\n", false),
        call("5", "Read", "README.md", "{}"),
        result("5", "- [ ] a box of somebody else\n", false),
    ]);
    let (open, done) = (part(&text, "Open"), part(&text, "Done"));
    assert!(
        open.contains("test it") && open.contains("old idea") && !open.contains("write the parser"),
        "{open}"
    );
    assert!(done.contains("write the parser") && !text.contains("somebody else"), "{text}");
}

#[test]
fn what_nothing_checked_says_so_in_the_next_summary_too() {
    let others = "Summary of the conversation so far.\n\n1. Overview: the core decides without any input and output.\n2. Added src/since.rs with `Since::parse`.";
    let earlier = Earlier { unchecked: true, ..foreign(1, 80, others) };
    let entries = entries(coding());
    let template = each(As::Markdown);
    let text = extract(&material(&entries, vec![earlier]), &brief(&template, 3_000), &Thirds);
    let told = part(&text, "Findings");
    assert!(told.contains("~ \"2. Added src/since.rs with `Since::parse`.\" #1"), "{told}");
    assert!(!text.contains("Summary of the conversation"), "{text}");
    assert!(part(&text, "Goal").starts_with("- \"Add a `--since` filter"), "{text}");
}

#[test]
fn a_focus_brings_in_what_was_said_on_it_whatever_kind_of_sentence_that_is() {
    let said = vec![
        user("Make the reset keep what it must."),
        model(
            "The event listeners of the window survive a reset; those of the socket are bound again. Fonts are loaded late.",
        ),
        model("The colours stay as they are, and the menu has seven entries by now."),
    ];
    let entries = entries(said);
    let template = template(As::Markdown, &[("Goal", &[Fill::Intent]), ("Facts", &[Fill::Findings])]);
    let of = |focus| {
        let brief = Brief { focus, ..brief(&template, 1_000) };
        extract(&material(&entries, vec![]), &brief, &Thirds)
    };
    let listeners =
        "\"The event listeners of the window survive a reset; those of the socket are bound again.\" #102";
    assert!(!of(None).contains("event listeners"), "{}", of(None));
    let focused = of(Some("the event listeners that must survive a reset"));
    assert!(focused.contains(listeners) && !focused.contains("menu"), "{focused}");
}

#[test]
fn a_delegate_is_quoted_by_its_report_and_not_by_its_calls() {
    let launched = "Async agent launched successfully.\nagentId: a17 (This is an internal ID that nobody should be told.)\n";
    let calls =
        "[Tool: Grep] {\"pattern\":\"retry_limit\",\"path\":\"src/queue.rs\",\"output_mode\":\"content\"}\n"
            .repeat(40);
    let report = "`src/queue.rs:12` - `drain_all()`\nThe queue drops every message that src/queue.rs cannot send twice.\n".to_owned()
        + &"Its callers in src/http.rs never look at the outcome of a retry.\n".repeat(8);
    let polled = format!("<status>completed</status>\n<output>\n{calls}\n--- RESULT ---\n{report}</output>");
    let text = text_of(vec![
        user("Review the queue."),
        call(
            "1",
            "Task",
            "Review the queue",
            r#"{"description":"Review the queue","run_in_background":true}"#,
        ),
        result("1", launched, false),
        call("2", "TaskOutput", "a17", r#"{"task_id":"a17"}"#),
        result("2", &polled, false),
        model("The review is there."),
    ]);
    let told = part(&text, "Findings");
    let quote = "from another agent: \"The queue drops every message that src/queue.rs cannot send twice.\"";
    assert!(told.contains(quote), "{text}");
    assert!(!told.contains("internal ID") && !told.contains("[Tool"), "{told}");
    assert!(!told.contains("drain_all"), "a place and a name say nothing: {told}");
}

#[test]
fn a_patch_names_its_files_whatever_its_argument_is_called() {
    let patch = "*** Begin Patch\n*** Add File: src/queue.rs\n+pub struct Backlog;\n*** End Patch";
    for argument in ["input", "patch", "patchText"] {
        let input = serde_json::json!({ argument: patch }).to_string();
        let text = text_of(vec![
            user("Add the queue."),
            call("1", "apply_patch", "", &input),
            result("1", "Success. Updated the following files:\nA src/queue.rs", false),
        ]);
        let changed = part(&text, "Changed").trim();
        assert_eq!(changed, "- changed `src/queue.rs`, with `Backlog` #102", "{argument}: {text}");
    }
}

#[test]
fn the_order_at_the_end_of_a_long_request_is_quoted() {
    let pasted = "The discussion goes on about queues and their callers, and nobody agrees on anything yet. "
        .repeat(40);
    let text = text_of(vec![user(&format!(
        "Read this first.\n{pasted}\nNow rewrite the drain of the queue in Rust."
    ))]);
    let goal = part(&text, "Goal");
    assert!(
        goal.contains("Read this first.") && goal.contains("rewrite the drain of the queue in Rust."),
        "{goal}"
    );
}

#[test]
fn what_nobody_typed_is_no_decision_and_what_instructs_reports_no_error() {
    let pasted = "> We decided to use SQLite for the store of all queues.\n\nException: the folder of the runs may be written.\n\nWhat do you think of this?";
    let text = text_of(vec![
        Message::text(Role::User, "Exception: If working within a design, keep its language.")
            .standing(MessageOrigin::Injected("meta".into())),
        user(pasted),
        model("It is sound."),
    ]);
    assert_eq!(part(&text, "Decisions").trim(), "–", "{text}");
    assert_eq!(part(&text, "Errors").trim(), "–", "{text}");
}

#[test]
fn boxes_of_a_skill_are_no_work() {
    let write = |path: &str| {
        let input = serde_json::json!({ "file_path": path, "content": "# Before\n- [ ] ask the owner\n- [x] read it" });
        let text = text_of(vec![
            user("Write the list of steps."),
            call("1", "Write", path, &input.to_string()),
            result("1", "File created", false),
        ]);
        part(&text, "Open").trim().to_owned()
    };
    assert!(write("docs/plan.md").contains("ask the owner"));
    assert_eq!(write("skills/release/skill-checklist.md"), "–");
}

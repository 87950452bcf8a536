//! Outcomes of calls: what proves that a check passed or failed, and to which process a result belongs.

use super::*;

/// Returns the parts about commands and errors in a summary of some messages.
fn told(messages: Vec<Message>) -> String {
    let all = std::iter::once(user("Get the tests of the parser to pass.")).chain(messages);
    let text = summary(all, &each(As::Markdown), 4_000);
    format!("{}\n{}", part(&text, "Commands"), part(&text, "Errors"))
}

fn steps(steps: &[(&str, &str, bool)]) -> Vec<Message> {
    let ids: Vec<String> = (0..steps.len()).map(|number| format!("s{number}")).collect();
    let steps = steps.iter().zip(&ids);
    steps.flat_map(|((command, output, failed), id)| ran(id, command, output, *failed)).collect()
}

const GO_FAILS: &str =
    "--- FAIL: TestSplit (0.02s)\n    split_test.go:31: got 3, want 4\nFAIL\nFAIL\texample.org/split\t0.4s";
const GO_PASSES: &str = "ok  \texample.org/split\t0.4s";

#[test]
fn the_exit_code_of_a_filter_proves_nothing() {
    for filter in ["| tail -100", "| tee run.log", "| grep FAIL | head", "|| true", "; true", "; echo done"] {
        let red = told(steps(&[(&format!("go test ./... 2>&1 {filter}"), GO_FAILS, false)]));
        assert!(red.contains("open when last checked"), "{filter}: {red}");
        assert!(!red.contains("→ ok"), "{filter}: {red}");
        let again =
            [("go test ./...", GO_FAILS, true), (&format!("go test ./... 2>&1 {filter}"), GO_FAILS, false)];
        let again = told(steps(&again));
        assert!(!again.contains("fixed") && !again.contains("ok later"), "{filter}: {again}");
    }
    // A filter that may hide failures, and prints nothing, leaves the outcome open.
    for filter in ["| grep FAIL", "> run.log; true", "| true"] {
        let text = told(steps(&[
            ("go test ./...", GO_FAILS, true),
            (&format!("go test ./... {filter}"), "", false),
        ]));
        assert!(text.contains("outcome not known"), "{filter}: {text}");
        assert!(!text.contains("fixed") && !text.contains("ok later"), "{filter}: {text}");
    }
    // With `pipefail`, the exit code is that of the check.
    let green = "set -o pipefail; go test ./... | grep -v coverage";
    let text = told(steps(&[("go test ./...", GO_FAILS, true), (green, "", false)]));
    assert!(text.contains("→ fixed"), "{text}");
}

#[test]
fn what_a_passing_test_prints_does_not_count_as_a_failure() {
    let sum = "test result: ok. 2 passed; 0 failed; 0 ignored";
    for printed in ["error: the input ends early", "Traceback (most recent call last):", "lib.rs:7: error: x"]
    {
        let output = format!("running 2 tests\n{printed}\ntest a ... ok\ntest b ... ok\n\n{sum}");
        for command in ["cargo test", "cargo test 2>&1 | tail -40"] {
            let green = told(steps(&[(command, &output, false)]));
            assert!(!green.contains("open") && green.contains("→ ok"), "{command}: {green}");
        }
        // After the sum, the same line is the runner's.
        let red = told(steps(&[("cargo test 2>&1 | tail -40", &format!("{sum}\n{printed}"), false)]));
        assert!(red.contains("open when last checked"), "{red}");
        // The sum of one check says nothing about another.
        let two = told(steps(&[("cargo clippy; cargo test", &format!("{printed}\n{sum}"), false)]));
        assert!(two.contains("open when last checked"), "{two}");
    }
}

#[test]
fn a_command_that_a_shell_could_not_run_is_not_the_check_that_ran() {
    let gone = "/usr/bin/bash: line 1: cd: src: No such file or directory";
    let sum = "ok: 21 packages ok, 0 failed";
    let of = |command: &str, output: String| told(steps(&[(command, &output, false)]));
    let one = of("cd src; go test ./... | tee log", format!("{gone}\n{sum}"));
    assert!(!one.contains("open"), "{one}");
    let two = of("cd src && go build ./...; go test ./... | tee log", format!("{gone}\n{sum}"));
    assert!(!two.contains("open") && !two.contains("→ ok"), "{two}");
    let none = of("cd src && go test ./... | tee log", gone.into());
    assert!(none.contains("open when last checked"), "{none}");
}

#[test]
fn a_check_that_runs_twice_in_a_line_is_not_judged_by_its_first_run() {
    let twice = "go test ./... | tail -2; echo again; go test ./... | tail -1";
    let text = told(steps(&[(twice, &format!("{GO_FAILS}\nagain\n{GO_PASSES}"), false)]));
    assert!(text.contains("outcome not known") && !text.contains("→ open"), "{text}");
}

#[test]
fn a_call_that_was_not_carried_out_has_not_failed() {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    for why in ["", " To tell you how to proceed, the user said:\nuse the other parser, and keep the tests"] {
        let all = std::iter::once(user("Get the tests of the parser to pass."));
        let text = summary(
            all.chain(ran("a", "go test ./...", &format!("{refused}{why}"), true)),
            &each(As::Markdown),
            4_000,
        );
        assert!(
            !text.contains("→ failed") && !text.contains("→ open") && !text.contains("doesn't want"),
            "{text}"
        );
        assert_eq!(text.contains("use the other parser"), !why.is_empty(), "{text}");
    }
}

#[test]
fn output_that_shows_success_is_one() {
    for filter in ["| tail -5", "2>&1 | tee run.log", "; echo done"] {
        let text = told(steps(&[
            ("go test ./...", GO_FAILS, true),
            (&format!("go test ./... {filter}"), GO_PASSES, false),
        ]));
        assert!(text.contains("→ fixed #103 #105"), "{filter}: {text}");
    }
    // Lines that passed tell nothing about lines that a filter hides.
    let text =
        told(steps(&[("go test ./...", GO_FAILS, true), ("go test ./... | grep ^ok", GO_PASSES, false)]));
    assert!(!text.contains("fixed"), "{text}");
}

#[test]
fn a_success_that_prints_the_word_error_has_not_failed() {
    let output = "error: a bad port is refused ... ok\nError paths: 4 covered\n12 passed in 0.4s";
    for command in ["pytest tests", "pytest tests | tail -4"] {
        let text = told(steps(&[(command, output, false)]));
        assert!(text.contains("→ ok: \"12 passed in 0.4s\""), "{command}: {text}");
    }
    // A program other than a check prints such a line, without an exit code: nothing is known.
    let text = told(steps(&[("python3 fill.py --all", "row 4\nError: row 5 is empty, skipped", false)]));
    assert!(text.contains("`python3 fill.py --all` →: \"Error: row 5") && !text.contains("failed"), "{text}");
}

fn polled(name: &str, input: &str, id: &str, output: &str) -> [Message; 2] {
    [call(id, name, "", input), result(id, output, false)]
}

#[test]
fn the_outcome_of_a_process_is_that_of_its_last_poll() {
    let begun = "Chunk ID: 1a\nWall time: 10.0 seconds\nProcess running with session ID 4711\nOutput:\nerror: expected by the test\n";
    let goes_on =
        "Chunk ID: 2b\nWall time: 5.0 seconds\nProcess running with session ID 4711\nOutput:\n.....\n";
    let poll =
        |id: &str, output: &str| polled("write_stdin", r#"{"session_id": 4711, "chars": ""}"#, id, output);
    let start = || {
        let given = r#"{"cmd": "bun run test", "yield_time_ms": 10000}"#;
        [call("a", "exec_command", "bun run test", given), result("a", begun, false)]
    };
    let ended = |code: u8, output: &str| {
        format!("Chunk ID: 3c\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{output}")
    };
    let run =
        |last: &str| told(start().into_iter().chain(poll("b", goes_on)).chain(poll("c", last)).collect());
    let green = run(&ended(0, "212 pass\n0 fail\n"));
    assert!(green.contains("`bun run test` → ok: \"0 fail\" #102"), "{green}");
    assert!(!green.contains("open") && !green.contains("write_stdin"), "{green}");
    let red = run(&ended(1, "211 pass\n1 fail\n"));
    assert!(red.contains("`bun run test`: ") && red.contains("→ open when last checked"), "{red}");
    let waits = told(start().into_iter().chain(poll("b", goes_on)).collect());
    assert!(waits.contains("`bun run test` → running when last seen") && !waits.contains("open"), "{waits}");
}

#[test]
fn a_notice_ends_a_command_in_the_background() {
    let begun =
        "Command running in background with ID: b7f3c2. Output is being written to: /tmp/tasks/b7f3c2.output";
    let notice = |status: &str, words: &str| {
        let text = format!(
            "<task-notification>\n<task-id>b7f3c2</task-id>\n<status>{status}</status>\n<summary>Background command \
             \"Run the tests\" {words}</summary>\n</task-notification>"
        );
        user(&text)
    };
    let run = |end: Message| {
        let start =
            [call("a", "Bash", "cargo test", r#"{"command": "cargo test"}"#), result("a", begun, false)];
        told(start.into_iter().chain([end]).collect())
    };
    assert!(run(notice("completed", "completed (exit code 0)")).contains("`cargo test` → ok"));
    assert!(run(notice("failed", "failed with exit code 101")).contains("→ open when last checked"));
    let killed = polled("KillShell", r#"{"shell_id": "b7f3c2"}"#, "k", "Successfully killed shell: b7f3c2");
    let start = [call("a", "Bash", "cargo test", r#"{"command": "cargo test"}"#), result("a", begun, false)];
    let text = told(start.into_iter().chain(killed).collect());
    assert!(text.contains("`cargo test` → outcome not known") && !text.contains("→ ok"), "{text}");
}

#[test]
fn switching_to_a_branch_takes_nothing_back() {
    let edit =
        [call("e", "Edit", "src/split.go", r#"{"file_path": "src/split.go"}"#), result("e", "done", false)];
    let after = |command: &str, output: &str| {
        let all = std::iter::once(user("Split by commas."))
            .chain(edit.clone())
            .chain(ran("g", command, output, false));
        part(&summary(all, &each(As::Markdown), 4_000), "Changed").to_owned()
    };
    for command in [
        "git checkout lea/issue-12",
        "git checkout -b src/split",
        "git switch main",
        "git stash && git stash pop",
    ] {
        let files = after(command, "Switched to branch");
        assert!(
            files.contains("changed `src/split.go`") && !files.contains("taken back"),
            "{command}: {files}"
        );
    }
    for command in ["git checkout -- src/split.go", "git checkout src/split.go", "git restore src/split.go"] {
        let files = after(command, "Updated 1 path from the index");
        assert!(files.contains("taken back `src/split.go`"), "{command}: {files}");
    }
    let taken = after("git checkout --theirs src/split.go", "Updated 1 path from the index");
    assert!(taken.contains("changed `src/split.go` ×2"), "{taken}");
    // A commit contains the change.
    let committed = std::iter::once(user("Split by commas."))
        .chain(edit.clone())
        .chain(ran("c", "git commit -qam 'split by commas'", "[main 1a2b3c4] split by commas", false))
        .chain(ran("g", "git checkout -- src/split.go", "", false));
    let files = part(&summary(committed, &each(As::Markdown), 4_000), "Changed").to_owned();
    assert!(files.contains("changed `src/split.go`") && !files.contains("taken back"), "{files}");
}

#[test]
fn the_reports_of_teammates_close_their_tasks() {
    let created = |id: &str, number: u8, subject: &str| {
        let input = format!(r#"{{"subject": "{subject}"}}"#);
        let made = format!("Task #{number} created successfully: {subject}");
        [call(id, "TaskCreate", "", &input), result(id, &made, false)]
    };
    let report = |words: &str| {
        user(&format!("<teammate-message teammate_id=\"reader\">\n{words}\n</teammate-message>"))
    };
    let open = |last: Vec<Message>| {
        let tasks =
            created("a", 1, "Write the reader").into_iter().chain(created("b", 2, "Write the printer"));
        let all = std::iter::once(user("Write both with a team.")).chain(tasks).chain(last);
        part(&summary(all, &each(As::Markdown), 4_000), "Open").to_owned()
    };
    assert!(open(vec![]).contains("Write the reader"));
    for done in [
        "Task #1 is complete: the reader handles quotes.",
        "Completed task #1, see src/reader.rs.",
        r#"{"type":"idle_notification","from":"reader","completedTaskId":"1","completedStatus":"resolved"}"#,
    ] {
        let open = open(vec![report(done)]);
        assert!(!open.contains("Write the reader") && open.contains("Write the printer"), "{done}: {open}");
    }
    for not_done in [
        "Task #1 is not complete yet.",
        "When task #1 is done I begin with the next.",
        "Task #1 is harder than it looks.",
    ] {
        assert!(open(vec![report(not_done)]).contains("Write the reader"), "{not_done}");
    }
    let listed = [
        call("l", "TaskList", "", "{}"),
        result("l", "#1 [completed] Write the reader\n#2 [in_progress] Write the printer", false),
    ];
    let open = open(listed.to_vec());
    assert!(!open.contains("Write the reader") && open.contains("in progress"), "{open}");
}

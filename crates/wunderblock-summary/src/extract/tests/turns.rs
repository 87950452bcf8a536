//! Requests with their outcomes, and statements that are outdated.

use super::*;

fn told(messages: Vec<Message>) -> String {
    told_with_items(messages).text
}

fn told_with_items(messages: Vec<Message>) -> Extract {
    let sections: &[(&str, &[Fill])] = &[
        ("Turns", &[Fill::Intent, Fill::Outcomes]),
        ("Changed", &[Fill::FilesModified]),
        ("Commands", &[Fill::Commands]),
        ("Findings", &[Fill::Findings]),
        ("Done", &[Fill::Done]),
        ("Open", &[Fill::Todos]),
        ("Next", &[Fill::Next]),
        ("Current", &[Fill::Current]),
    ];
    let (entries, template) = (entries(messages), template(As::Markdown, sections));
    extracted(&material(&entries, vec![]), &brief(&template, 4_000), &Thirds)
}

fn printed(lines: &str) -> Message {
    user(lines).standing(MessageOrigin::Injected("aider".into()))
}

#[test]
fn each_request_is_followed_by_what_came_of_it() {
    let fixed = "Perfect!\n\nThe text component kept its cache.\n\n```ts\nclear(): void {}\n```\n\nIts cache is cleared together with the theme now.\n\nHere is more:";
    let text = told(vec![
        user("When the theme changes, the text component keeps its old colours."),
        model("I look at the text component and its cache first."),
        call("1", "edit", "src/text.ts", "{}"),
        result("1", "ok", false),
        model(fixed),
        user("And why do the colours differ between both terminals?"),
        call("2", "Bash", "printenv COLORTERM", "{}"),
        result("2", "truecolor", false),
        model("Both terminals report truecolor, so detection is not the cause."),
    ]);
    let turns = part(&text, "Turns");
    let expected = "- \"When the theme changes, the text component keeps its old colours.\" #101\n\
         - → \"The text component kept its cache. … Its cache is cleared together with the theme now.\" #105\n\
         - then: \"And why do the colours differ between both terminals?\" #106";
    assert_eq!(turns.trim(), expected);
    assert!(
        part(&text, "Changed").contains(
            "changed `src/text.ts`: \"I look at the text component and its cache first.\" #103 #102"
        ),
        "{text}"
    );
    // The last reply is quoted only once.
    assert!(part(&text, "Current").contains("said last: \"Both terminals report truecolor"), "{text}");
}

#[test]
fn what_was_taken_back_rejected_or_broken_off_is_said_to_be() {
    let text = told(vec![
        user("Draw a chart of the shares by version."),
        model("I added the chart of the shares to chart.md, drawn by version."),
        printed("> Applied edit to chart.md\n> Commit 1a2b3c4 feat: draw the chart"),
        printed("> Removed: 1a2b3c4 feat: draw the chart\n> Now at:  0a0a0a0 start"),
        user("Find out why both terminals show other colours."),
        model("I found that one terminal reports a light background, so it takes the light theme."),
        user("No, that's not it, both have the dark theme. Write a script that prints every colour."),
        model("The script prints every colour of the dark theme by its name."),
        call("1", "Bash", "node colours.js", "{}"),
        user("Use colours by red, green and blue instead of indices."),
        model("The indices are replaced in dark.json and light.json."),
    ]);
    let turns = part(&text, "Turns");
    for line in [
        "- → taken back: \"I added the chart of the shares",
        "- → rejected: \"I found that one terminal reports",
        "- → \"The script prints every colour",
    ] {
        assert!(turns.contains(line), "{line}: {turns}");
    }
    assert!(!part(&text, "Findings").contains("light background"), "{text}");
    assert!(!part(&text, "Done").contains("I added the chart"), "{text}");
    let undone = told(vec![
        user("Push the theme to the next tick, please, it leaves artefacts."),
        model("The theme is set by `setImmediate()` now, so the artefacts are gone."),
        user("yeah you can undo that, it was the logging"),
        call("1", "edit", "theme.ts", "{}"),
        model("The call of `setImmediate()` is removed again."),
        user("How do I undo that commit?"),
        model("By `git reset --soft HEAD~1`, which keeps what it changed."),
    ]);
    let turns = part(&undone, "Turns");
    assert!(turns.contains("→ taken back: \"The theme is set"), "{turns}");
    assert!(turns.contains("- → \"The call of `setImmediate()`"), "{turns}");
}

#[test]
fn what_was_announced_and_listed_before_the_newest_turn_is_not_to_come() {
    let text = told(vec![
        user("Move the numbers into a file of their own."),
        model("- [x] write grouped.rs\n- [ ] build all of core and wire"),
        model("Next I will build all of core and wire."),
        call("1", "Bash", "cargo check", "{}"),
        result("1", "Finished", false),
        model("Moved and committed: grouped.rs has the function and two tests."),
        user("Now correct the words of the documentation, please."),
        model("Corrected: the smallest value is zero, and times may be negative."),
    ]);
    assert!(
        part(&text, "Open").contains("open when last listed: \"build all of core and wire\" #102"),
        "{text}"
    );
    assert!(!part(&text, "Next").contains("build all"), "{text}");
    assert_eq!(text.matches("build all of core and wire").count(), 1, "{text}");
}

#[test]
fn a_command_is_quoted_verbatim_and_its_output_is_not_an_outcome() {
    let quoted = "git push -q origin \"HEAD:totals\" && git diff HEAD~1 | cat";
    let steps = [
        ran("a", quoted, "-error = round(error)\n+let total = round(sum);", false),
        ran("b", "grep -E \"\\\"muted\\\"|\\\"dim\\\"\" dark.json", "\"muted\": \"gray\",", false),
    ];
    let messages: Vec<Message> = std::iter::once(user("Go on.")).chain(steps.into_iter().flatten()).collect();
    let made = told_with_items(messages);
    let commands = part(&made.text, "Commands");
    assert!(commands.contains(&format!("- `{quoted}` → ok #102")), "{commands}");
    // A command that only looks at something has no result for later.
    assert!(!commands.contains("grep"), "{commands}");
    // A summary that is read again yields the same commands.
    let first = earlier(101, 105, &made);
    let more = entries([user("And now the next one, please, with a test.")]);
    let more: Vec<ViewEntry> = more.into_iter().map(|entry| ViewEntry { seq: Seq(106), ..entry }).collect();
    let sections: &[(&str, &[Fill])] =
        &[("Turns", &[Fill::Intent, Fill::Outcomes]), ("Commands", &[Fill::Commands])];
    let template = template(As::Markdown, sections);
    let again = extract(&material(&more, vec![first]), &brief(&template, 4_000), &Thirds);
    assert!(part(&again, "Commands").contains(&format!("- `{quoted}` → ok #102")), "{again}");
}

#[test]
fn a_reply_counts_for_what_became_of_its_edits() {
    let text = told(vec![
        user("Draw the shares as a line and label the axes."),
        model("The shares are drawn as a line, and both axes have labels."),
        printed(
            "> Applied edit to chart.md\n> Commit 1a2b3c4 feat: draw a line\n> Commit 5d6e7f8 feat: label the axes",
        ),
        printed("> Removed: 5d6e7f8 feat: label the axes\n> HEAD is: 1a2b3c4 feat: draw a line"),
        user("Use the default file name when none is given, please."),
        model("The command uses the default file name now, so none is asked for."),
        printed("> Skipping edits to main.py"),
        user("Write the totals to the log with their version."),
        model("I write the totals and their version to the log, one line each."),
        printed("> ^C KeyboardInterrupt"),
        user("Never mind the log; which colours does the chart have?"),
        model("The chart has two colours: blue for the share, grey for the rest."),
        printed("> ^C again to exit"),
        user("Good. Remove the import of the repository, it is unused."),
        model("The unused import of the repository is removed."),
        printed("> Applied edit to test.py\n> Commit 9a8b7c6 fix: remove an import"),
        printed("> Removed: 9a8b7c6 fix: remove an import\n> HEAD is: 1a2b3c4 feat: draw a line"),
    ]);
    let turns = part(&text, "Turns");
    for line in [
        "- → \"The shares are drawn as a line",
        "- → not applied: \"The command uses the default",
        "- → broken off: \"I write the totals",
        "- → \"The chart has two colours",
    ] {
        assert!(turns.contains(line), "{line}: {turns}");
    }
    assert!(part(&text, "Current").contains("said last: taken back: \"The unused import"), "{text}");
}

#[test]
fn a_failure_of_a_change_that_was_taken_back_is_not_open() {
    let red = |id| {
        ran(
            id,
            "cargo test -p core",
            "test result: FAILED. 1 failed\nthread 'since' panicked at src/since.rs:9",
            true,
        )
    };
    let changed = [call("e", "Edit", "src/lib.rs", "{}"), result("e", "ok", false)];
    let all = |steps: Vec<[Message; 2]>| {
        told(std::iter::once(user("Try it.")).chain(steps.into_iter().flatten()).collect())
    };
    let sections: &[(&str, &[Fill])] = &[("Errors", &[Fill::Errors])];
    let errors = |steps: Vec<[Message; 2]>| {
        let messages: Vec<Message> =
            std::iter::once(user("Try it.")).chain(steps.into_iter().flatten()).collect();
        summary(messages, &template(As::Markdown, sections), 2_000)
    };
    let back = ran("b", "git checkout src/lib.rs", "", false);
    assert!(errors(vec![changed.clone(), red("r"), back.clone()]).contains("→ `src/lib.rs` changed since"));
    assert!(errors(vec![red("r"), changed, back]).contains("→ open"), "it was there before the change");
    let searched = ran(
        "s",
        "for f in src/*.rs; do sed '/x|y/d' $f; done | grep -nE 'f(32|64)'",
        "\n\nCommand exited with code 1",
        true,
    );
    assert!(part(&all(vec![searched]), "Commands").contains("→ no match"));
    let listed = vec![
        user("Move it."),
        call("t", "TodoWrite", "", r#"{"todos":[{"content":"move the function","status":"in_progress"}]}"#),
        result("t", "ok", false),
    ];
    assert!(part(&told(listed.clone()), "Open").contains("in progress: \"move the function\""));
    let later = told(listed.into_iter().chain(ran("m", "cargo check", "Finished", false)).collect());
    assert!(part(&later, "Open").contains("in progress when last listed: \"move the function\""), "{later}");
}

#[test]
fn a_numbered_line_of_code_reports_nothing() {
    let shown = user(
        "1480:         except (TypeError, ValueError) as error:\n1481:             raise self.make_error(\"invalid\") from error",
    );
    let text = told(vec![user("Fix it."), shown.standing(MessageOrigin::Injected("environment".into()))]);
    assert!(!text.contains("printed: "), "{text}");
}

#[test]
fn a_turn_that_asks_to_go_on_ends_none_and_code_is_left_out_with_what_leads_to_it() {
    let text = told(vec![
        user("Make the levels of thinking themeable, each with a token of its own."),
        model("Each level of thinking has a token of its own in the schema."),
        call("1", "edit", "theme.md", "{}"),
        user("continue"),
        model(
            "The five tokens are in both themes now. Here's the change:\n\nsrc/theme.json\n```json\n{}\n```\n\n\
             The schema demands all five of them.",
        ),
        user("Now the documentation of the five tokens, please."),
        model("Documented: each token with its default value."),
    ]);
    let turns = part(&text, "Turns");
    assert!(!turns.contains("broken off"), "{turns}");
    let told = "→ \"The five tokens are in both themes now. … The schema demands all five of them.\"";
    assert!(turns.contains(told), "{turns}");
}

#[test]
fn what_was_wrong_is_told_with_the_file_that_was_changed_since() {
    let text = told(vec![
        user("The two terminals show other greys; find out why."),
        model(
            "The issue is that `theme.ts` gives greys by their index. Red, green and blue are written into `theme.ts` instead.",
        ),
        call("1", "edit", "theme.ts", "{}"),
        result("1", "ok", false),
        model("It turns out that both terminals have the same colours now."),
        user("And the log?"),
        printed("> ^C again to exit"),
        model("We'll use a file of its own for the log, instead of the console."),
        user("No, leave the log as it is, and tell me which greys there are."),
        model("There are three greys: 808080, 585858 and 303030."),
    ]);
    let findings = part(&text, "Findings");
    assert!(findings.contains("by their index.\" → `theme.ts` changed since #"), "{findings}");
    assert!(findings.contains("the same colours now.\" #"), "{findings}");
    assert!(part(&text, "Turns").contains("→ broken off: \"We'll use a file"), "{text}");
    assert!(!text.contains("\n## Decisions"), "{text}");
}

//! Work that was taken back, and results that say less than they seem to.

use super::*;

fn text_of(messages: Vec<Message>) -> String {
    summary(messages, &each(As::Markdown), 4_000)
}

fn printed(lines: &str) -> Message {
    user(lines).standing(MessageOrigin::Injected("aider".into()))
}

#[test]
fn commits_that_were_taken_back_are_not_done() {
    let first = printed("> Applied edit to chart.md\n> Commit 1a2b3c4 feat: draw the chart");
    let second = printed(
        "> Committing chart.md before applying edits.\n> Commit 5d6e7f8 chart: by hand\n> Applied edit to axis.md\n\
         > Commit 9a8b7c6 fix: label the axis",
    );
    let removed = printed("> Removed: 9a8b7c6 fix: label the axis\n> Now at:  5d6e7f8 chart: by hand");
    let text = text_of(vec![user("Draw it."), first.clone(), second.clone(), removed]);
    let done = part(&text, "Done");
    assert!(done.contains("1a2b3c4") && !done.contains("9a8b7c6"), "{done}");
    assert!(done.contains("5d6e7f8 chart: by hand (what stood uncommitted before)"), "{done}");
    assert!(part(&text, "Changed").contains("taken back `axis.md`"), "{text}");
    assert!(part(&text, "Changed").contains("changed `chart.md`"), "{text}");
    let kept = printed("> The last commit was not made by aider in this chat session.");
    let text = text_of(vec![user("Draw it."), first.clone(), kept]);
    assert!(part(&text, "Errors").contains("`/undo`: \"The last commit was not made"), "{text}");
    // Several commits are taken back at the same time.
    let reset = printed("> HEAD is now at 1a2b3c4 feat: draw the chart");
    let text = text_of(vec![user("Draw it."), first, second, reset]);
    let done = part(&text, "Done");
    assert!(done.contains("1a2b3c4") && !done.contains("5d6e7f8") && !done.contains("9a8b7c6"), "{done}");
}

#[test]
fn a_search_that_finds_nothing_has_not_failed() {
    let steps = [
        ran(
            "a",
            "rg -n 'fn old_name' src | grep -v tests",
            "(no output)\n\nCommand exited with code 1",
            true,
        ),
        ran("b", "grep -n port missing.toml", "grep: missing.toml: No such file or directory", true),
    ];
    let text = text_of(std::iter::once(user("Is it gone?")).chain(steps.into_iter().flatten()).collect());
    assert!(part(&text, "Recent").contains("no match"), "{text}");
    assert_eq!(text.matches("→ failed").count(), 1, "{text}");
}

#[test]
fn a_commit_is_told_by_its_own_line_and_only_equal_runs_are_counted() {
    let commit = "git commit -qam 'stub: commas again' && git log --oneline -2";
    let log = "[main 34b20aa] stub: commas again\n 1 file changed\n34b20aa stub: commas again\n07f492b an older one";
    let steps = [
        ran("a", commit, log, false),
        ran("b", "cargo check -p wire", "error[E0308]: mismatched types", true),
        ran("c", "cargo check -p wire", "Finished", false),
        ran("d", "cargo check -p core", "Finished", false),
    ];
    let text = text_of(std::iter::once(user("Go on.")).chain(steps.into_iter().flatten()).collect());
    let (commands, done) = (part(&text, "Commands"), part(&text, "Done"));
    assert!(done.contains("34b20aa") && !done.contains("07f492b"), "{done}");
    // A commit that is listed as done is not listed as a command.
    assert!(!commands.contains("git commit") && !commands.contains("×3"), "{commands}");
}

#[test]
fn what_clippy_compiles_is_not_told_as_open() {
    let red = ran(
        "a",
        "cargo test",
        "error[E0373]: closure may outlive the current function\n --> src/view.rs:7",
        true,
    );
    let green = |command| ran("b", command, "Finished `dev` profile", false);
    let told = |command| {
        let steps = red.clone().into_iter().chain(green(command));
        part(&text_of(std::iter::once(user("Build it.")).chain(steps).collect()), "Errors").to_owned()
    };
    assert!(told("cargo clippy").contains("→ failed"));
    for other in ["cargo clippy -p other", "npm run check", "cargo clippy | head -5"] {
        assert!(told(other).contains("→ open"), "{other}");
    }
}

#[test]
fn code_with_fences_in_it_says_nothing() {
    let said = "We'll keep both forms of the fence.\n\nfence.py\n<source>python\nif shell == \"```bash\":\n    \
                raise ValueError(f\"Expected `{END}` or we should stop here\")\n</source>\n\nWe'll drop the old reader of fences, too.";
    let text = text_of(vec![user("Read both forms of fences."), Message::text(Role::Assistant, said)]);
    assert!(text.contains("keep both forms") && text.contains("drop the old reader"), "{text}");
    assert!(!text.contains("- \"raise ValueError"), "{text}");
}

#[test]
fn an_error_in_colours_names_its_place() {
    let red = "\u{1b}[1m\u{1b}[91merror[E0373]\u{1b}[0m\u{1b}[1m: closure may outlive the function\u{1b}[0m\n\
               \u{1b}[1m\u{1b}[94m  --> \u{1b}[0msrc/view.rs:12:5";
    let steps = [
        ran("a", "cargo check -p core --color always", red, true),
        ran("b", "sed -i 's/a/move a/' src/view.rs", "", false),
    ];
    let text = text_of(std::iter::once(user("Go on.")).chain(steps.into_iter().flatten()).collect());
    assert!(part(&text, "Errors").contains("→ `src/view.rs` changed since"), "{text}");
}

#[test]
fn a_file_is_taken_back_only_where_no_commit_that_stands_may_have_changed_it() {
    let first = printed("> Applied edit to chart.md\n> Commit 1a2b3c4 feat: draw the chart");
    // If a reply's edits were made only in part, aider names no file until the next commit.
    let part_of_it = printed(
        "> 1 SEARCH/REPLACE block failed to match!\n> The other 1 SEARCH/REPLACE block were applied successfully.\n\
         > Committing chart.md before applying edits.\n> Commit 5d6e7f8 style: space above the chart",
    );
    let last = printed("> Applied edit to chart.md\n> Commit 9a8b7c6 style: a border");
    let removed =
        printed("> Removed: 9a8b7c6 style: a border\n> Now at:  5d6e7f8 style: space above the chart");
    let drawn = model("The chart is drawn by version, from chart.md.");
    let spaced = model("There is space above the chart now, as you asked.");
    let bordered = model("A thin border is drawn around the chart now.");
    let session = vec![
        user("Draw a chart of the versions."),
        drawn,
        first,
        user("More space above it, please."),
        spaced,
        part_of_it,
        user("And a border around the chart."),
        bordered,
        last,
        removed,
    ];
    let text = text_of(session);
    let files = part(&text, "Changed");
    assert!(files.contains("changed `chart.md` ×2"), "{files}");
}

#[test]
fn the_last_wrap_up_is_that_of_the_newest_turn_that_ended() {
    let long = |said: &str| format!("{said}, its results and what hangs on them. ").repeat(6);
    let told = text_of(vec![
        user("How does the reader tell a rewind?"),
        model(&long("The reader keeps the records of a reply that is going on")),
        user("And which formats are there? A table, please."),
        model(&long("There are six formats, each with a reader of its own")),
        user("Write half a page about the filter."),
        model("I read what the filter does before I write about it."),
        call("1", "read", "filter.rs", "{}"),
    ]);
    assert!(part(&told, "Current").contains("last wrap-up: \"There are six formats"), "{told}");
}

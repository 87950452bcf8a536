//! Errors: what opens and what closes them.

use super::*;

const BROKEN: &str = "src/bridge.ts(12,5): error TS2345: Argument of type 'string' is not assignable";

/// Returns the part about errors in a summary of some calls.
fn errors(steps: &[(&str, &str, bool)]) -> String {
    let ids: Vec<String> = (0..steps.len()).map(|number| format!("c{number}")).collect();
    let calls =
        steps.iter().zip(&ids).flat_map(|((command, output, failed), id)| ran(id, command, output, *failed));
    let all = std::iter::once(user("Make the types check again.")).chain(calls);
    part(&summary(all, &each(As::Markdown), 4_000), "Errors").to_owned()
}

#[test]
fn a_green_check_of_the_family_closes_an_error() {
    let red = ("npx tsgo --noEmit 2>&1 | head -80", BROKEN, true);
    let text =
        errors(&[red, ("sed -i s/a/b/ src/bridge.ts", "", false), ("npx tsgo --noEmit", "0 errors", false)]);
    assert!(text.contains("→ fixed after changing `src/bridge.ts`"), "{text}");
}

#[test]
fn nothing_else_does() {
    let red = ("npx tsgo --noEmit", BROKEN, true);
    for later in [
        "npx tsgo --noEmit | grep src/other.ts",
        "npx tsgo --noEmit src/other.ts",
        "npx eslint src",
        "git status",
        "git add -A && git commit -m done",
    ] {
        let text = errors(&[red, (later, "all is fine", false)]);
        assert!(text.contains("→ open") && !text.contains("fixed"), "{later}: {text}");
    }
}

#[test]
fn an_error_of_a_file_that_is_removed_is_not_open() {
    let red = ("cd packages/web && npx tsgo --noEmit", BROKEN, true);
    for gone in ["rm packages/web/src/bridge.ts", "git rm -f src/bridge.ts", "cd packages/web && rm -rf src"]
    {
        let text = errors(&[red, (gone, "", false)]);
        assert!(text.contains("→ file removed"), "{gone}: {text}");
    }
    for other in ["rm src/other.ts bridge.ts", "rm -rf src", "cd packages/api && rm src/bridge.ts"] {
        let text = errors(&[red, (other, "", false)]);
        assert!(text.contains("→ open"), "{other}: {text}");
    }
}

#[test]
fn only_the_newest_result_of_a_check_is_open() {
    let later = "src/other.ts(1,1): error TS2339: Property 'size' does not exist";
    let text = errors(&[("npx tsgo --noEmit", BROKEN, true), ("npx tsgo --noEmit | head -60", later, true)]);
    // `head` may hide the first error, so both errors stay open.
    assert_eq!(text.matches("→ open").count(), 2, "{text}");
    let text = errors(&[("npx tsgo --noEmit | head -60", BROKEN, true), ("npx tsgo --noEmit", later, true)]);
    assert!(text.contains("TS2339") && text.matches("→ open").count() == 1, "{text}");
    let both = format!("{later}\n{BROKEN}");
    let again = errors(&[("npx tsgo --noEmit", BROKEN, true), ("npx tsgo --noEmit", &both, true)]);
    assert_eq!(again.matches("→ open").count(), 2, "{again}");
    // A runner's build may cover the code that the compiler looked at.
    let red = ("cd packages/web && npx tsgo -p tsconfig.build.json 2>&1 | grep error", BROKEN, true);
    let built = errors(&[red, ("cd packages/web && npm run build 2>&1 | tail -3", "done", false)]);
    assert!(!built.contains("→ open") && !built.contains("fixed"), "{built}");
    let linted = errors(&[red, ("cd packages/web && npm run lint", "done", false)]);
    assert!(linted.contains("→ open"), "{linted}");
    assert!(
        text.lines()
            .any(|line| line.contains("TS2345") && line.contains("→ the next check failed otherwise")),
        "{text}"
    );
}

#[test]
fn an_error_whose_file_changed_since_is_said_so() {
    let red = ("npx tsgo --noEmit", BROKEN, true);
    let edit = ("sed -i s/a/b/ src/bridge.ts", "", false);
    let text = errors(&[red, edit]);
    assert!(text.contains("→ `src/bridge.ts` changed since") && !text.contains("open"), "{text}");
    let text = errors(&[red, edit, ("npx tsgo --noEmit", BROKEN, true)]);
    assert_eq!(text.matches("→ open").count(), 1, "{text}");
}

#[test]
fn a_green_check_closes_what_another_found_in_the_same_words() {
    let red =
        ["npm run check", "npx tsgo --noEmit", "npm run check | head -20"].map(|run| (run, BROKEN, true));
    let other = ("npm run check", "src/a.ts(1,1): error TS2304: Cannot find name 'x'", true);
    let text = errors(&[red[0], red[1], red[2], other, ("npm run check 2>&1 | tail -3", "ok", false)]);
    assert!(!text.contains("open") && !text.contains("→ failed"), "{text}");
}

#[test]
fn a_call_other_than_a_check_is_neither_open_nor_fixed() {
    let red = ("python3 upload.py --sheet 4", "HTTPError: 400 Client Error: Bad Request", true);
    let text = errors(&[red]);
    assert!(text.contains("→ failed") && !text.contains("open"), "{text}");
    let text = errors(&[red, ("python3 upload.py --sheet 5", "Status Code: 400", false)]);
    assert!(text.contains("→ failed") && !text.contains("ok later"), "{text}");
    let text = errors(&[red, (red.0, "Status Code: 200", false)]);
    assert!(text.contains("→ ok later #103 #105") && !text.contains("fixed"), "{text}");
}

#[test]
fn a_service_that_refuses_has_failed_and_a_file_that_tells_of_errors_has_not() {
    let refusal = "Error: gift card balance is not enough";
    let booked = [
        call("1", "update_reservation_flights", "payment_id=gift_card_7480005", "{}"),
        result("1", refusal, false),
        call("2", "search_flights", "origin=JFK", "{}"),
        result("2", r#"{"error": null, "flights": ["HAT136"]}"#, false),
        call("3", "Read", "docs/errors.md", "{}"),
        result("3", "Error: what it means, and what to do", false),
    ];
    let text = summary(std::iter::once(user("Change my flight.")).chain(booked), &each(As::Markdown), 4_000);
    let found = "`search_flights origin=JFK`: \"{'error': null, 'flights': ['HAT136']}\"";
    assert!(text.contains(found) && !text.contains("what it means"), "{text}");
    let told = part(&text, "Errors");
    assert!(told.contains("update_reservation_flights") && told.contains("balance is not enough"), "{told}");
    // A failure is told once.
    assert!(!part(&text, "Commands").contains("update_reservation_flights"), "{text}");
}

#[test]
fn a_test_that_a_filtered_run_shows_to_pass_is_not_open() {
    let red = "running 2 tests\ntest ends::a_late_one ... FAILED\ntest result: FAILED. 1 passed; 1 failed";
    let check = "cargo test -p core --test ends 2>&1 | tail -25; exit ${PIPESTATUS[0]}";
    let green = "test ends::a_late_one ... ok\ntest ends::a_late_one_again ... ok\ntest result: ok. 2 passed; 0 failed";
    let again = "sed -i 's/>/>=/' src/ends.rs && cargo test -p core 2>&1 | grep -E '^test |result'";
    let text = errors(&[(check, red, true), (again, green, false)]);
    assert!(text.contains("ends::a_late_one ... FAILED\" → ok later"), "{text}");
    // Tests whose names only begin the same way, and commands that are not checks, say nothing about the error.
    let other = "test ends::a_late_one_again ... ok\ntest result: ok. 1 passed; 0 failed";
    for (command, shown) in [(again, other), ("cat log.txt", green)] {
        let text = errors(&[(check, red, true), (command, shown, false)]);
        assert!(text.contains("→ open when last checked"), "{text}");
    }
}

#[test]
fn another_command_that_begins_alike_is_not_the_same_one() {
    let red = (
        "mkdir -p themes && cp $(npm root -g)/dark.json themes/",
        "cp: dark.json: No such file or directory",
        true,
    );
    let text = errors(&[red, ("mkdir -p themes && cp src/dark.json themes/", "", false)]);
    assert!(text.contains("→ failed") && !text.contains("ok later"), "{text}");
    let text = errors(&[red, (red.0, "", false)]);
    assert!(text.contains("→ ok later"), "{text}");
}

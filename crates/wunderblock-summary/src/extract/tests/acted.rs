//! Commands at the end of a model's text.

use super::*;

fn act(said: &str, shown: &str) -> [Message; 2] {
    let stands = "\n(Open file: /repo/src/end.py)\n(Current directory: /repo)\nbash-$";
    let shown = user(&format!("{shown}{stands}")).standing(MessageOrigin::Injected("environment".into()));
    [Message::text(Role::Assistant, said), shown]
}

#[test]
fn what_a_reply_ends_with_is_a_call_and_what_the_environment_shows_its_result() {
    let refused = "Your proposed edit has introduced new syntax error(s). Please retry.\n\nERRORS:\n- E999 SyntaxError: unmatched ')'\n";
    let edit = "The end is cut.\n\n```\nedit 3:4\n    return text[:end])\nend_of_edit\n```";
    let traced = "Traceback (most recent call last):\n  File \"try.py\", line 1\nIndexError: string index out of range";
    let steps = [
        act(
            "I look for it.\n```\nfind_file \"end.py\"\n```",
            "Found 1 matches for \"end.py\" in /repo:\n/repo/src/end.py",
        ),
        act(
            "I open it.\n```\nopen src/end.py 12\n```",
            "[File: /repo/src/end.py (40 lines total)]\n1:def end():",
        ),
        act("I try it.\n```bash\npython try.py\n```", traced),
        act(edit, refused),
        act(edit, "[File: /repo/src/end.py (40 lines total)]\n3:    return text[:end]"),
        act("Further down.\n```\nscroll_down\n```", "[File: /repo/src/end.py (40 lines total)]\n30:pass"),
        act("Again.\n<command>\npython try.py\n</command>", "Result: True"),
    ];
    let messages = std::iter::once(user("Fix the end of src/end.py.")).chain(steps.into_iter().flatten());
    let text = summary(messages, &each(As::Markdown), 4_000);
    assert!(part(&text, "Changed").contains("changed `/repo/src/end.py`"), "{text}");
    let commands = part(&text, "Commands");
    assert!(commands.contains("`python try.py` ×2 → \"Result: True\""), "{commands}");
    assert!(commands.contains("\"Found 1 matches for 'end.py' in /repo\""), "{commands}");
    assert!(!commands.contains("scroll_down"), "{commands}");
    let errors = part(&text, "Errors");
    assert!(errors.contains("IndexError: string index out of range\" → ok later #107 #115"), "{errors}");
    // An edit that was made later says nothing about the work.
    assert!(!errors.contains("E999"), "{errors}");
    assert!(!text.contains("printed:") && !text.contains("<command>"), "{text}");
}

#[test]
fn a_reply_without_a_command_or_with_one_that_was_answered_runs_nothing() {
    let steps = [
        act("It is `python try.py` that fails.", "Please end with a command."),
        act("```\n```", "Please end with a command."),
    ];
    let shown = user("one more line\nbash-$").standing(MessageOrigin::Injected("environment".into()));
    let once = act("```\npython try.py\n```", "Result: True");
    let messages =
        std::iter::once(user("Fix it.")).chain(steps.into_iter().flatten()).chain(once).chain([shown]);
    let commands = part(&summary(messages, &each(As::Markdown), 4_000), "Commands").to_owned();
    assert_eq!(commands.matches("→").count(), 1, "{commands}");
}

#[test]
fn an_edit_that_names_no_file_is_of_the_one_its_result_shows() {
    let steps = [
        call("1", "edit", "search=end)", r#"{"search": "end)", "replace": "end"}"#),
        result("1", "Text replaced.\r\n[File: /repo/src/end.py (40 lines total)]\r\n3: return end", false),
    ];
    let messages = std::iter::once(user("Fix the end of src/end.py.")).chain(steps);
    let text = summary(messages, &each(As::Markdown), 4_000);
    assert!(part(&text, "Changed").contains("changed `/repo/src/end.py`"), "{text}");
}

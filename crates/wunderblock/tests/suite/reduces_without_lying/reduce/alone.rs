//! Results that reductions leave unchanged.

use crate::reduces_without_lying::reduce::scene::*;
use wunderblock_core::event::{ContentPinned, Fact};
use wunderblock_core::message::{Message, Part, Role};

/// Returns the texts of the tool results in a request.
fn shown(policy: &str, tell: impl FnOnce(&Scene)) -> Vec<String> {
    let scene = Scene::new();
    scene.user("Look into it.");
    tell(&scene);
    let shown = results(&scene.build(&under(&crate::reduces_without_lying::reduce::scene::policy(policy))));
    assert_eq!(scene.replay_all(), 1);
    shown
}

const FOLD: &str = "[reduce]\nlevel = \"fold\"\n";

/// A name, the policy, the call, its output, whether it failed, and whether it is expected to become shorter.
type Case<'c> = (&'c str, &'c str, (&'c str, &'c str), &'c str, bool, bool);

#[test]
fn what_is_left_alone_is_shown_as_it_is() {
    let (long, short) = (output(0, 120), output(0, 30));
    let bash = ("Bash", "make check");
    let table: [Case<'_>; 14] = [
        ("a long one", FOLD, bash, &long, false, true),
        ("a short one", FOLD, bash, &short, false, false),
        (
            "a short one that is long enough",
            "[reduce]\nlevel = \"fold\"\nleast = 600\n",
            bash,
            &short,
            false,
            true,
        ),
        ("a short failure", FOLD, bash, &long, true, false),
        ("a file", FOLD, ("Read", "src/lib.rs"), &long, false, false),
        ("a file by a server's tool", FOLD, ("mcp__fs__read_file", "src/lib.rs"), &long, false, false),
        ("a file by a command", FOLD, ("Bash", "cd src && cat lib.rs"), &long, false, false),
        ("a record", FOLD, ("Read", "/var/log/app.log"), &long, false, true),
        ("a search", FOLD, ("Grep", "served src"), &long, false, true),
        (
            "a kind that is switched off",
            "[reduce]\nlevel = \"fold\"\nexcept = [\"log\", \"prose\"]\n",
            bash,
            &long,
            false,
            false,
        ),
        ("a policy that is off", "[reduce]\nlevel = \"off\"\n", bash, &long, false, false),
        ("a policy that says nothing", "", bash, &long, false, false),
        ("a preset that is off", "extends = \"claude-code\"\n", bash, &long, false, false),
        ("the preset of a system that reduces", "extends = \"headroom\"\n", bash, &long, false, true),
    ];
    for (what, policy, call, text, failed, shorter) in table {
        let shown = shown(policy, |scene| {
            scene.ran(call, text, failed);
        });
        assert_eq!(shown[0].len() < text.len(), shorter, "{what}");
        assert_eq!(shown[0] == text, !shorter, "{what}");
    }
    let failure = output(0, 400);
    let shown = shown(FOLD, |scene| {
        scene.ran(bash, &failure, true);
    });
    assert!(shown[0].len() < failure.len(), "a long failure");
}

#[test]
fn a_poll_is_read_as_the_output_of_the_command_that_began_the_process() {
    for (command, process, shorter) in
        [("make check", "7", true), ("cat notes.txt", "7", false), ("cat notes.txt", "8", true)]
    {
        let scene = Scene::real();
        scene.user("Look into it.");
        scene.ran(("exec_command", command), "Process running with session ID 7\nOutput:\n", false);
        scene.ran(("write_stdin", &format!("session_id={process}")), &output(0, 120), false);
        let shown = results(&scene.build(&under(&crate::reduces_without_lying::reduce::scene::policy(FOLD))));
        assert_eq!(shown[1].len() < output(0, 120).len(), shorter, "{command}, process {process}");
    }
}

#[test]
fn what_is_pinned_stays_as_it_is() {
    let shown = shown(FOLD, |scene| {
        let target = scene.ran(("Bash", "make"), &output(0, 120), false);
        scene.add(vec![Fact::ContentPinned(ContentPinned { target, pinned: true })]);
    });
    assert_eq!(shown, [output(0, 120)]);
}

#[test]
fn the_users_own_words_and_results_of_several_texts_stay() {
    let text = output(0, 120);
    let shown = shown(FOLD, |scene| {
        scene.user(&text);
        scene.say(Role::Assistant, vec![call("c", "Bash", "make")]);
        let content = vec![Part::text(text.as_str()), Part::text("and more")];
        scene.say(
            Role::Tool,
            vec![Part::ToolResult { call: "c".into(), content, failed: false, extra: None }],
        );
        let message = Message::text(Role::User, text.as_str());
        assert!(message.is_user_turn());
    });
    assert!(shown[0].starts_with(&text), "{shown:?}");
}

#[test]
fn what_was_reduced_here_is_not_reduced_again() {
    let scene = Scene::new();
    scene.user("Run it.");
    scene.ran(("Bash", "make"), &output(0, 400), false);
    scene.build(&under(&fold()));
    let (_, _, text) = scene.standing().remove(0);
    // A tool prints the text that the agent was shown before.
    scene.ran(("Bash", "history"), &text, false);
    let shown = results(&scene.build(&under(&fold())));
    assert_eq!(shown[1], text, "a reduction on record");
    // With more text, the output counts as new, whatever handles its marks contain.
    let padded = format!("{text}{}", output(1, 200));
    scene.ran(("Bash", "history"), &padded, false);
    let shown = results(&scene.build(&under(&fold())));
    assert!(shown[2].len() < padded.len());
}

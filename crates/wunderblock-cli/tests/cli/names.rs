//! Tests of arguments that name a session: an id, the start of an id, a branch, a path.

use crate::desk::Desk;
use crate::fixture::SESSION;

fn say(desk: &Desk, session: &str, text: &str) {
    let line = format!("{{\"id\":\"{session}\",\"role\":\"user\",\"content\":\"{text}\"}}\n");
    desk.feed(&["append", session], &line).exits(0);
}

#[test]
fn an_ambiguous_beginning_says_how_many_sessions_it_fits() {
    let desk = Desk::new();
    for number in 0..3 {
        say(&desk, &format!("few-{number}"), "x");
    }
    let done = desk.run(&["show", "few-", "--json"]).exits(2).json();
    assert_eq!(done["error"], "`few-` matches 3 sessions: few-2, few-1, few-0");
    let talk = |number: u32| {
        format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":\"{number}\"}},{{\"role\":\"assistant\",\"content\":\"yes\"}}]}}\n"
        )
    };
    desk.write("many.jsonl", (0..40).map(talk).collect::<String>());
    desk.run(&["import", "many.jsonl", "--no-index", "-q"]).exits(0);
    let done = desk.run(&["show", "many-", "--json"]).exits(2).json();
    let text = done["error"].as_str().unwrap();
    assert!(text.starts_with("`many-` matches 40 sessions: many-"), "{text}");
    assert!(text.ends_with(" and 37 more"), "{text}");
    assert_eq!(text.matches("many-").count(), 4, "{text}");
}

#[test]
fn a_branch_is_named_by_a_beginning_of_the_id() {
    let desk = Desk::with_session();
    let events = |name: &str| desk.run(&["export", name]).exits(0).out;
    let short = &SESSION[..4];
    for number in 1..=2 {
        assert_eq!(events(&format!("{short}~{number}")), events(&format!("{SESSION}~{number}")));
    }
    assert_ne!(events(&format!("{short}~1")), events(&format!("{short}~2")));
    assert_eq!(events(short), events(&format!("{short}~2")), "the newest");
    let none = desk.run(&["export", &format!("{short}~3"), "--json"]).exits(2).json();
    assert_eq!(none["error"], format!("there is no session `{short}~3`"));
    assert_eq!(
        desk.run(&["export", "nope~1", "--json"]).exits(2).json()["error"],
        "there is no session `nope~1`"
    );
}

#[test]
fn a_file_does_not_take_the_place_of_a_session() {
    let desk = Desk::new();
    say(&desk, "notes", "what the session says");
    desk.write("notes", "{\"role\":\"user\",\"content\":\"what the file says\"}\n{\"role\":\"assistant\",\"content\":\"yes\"}\n");
    for args in [["show", "notes"], ["export", "notes"], ["context", "notes"], ["explain", "notes"]] {
        let done = desk.run(&args).exits(0);
        assert!(
            done.err.contains("`notes` is the session notes; for the file of that name write ./notes"),
            "{}",
            done.err
        );
        assert!(!done.out.contains("what the file says"), "{}", done.out);
    }
    assert_eq!(desk.run(&["show", "notes", "-q"]).exits(0).err, "");
    // An explicit path always names the file, which is imported as a separate session.
    assert!(desk.run(&["show", "./notes"]).exits(0).out.contains("what the file says"));
    assert!(desk.run(&["show", "note"]).exits(2).err.contains("matches 2 sessions"));
    assert!(desk.run(&["show", "session.jsonl"]).exits(0).out.contains("Only remove the brace"));
}

#[test]
fn pipes_and_devices_are_refused_at_once() {
    let desk = Desk::new();
    desk.shell("mkfifo pipe.jsonl").exits(0);
    for name in ["pipe.jsonl", "./pipe.jsonl", "/dev/zero", "/dev/null"] {
        for command in ["import", "show", "context", "explain", "export", "replay"] {
            let done = desk.run(&[command, name, "--json"]).exits(2).json();
            let text = done["error"].as_str().unwrap();
            assert!(
                text.contains(name) && text.contains("not a file, but a pipe, a socket or a device"),
                "{command}: {text}"
            );
        }
    }
    let done = desk.shell("cat session.jsonl | $WB import /dev/stdin").exits(2);
    assert!(done.err.contains("/dev/stdin: not a file, but a pipe"), "{}", done.err);
}

#[test]
fn links_in_a_folder_are_named() {
    let desk = Desk::new();
    desk.shell("mkdir -p all/sub && cp session.jsonl all/sub/one.jsonl && ln -s ../session.jsonl all/two.jsonl && ln -s . all/round && ln -s ../session.jsonl all/readme && ln -s gone all/gone.json")
        .exits(0);
    let done = desk.run(&["import", "all"]).exits(0);
    assert!(done.out.contains("3 links skipped"), "{}", done.out);
    let done = desk.run(&["import", "all", "-v"]).exits(0);
    for (name, told) in [("two.jsonl", true), ("round", true), ("gone.json", true), ("readme", false)] {
        let line = format!("skipped: all/{name}: a symbolic link; give it by name to import it");
        assert_eq!(done.err.contains(&line), told, "{name}: {}", done.err);
    }
    assert!(!done.out.contains("two.jsonl"), "{}", done.out);
    desk.run(&["import", "all/two.jsonl"]).exits(0);
}

#[test]
fn a_folder_of_which_a_file_fails_ends_with_the_list() {
    let desk = Desk::new();
    desk.write("all/a.jsonl", crate::fixture::transcript());
    desk.write("all/logo.json", b"\x89PNG\r\n\x1a\n\0\0");
    desk.run(&["import", "all"]).exits(0);
    desk.write(
        "all/secret.jsonl",
        "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"y\"}\n",
    );
    desk.write(
        "all/z.jsonl",
        "{\"role\":\"user\",\"content\":\"z\"}\n{\"role\":\"assistant\",\"content\":\"y\"}\n",
    );
    if desk.shell("chmod 000 all/secret.jsonl; cat all/secret.jsonl").code == 0 {
        // The superuser can read every file, so a document that is too large causes the failure instead.
        desk.shell("rm -f all/secret.jsonl; (printf '[\\n'; head -c 70000000 /dev/zero | tr '\\0' ' ') > all/secret.json").exits(0);
    }
    let done = desk.run(&["import", "all", "--no-index", "-v"]).exits(1);
    let end: Vec<&str> = done.err.lines().rev().take(2).collect();
    assert_eq!(end[1], "1 file could not be imported:", "{}", done.err);
    assert!(end[0].starts_with("error: ") && end[0].contains("secret.json"), "{}", done.err);
    assert!(done.err.contains("skipped: ") && done.err.contains("logo.json"), "{}", done.err);
    assert!(done.out.contains("z.jsonl"), "the rest goes on: {}", done.out);
}

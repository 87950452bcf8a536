//! Tests of `run`: the command is unchanged, and its output is stored and, unless a person watches, shortened.

use crate::desk::Desk;
use crate::reduce::{first_gap, log};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Stdio};
use std::time::Duration;

#[test]
fn a_command_keeps_its_exit_code_and_its_streams() {
    let desk = Desk::new();
    desk.write("books.log", log());
    let done = desk.run(&["run", "--", "sh", "-c", "cat books.log; echo trouble >&2; exit 3"]).exits(3);
    assert!(done.out.contains("⟨… wb:"), "{}", done.out);
    let (handle, _) = first_gap(&done.out);
    let (trouble, summary) = done.err.split_once('\n').unwrap();
    assert_eq!(trouble, "trouble");
    assert!(
        summary.contains(" → ") && summary.trim_end().ends_with(&format!("tokens · {handle}")),
        "{summary}"
    );
    assert_eq!(desk.run(&["-q", "run", "--", "cat", "books.log"]).exits(0).err, "");
    assert_eq!(desk.run_bytes(&["read", &handle]).stdout, log().into_bytes());
    // A short output of a failed command is shown whole.
    let few: String = log().lines().take(60).map(|line| format!("{line}\n")).collect();
    desk.write("few.log", &few);
    assert_eq!(desk.run(&["run", "--", "sh", "-c", "cat few.log; exit 1"]).exits(1).out, few);
    assert_ne!(desk.run(&["run", "--", "cat", "few.log"]).exits(0).out, few);
    let told = desk.run(&["run", "--json", "--", "cat", "few.log"]).exits(0).json();
    assert_eq!(told["exit_code"].as_u64(), Some(0));
    assert!(told["output"]["handle"].is_string(), "{told}");
    // Agents send the output of commands to files as well as to pipes.
    desk.shell("$WB run -- sh -c 'cat books.log; echo trouble >&2' > copy.log 2>&1").exits(0);
    let copy = String::from_utf8(desk.bytes("copy.log")).unwrap();
    assert!(copy.len() * 4 < log().len() && copy.contains("trouble"), "{copy}");
    // Two streams into one pipe keep the order in which they were written.
    let both = desk.shell("$WB run -- sh -c 'echo one; echo two >&2; echo three' 2>&1 | cat").exits(0);
    assert_eq!(both.out, "one\ntwo\nthree\n");
    let gone = desk.run(&["run", "--", "no-such-program"]).exits(127);
    assert!(gone.err.contains("check the name and PATH"), "{}", gone.err);
    desk.shell("$WB run -- sh -c 'kill -9 $$' | cat; $WB run -- sh -c 'kill -9 $$'; test $? = 137").exits(0);
}

/// Sends a signal to a process, or to the group that it leads.
fn signal(of: &str, name: &str) {
    let sent = std::process::Command::new("sh").args(["-c", &format!("kill -s {name} -- {of}")]).status();
    assert!(sent.expect("sh runs").success());
}

/// Runs a script under `run` in a separate group, and signals `run` or the group once the script has started.
fn signalled(script: &str, name: &str, group: bool) -> (Option<i32>, String) {
    let desk = Desk::new();
    desk.write("script", script);
    let mut command = desk.command(&["run", "--", "sh", "script"]);
    command.process_group(0).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    while !desk.path("begun").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    signal(&format!("{}{}", if group { "-" } else { "" }, child.id()), name);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let status = child.wait().unwrap();
    // A negative number means that a signal ended the command, as opposed to the exit code that shells use for this
    // case.
    (status.code().or_else(|| Some(-status.signal()?)), out)
}

#[test]
fn what_a_command_wrote_before_a_signal_is_shown() {
    let sleeps = "echo one; echo two; touch begun; sleep 20; echo late";
    assert_eq!(signalled(sleeps, "INT", true), (Some(130), "one\ntwo\n".to_owned()));
    assert_eq!(signalled(sleeps, "TERM", true), (Some(143), "one\ntwo\n".to_owned()));
    // A signal that reached `run` alone is passed on.
    let replaced = "echo one; echo two; touch begun; exec sleep 20";
    assert_eq!(signalled(replaced, "TERM", false), (Some(143), "one\ntwo\n".to_owned()));
    assert_eq!(signalled(replaced, "HUP", false), (Some(129), "one\ntwo\n".to_owned()));
    assert_eq!(signalled(replaced, "INT", false), (Some(130), "one\ntwo\n".to_owned()));
    assert_eq!(signalled(replaced, "QUIT", false), (Some(131), "one\ntwo\n".to_owned()));
    let told = "trap 'echo told; kill $!' USR1; echo one; sleep 20 & touch begun; wait; exit 0";
    assert_eq!(signalled(told, "USR1", false), (Some(0), "one\ntold\n".to_owned()));
    // A command that handles the signal ends with its own exit code.
    let goes_on = "trap 'echo caught; exit 7' INT; echo one; touch begun; sleep 20 & wait; echo late";
    assert_eq!(signalled(goes_on, "INT", true), (Some(7), "one\ncaught\n".to_owned()));
}

#[test]
fn what_a_command_leaves_running_is_not_waited_for() {
    let desk = Desk::new();
    let done = desk.run(&["run", "--", "sh", "-c", "sleep 60 & echo $! > pid; echo done"]).exits(0);
    assert_eq!(done.out, "done\n");
    assert!(done.err.contains("left a process running"), "{}", done.err);
    // The process is still running.
    desk.shell("kill $(cat pid)").exits(0);
    // Output that arrives shortly after the command's end is included.
    let late = desk.run(&["run", "--", "sh", "-c", "(sleep 1; echo late) & echo done"]).exits(0);
    assert_eq!((late.out.as_str(), late.err.as_str()), ("done\nlate\n", ""));
}

/// Starts a script under `run`, and waits until the script has created the file `begun`.
fn at_work(desk: &Desk, options: &[&str], script: &str) -> Child {
    desk.write("script", script);
    let args: Vec<&str> =
        std::iter::once("run").chain(options.iter().copied()).chain(["--", "sh", "script"]).collect();
    let mut command = desk.command(&args);
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    while !desk.path("begun").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn what_a_command_wrote_is_readable_after_a_kill_of_run() {
    let desk = Desk::new();
    let script = "cat books.log; echo 'the last word'; sleep 0.2; touch begun; sleep 20";
    desk.write("books.log", log());
    let mut child = at_work(&desk, &["--session", "night"], script);
    child.kill().unwrap();
    child.wait().unwrap();
    let found = desk.run(&["grep", "the last word", "--json"]).exits(0).lines();
    let handle = found[0]["handle"].as_str().expect("a handle").to_owned();
    assert_eq!(found[0]["session"], "night-outputs");
    let whole = format!("{}the last word\n", log());
    assert_eq!(desk.run_bytes(&["read", &handle]).stdout, whole.as_bytes());
    // The output is stored once, and no spool file is left beside the ledger.
    assert_eq!(desk.run(&["grep", "the last word", "--json"]).exits(0).lines().len(), 1);
    assert!(!desk.path("ledger.db.run").exists());
    desk.run(&["doctor"]).exits(0);
}

#[test]
fn a_slow_command_shows_its_first_lines_and_that_it_lives() {
    let desk = Desk::new();
    desk.write("books.log", log());
    let script =
        "head -3 books.log; touch begun; while ! test -e on; do sleep 0.05; done; tail -n +4 books.log";
    let mut child = at_work(&desk, &["--heartbeat", "1"], script);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    assert_eq!(Some(first.trim_end()), log().lines().next(), "before the command's end");
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut beat = String::new();
    err.read_line(&mut beat).unwrap();
    assert!(beat.contains("still running after 1 s"), "{beat}");
    desk.write("on", "");
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    let shown = first + &rest;
    assert!(log().starts_with(&shown[..shown.lines().take(3).map(|line| line.len() + 1).sum::<usize>()]));
    // Line numbers in marks count from the start of the whole output, including the first lines.
    let (handle, lines) = first_gap(&shown);
    let from: usize = lines.split('-').next().unwrap().parse().unwrap();
    let read = desk.run(&["read", &handle, "--lines", &lines]).exits(0).out;
    assert_eq!(read.lines().next(), log().lines().nth(from - 1));
    assert!(!shown.contains(read.lines().next().unwrap()), "{shown}");
    assert_eq!(desk.run_bytes(&["read", &handle]).stdout, log().into_bytes());
}

#[test]
fn a_reader_that_closes_ends_the_command() {
    let desk = Desk::new();
    let endless = "$WB run -- sh -c 'while :; do echo x; sleep 0.05; done'";
    let done = desk.shell(&format!("{{ {endless}; echo $? > code; }} | head -1; cat code")).exits(0);
    assert_eq!(done.out, "x\n141\n");
}

/// On a terminal, the output passes through unchanged, including colours, and all of it is stored.
#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_everything_passes_through_and_is_kept() {
    let desk = Desk::new();
    desk.write("books.log", log());
    let inner = "test -t 1 && test -t 2 && printf 'seen \\033[31mred\\033[0m\\n'; cat books.log; exit 6";
    desk.write("script", inner);
    // At the end of its input, `script` sends the terminal a byte whose echo may come first, so the input of `script`
    // stays open.
    let held = "until test -s over; do sleep 0.05; done";
    let done = desk
        .shell(&format!("{{ {held}; }} | {{ script -qec '$WB run -- sh script' /dev/null; code=$?; echo over > over; exit $code; }}"))
        .exits(6);
    let lines: Vec<&str> = done.out.lines().map(|line| line.trim_end_matches('\r')).collect();
    assert_eq!(lines[0], "seen \u{1b}[31mred\u{1b}[0m");
    assert_eq!(lines[1..401], log().lines().collect::<Vec<_>>());
    let handle = lines[401].rsplit_once("bytes · ").expect("where it is kept").1;
    let whole = format!("seen \u{1b}[31mred\u{1b}[0m\n{}", log());
    assert_eq!(desk.run_bytes(&["read", handle]).stdout, whole.as_bytes());
}

/// Keys reach the command: a pager opens the terminal of stderr by name, a question reads stdin, and a key that
/// causes a signal reaches the command once.
#[test]
#[cfg(target_os = "linux")]
fn on_a_terminal_keys_reach_the_command() {
    let desk = Desk::new();
    desk.write(
        "script",
        "trap 'echo caught' INT; echo 1 > begun
         read word; read key < $(readlink /proc/self/fd/2); tty < /dev/tty > /dev/null && echo $word $key
         echo 2 > begun; sleep 30 & wait $!; exit 5",
    );
    let typed = "until test -s begun; do sleep 0.05; done; printf 'first\\nsecond\\n'
                 until grep -q 2 begun; do sleep 0.05; done; printf '\\003'; until grep -q over begun; do sleep 0.05; done";
    let done = desk
        .shell(&format!("{{ {typed}; }} | {{ script -qec '$WB run -- sh script' /dev/null; code=$?; echo over > begun; exit $code; }}"))
        .exits(5);
    let lines: Vec<&str> = done.out.lines().map(|line| line.trim_end_matches('\r')).collect();
    assert!(lines.contains(&"first second"), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.ends_with("caught")).count(), 1, "{lines:?}");
}

/// A command whose reader has seen enough ends at its next write, as without `run`.
#[test]
fn a_reader_of_one_line_ends_an_endless_command() {
    let desk = Desk::new();
    assert_eq!(desk.shell("$WB run -- yes | head -1").exits(0).out, "y\n");
    let ticks = "i=0; while test $i -lt 900; do echo tick; sleep .1; i=$((i+1)); done; touch ended";
    for first in ["first\\n", "\\033[31mfirst\\033[0m\\n"] {
        desk.write("script", format!("printf '{first}'; {ticks}"));
        assert_eq!(desk.shell("$WB run -- sh script | head -1").exits(0).out, "first\n");
    }
    // The reader is gone before there is anything to read.
    desk.write("script", ticks);
    desk.shell("$WB run --level budget --tokens 500 -- sh script | true").exits(0);
    assert!(!desk.path("ended").exists());
}

#[test]
fn a_locked_ledger_does_not_hold_up_the_output() {
    let desk = Desk::with_session();
    let holder = desk.sql();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let done = desk.run(&["run", "--", "sh", "-c", "echo shown at once; exit 3"]).exits(3);
    assert_eq!(done.out, "shown at once\n");
    assert!(done.err.contains("kept by the next command"), "{}", done.err);
    holder.execute_batch("ROLLBACK").unwrap();
    drop(holder);
    let found = desk.run(&["grep", "shown at once"]).exits(0);
    assert!(found.out.contains("shown at once"), "{}", found.out);
}

/// The settings may name another ledger or tenant, so that an erasure would not find what the defaults keep.
#[test]
fn broken_settings_do_not_stop_a_command_and_nothing_is_kept() {
    let desk = Desk::new();
    let settings = "db = \"other.db\"\ntenant = \"work\"\n";
    for broken in ["db = ", "unknown_key = 1", "models = \"missing.toml\"", "tenant = \"\""] {
        desk.write("broken.toml", format!("{settings}{broken}"));
        for options in [&["--config", "broken.toml"][..], &["--config", "broken.toml", "-q"]] {
            let line = ["run", "--", "sh", "-c", "echo hello; exit 4"];
            let done = desk.run(&[options, &line].concat()).exits(4);
            assert_eq!(done.out, "hello\n", "{broken}");
            let is_told = done.err.contains("the output is not kept, and shown in full: the settings cannot");
            assert_eq!(is_told, !options.contains(&"-q"), "{broken}: {}", done.err);
        }
        desk.run(&["grep", "hello"]).exits(1);
    }
    // A kill leaves nothing for a later command either.
    let options = ["--config", "broken.toml"];
    let mut child = at_work(&desk, &options, "echo hello; echo $$ >pid; touch begun; exec sleep 60");
    child.kill().unwrap();
    child.wait().unwrap();
    desk.shell("kill $(cat pid)").exits(0);
    assert!(!desk.path("ledger.db.run").exists());
    desk.run(&["grep", "hello"]).exits(1);
    // A command line that names both is enough.
    let named = ["--config", "broken.toml", "--tenant", "local", "run", "--", "echo", "hello"];
    let done = desk.run(&named).exits(0);
    assert!(done.err.contains("the defaults are used"), "{}", done.err);
    desk.run(&["grep", "hello"]).exits(0);
    desk.run(&["--config", "broken.toml", "sessions"]).exits(2);
}

/// An output that is too long for a message is found with a place that `read` accepts.
#[test]
fn a_line_of_a_large_output_is_found_and_read() {
    let desk = Desk::new();
    let line = "WARN  the kestrel has left";
    desk.write("books.log", format!("{}{line}\n{}", log().repeat((9 << 20) / log().len()), log()));
    desk.run(&["run", "--session", "night", "--", "cat", "books.log"]).exits(0);
    // The shortened form, which is a text of its own, has the line as well.
    let found = desk.run(&["grep", "kestrel", "--json"]).exits(0).lines();
    let found: Vec<_> = found.iter().filter(|one| one["place"].is_string()).collect();
    let place = found[0]["place"].as_str().unwrap();
    assert_eq!((found.len(), found[0]["text"].as_str(), found[0]["seq"].as_u64()), (1, Some(line), Some(3)));
    assert_eq!(desk.run(&["read", place]).exits(0).out, line);
    let plain = desk.run(&["grep", "kestrel"]).exits(0).out;
    let (place, text) = plain.lines().find(|line| line.starts_with("wb:")).unwrap().split_once(' ').unwrap();
    assert_eq!((desk.run(&["read", place]).exits(0).out.as_str(), text), (line, line));
    let hit = desk.run(&["search", "kestrel", "--json"]).exits(0).json();
    assert_eq!(hit["place"], found[0]["place"]);
    assert!(desk.run(&["search", "kestrel"]).exits(0).out.contains(place));
    // Bytes that cannot be read are an error, not an empty answer.
    desk.sql().execute("DELETE FROM source_chunks WHERE start > 0", []).unwrap();
    for command in ["grep", "search"] {
        let failed = desk.run(&[command, "kestrel"]).exits(1);
        assert!(failed.err.contains("are missing"), "{}", failed.err);
    }
}

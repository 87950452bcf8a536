//! Tests of `reduce`: gaps in the shown text have marks, and every byte can be read back.

use crate::desk::Desk;
use std::fmt::Write as _;

/// A service's log: two kinds of lines that repeat, and one line that occurs once.
pub(crate) fn log() -> String {
    let mut log = String::new();
    for n in 0..400 {
        let (minute, second) = (n / 60, n % 60);
        let _ = match n {
            217 => writeln!(
                log,
                "2031-05-04 07:{minute:02}:{second:02} ERROR books.disk volume /srv/books is full"
            ),
            n if n % 9 == 4 => {
                writeln!(
                    log,
                    "2031-05-04 07:{minute:02}:{second:02} WARN books.loan reader {n} is late by {} days",
                    n % 7
                )
            }
            n => writeln!(
                log,
                "2031-05-04 07:{minute:02}:{second:02} INFO books.loan reader {n} took book {}",
                n * 3
            ),
        };
    }
    log
}

/// Returns the handle of the first gap, and the range of its lines.
pub(crate) fn first_gap(text: &str) -> (String, String) {
    let mark = text.lines().find(|line| line.starts_with("⟨… wb:")).expect("a gap");
    let handle = mark["⟨… ".len()..].split('#').next().expect("a handle").to_owned();
    let lines = mark.split("#L").nth(1).and_then(|rest| rest.split(':').next()).expect("lines").to_owned();
    (handle, lines)
}

#[test]
fn what_is_left_out_is_marked_and_read_again() {
    let desk = Desk::new();
    desk.write("books.log", log());
    let short = desk.run(&["reduce", "books.log"]).exits(0).out;
    assert!(short.len() * 4 < log().len(), "{short}");
    assert!(short.contains("ERROR books.disk volume /srv/books is full"), "{short}");
    let (handle, lines) = first_gap(&short);
    assert_eq!(desk.run_bytes(&["read", &handle]).stdout, log().into_bytes());
    let (from, to) = lines.split_once('-').unwrap();
    let gone: Vec<String> = log()
        .lines()
        .skip(from.parse::<usize>().unwrap() - 1)
        .take(to.parse::<usize>().unwrap() + 1 - from.parse::<usize>().unwrap())
        .map(str::to_owned)
        .collect();
    let read = desk.run(&["read", &handle, "--lines", &lines]).exits(0).out;
    assert_eq!(read.lines().collect::<Vec<_>>(), gone);
    let found = desk.run(&["read", &handle, "--grep", "is full"]).exits(0).out;
    assert_eq!(found, "218:2031-05-04 07:03:37 ERROR books.disk volume /srv/books is full\n");
    desk.run(&["read", &handle, "--grep", "is f[aeiou]ll", "--regex"]).exits(0);
    desk.run(&["read", &handle, "--grep", "nowhere"]).exits(1);
    desk.run(&["doctor"]).exits(0);
}

#[test]
fn the_report_has_what_was_promised() {
    let desk = Desk::new();
    let told = desk.feed(&["reduce", "--json"], &log()).exits(0).json();
    for field in ["text", "handle", "kind", "level", "tokens_before", "tokens_after", "lossless", "gaps"] {
        assert!(told.get(field).is_some(), "{field}: {told}");
    }
    assert_eq!((told["kind"].as_str(), told["level"].as_str()), (Some("log"), Some("fold")));
    assert!(told["tokens_after"].as_u64() < told["tokens_before"].as_u64());
    let gap = &told["gaps"][0];
    for field in ["measure", "first", "last", "count", "from_byte", "to_byte", "told"] {
        assert!(gap.get(field).is_some(), "{field}: {gap}");
    }
    let exact = desk.feed(&["reduce", "--json", "--level", "lossless"], &log()).exits(0).json();
    assert_eq!((exact["lossless"].as_bool(), exact["gaps"].as_array().map(Vec::len)), (Some(true), Some(0)));
    let small =
        desk.feed(&["reduce", "--json", "--level", "budget", "--budget", "400"], &log()).exits(0).json();
    assert!(small["tokens_after"].as_u64() <= Some(400), "{small}");
}

#[test]
fn what_is_small_selected_or_reduced_already_stays() {
    let desk = Desk::new();
    assert_eq!(desk.feed(&["reduce"], "one line\n").exits(0).out, "one line\n");
    let picked =
        desk.feed(&["reduce", "--json", "--command", "sed -n 1,400p books.log"], &log()).exits(0).json();
    assert_eq!((picked["level"].as_str(), picked["lossless"].as_bool()), (Some("lossless"), Some(true)));
    let once = desk.feed(&["reduce"], &log()).exits(0).out;
    assert_eq!(desk.feed(&["reduce"], &once).exits(0).out, once);
    // A mark whose handle this ledger does not know is ordinary text.
    let forged = format!("⟨… wb:00000000#L1-9: 9 lines⟩\n{}", log());
    let short = desk.feed(&["reduce"], &forged).exits(0).out;
    assert!(short.starts_with("⟨⟨… wb:00000000#L1-9"), "{short}");
}

#[test]
fn binary_data_is_restored_byte_for_byte() {
    let desk = Desk::new();
    let bytes: Vec<u8> = (0..6_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    desk.write("noise.bin", &bytes);
    let told = desk.run(&["reduce", "noise.bin", "--json"]).exits(0).json();
    assert_eq!(told["lossless"].as_bool(), Some(false));
    let handle = told["handle"].as_str().expect("a handle").to_owned();
    assert_eq!(desk.run_bytes(&["read", &handle]).stdout, bytes);
    desk.run(&["reduce", "noise.bin"]).exits(0);
    desk.run(&["doctor"]).exits(0);
}

#[test]
fn a_ledger_that_cannot_be_written_costs_no_output() {
    let desk = Desk::new();
    desk.write("books.log", log());
    desk.write("file", "not a folder");
    let done = desk.run(&["--db", "file/ledger.db", "run", "--", "cat", "books.log"]).exits(0);
    assert_eq!(done.out, log());
    assert!(done.err.contains("not kept"), "{}", done.err);
}

#[test]
fn what_is_asked_wrongly_is_said() {
    let desk = Desk::new();
    let wrong = desk.run(&["reduce", "--level", "budget", "x"]).exits(2);
    assert!(wrong.err.contains("--budget TOKENS"), "{}", wrong.err);
    desk.run(&["reduce", "--budget", "5", "x"]).exits(2);
    desk.run(&["reduce", "--kind", "poem", "x"]).exits(2);
    let missing = desk.run(&["reduce", "no-such-file"]).exits(2);
    assert!(missing.err.contains("cannot be read"), "{}", missing.err);
    desk.run(&["run"]).exits(2);
}

#[test]
fn a_disk_that_is_full_costs_no_output() {
    let desk = Desk::new();
    let noise: String = (0..60_000_u64).fold(log(), |mut text, n| {
        let card = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let _ = writeln!(text, "2031-05-04 08:00:00 INFO books.card read {card:016x}");
        text
    });
    desk.write("noise.log", &noise);
    // The limit is smaller than the ledger, in blocks of 512 or 1,024 bytes.
    let full = "ulimit -f 600; $WB run -- sh -c 'cat noise.log; exit 4'; echo \"code $?\"";
    let done = desk.shell(&format!("({full}) | cat")).exits(0);
    assert!(done.out == format!("{noise}code 4\n"), "{} bytes", done.out.len());
    assert!(done.err.contains("not kept, and shown in full"), "{}", done.err);
    let done = desk.shell("(ulimit -f 600; cat noise.log | $WB reduce; echo \"code $?\") | cat").exits(0);
    assert!(done.out == format!("{noise}code 1\n"), "{} bytes", done.out.len());
    assert!(done.err.contains("not kept, and shown in full"), "{}", done.err);
    desk.run(&["doctor"]).exits(0);
}

#[test]
fn binary_output_is_replaced_by_one_mark() {
    let desk = Desk::new();
    let bytes: Vec<u8> = (0..6_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    desk.write("noise.bin", &bytes);
    let done = desk.run(&["run", "--", "cat", "noise.bin"]).exits(0);
    assert!(
        done.out.starts_with("⟨… wb:") && done.out.contains("#B0-6000: 6000 bytes, no text⟩"),
        "{}",
        done.out
    );
    assert_eq!(done.out.lines().count(), 1);
    let handle = done.out["⟨… ".len()..].split('#').next().unwrap().to_owned();
    assert_eq!(desk.run_bytes(&["read", &handle]).stdout, bytes);
    // A reader that goes away early does not change the exit code.
    let early = "{ $WB run -- sh -c 'seq 100000; exit 5'; echo $? > code; } | head -1; cat code";
    assert_eq!(desk.shell(early).exits(0).out, "1\n5\n");
    // Stdin belongs to the command.
    assert_eq!(desk.feed(&["run", "--", "tr", "a-z", "A-Z"], "loud\n").exits(0).out, "LOUD\n");
}

#[test]
fn several_files_are_shortened_by_one_process() {
    let desk = Desk::new();
    desk.write("books.log", log());
    desk.write("note.txt", "one line\n");
    let alone = desk.run(&["reduce", "books.log"]).exits(0).out;
    let both = desk.run(&["reduce", "books.log", "note.txt"]).exits(0).out;
    assert_eq!(both, format!("==> books.log <==\n{alone}\n==> note.txt <==\none line\n"));
    let reports = desk.run(&["reduce", "--json", "books.log", "note.txt"]).exits(0).lines();
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[1]["text"], "one line\n");
    // The exit code is that of the file with the most serious error; the other files are still shortened.
    let missing = desk.run(&["reduce", "missing.txt", "note.txt"]).exits(2);
    assert_eq!(missing.out, "==> note.txt <==\none line\n");
}

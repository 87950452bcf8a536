//! What tools answer: logs, tests, code, matches, records.

use super::random::{Random, push_hex, push_number};
use super::words::{name, push_path, push_words, word};

/// What a tool's answer looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultKind {
    Log,
    Tests,
    Code,
    Matches,
    Records,
}

/// An answer of at least so many bytes, in whole lines.
pub(super) fn push_result(
    out: &mut String,
    random: &mut Random,
    look: ResultKind,
    bytes: usize,
    millis: u64,
) {
    let end = out.len() + bytes;
    let mut number = random.between(1, 900) as u64;
    if look == ResultKind::Records {
        out.push_str("[\n");
    }
    while out.len() < end {
        number += 1;
        match look {
            ResultKind::Log => push_log_line(out, random, millis + number * 37),
            ResultKind::Tests => push_test_line(out, random),
            ResultKind::Code => push_code_line(out, random, number),
            ResultKind::Matches => push_match_line(out, random),
            ResultKind::Records => push_record(out, random),
        }
    }
    match look {
        ResultKind::Tests => {
            out.push_str("\ntest result: FAILED. ");
            push_number(out, number, 0);
            out.push_str(" passed; 1 failed; 0 ignored\n");
        }
        ResultKind::Records => out.push_str("  {}\n]\n"),
        ResultKind::Log | ResultKind::Code | ResultKind::Matches => {}
    }
}

fn push_log_line(out: &mut String, random: &mut Random, millis: u64) {
    super::time::push_iso(out, millis);
    out.push_str(random.pick(&["  INFO ", "  INFO ", " DEBUG ", "  WARN ", " ERROR "]));
    out.push_str(name(random));
    out.push_str("::");
    out.push_str(name(random));
    out.push_str(": ");
    push_words(out, random, 45);
    out.push_str(" id=");
    push_hex(out, random.next_u64(), 12);
    out.push_str(" took=");
    push_number(out, random.below(5000) as u64, 0);
    out.push_str("ms\n");
}

fn push_test_line(out: &mut String, random: &mut Random) {
    if random.chance(3) {
        out.push_str("\nthread 'main' panicked at ");
        push_path(out, random);
        out.push(':');
        push_number(out, random.between(1, 900) as u64, 0);
        out.push_str(":9:\nassertion `left == right` failed\n  left: ");
        push_number(out, random.below(10_000) as u64, 0);
        out.push_str("\n right: ");
        push_number(out, random.below(10_000) as u64, 0);
        out.push_str("\n\n");
        return;
    }
    out.push_str("test ");
    out.push_str(name(random));
    out.push_str("::tests::");
    for _ in 0..4 {
        out.push_str(word(random));
        out.push('_');
    }
    out.push_str(name(random));
    out.push_str(" ... ok\n");
}

fn push_statement(out: &mut String, random: &mut Random) {
    match random.below(7) {
        0 => out.push('}'),
        1 => {
            out.push_str("// ");
            push_words(out, random, 50);
        }
        2 => {
            out.push_str("pub fn ");
            out.push_str(name(random));
            out.push('(');
            out.push_str(name(random));
            out.push_str(": usize) -> Result<(), Error> {");
        }
        3 => {
            out.push_str("return Err(Error::new(\"");
            push_words(out, random, 30);
            out.push_str("\"));");
        }
        _ => {
            out.push_str("let ");
            out.push_str(name(random));
            out.push_str(" = self.");
            out.push_str(name(random));
            out.push('.');
            out.push_str(word(random));
            out.push('(');
            out.push_str(name(random));
            out.push_str(", ");
            push_number(out, random.below(512) as u64, 0);
            out.push_str(")?;");
        }
    }
}

fn push_code_line(out: &mut String, random: &mut Random, number: u64) {
    // The form in which agents show files to models: the line's number, an arrow, the line.
    let width = 6_usize.saturating_sub(number.max(1).ilog10() as usize + 1);
    out.extend(std::iter::repeat_n(' ', width));
    push_number(out, number, 0);
    out.push('→');
    out.extend(std::iter::repeat_n(' ', random.below(4) * 4));
    push_statement(out, random);
    out.push('\n');
}

fn push_match_line(out: &mut String, random: &mut Random) {
    push_path(out, random);
    out.push(':');
    push_number(out, random.between(1, 2000) as u64, 0);
    out.push_str(":    ");
    push_statement(out, random);
    out.push('\n');
}

fn push_record(out: &mut String, random: &mut Random) {
    out.push_str("  {\n    \"id\": \"");
    push_hex(out, random.next_u64(), 16);
    push_hex(out, random.next_u64(), 16);
    out.push_str("\",\n    \"");
    out.push_str(name(random));
    out.push_str("\": ");
    push_number(out, random.below(1_000_000) as u64, 0);
    out.push_str(",\n    \"");
    out.push_str(name(random));
    out.push_str("\": \"");
    push_words(out, random, 60);
    out.push_str("\",\n    \"ok\": true\n  },\n");
}

//! Equal lines in a row: one of them, and their number: `line ⟨=×47⟩`.

use std::fmt::Write as _;

use super::rewrite::Rewrite;
use super::token_estimate;
use crate::mark::OPEN;
use crate::sink::TextSink;

/// Runs of equal lines as one line and a count, where that is shorter.
pub(super) fn encode(text: &str) -> Option<String> {
    let mut instead = Rewrite::of(text);
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let mut times = 1usize;
        while lines.peek() == Some(&line) {
            lines.next();
            times += 1;
        }
        let end = at + times * line.len();
        if times > 1 && is_worth_it(line, times) {
            instead.replace(at..end, |out| {
                let line = line.strip_suffix('\n').unwrap_or(line);
                let _ = writeln!(out, "{line} ⟨=×{times}⟩");
            });
        }
        at = end;
    }
    instead.finish()
}

/// A count weighs about eight tokens. Blank lines weigh next to nothing: only a long run of them pays.
fn is_worth_it(line: &str, times: usize) -> bool {
    if line == "\n" {
        return times >= 24;
    }
    line.ends_with('\n') && !line.contains(OPEN) && (times - 1) * token_estimate::estimate_tokens(line) > 9
}

/// Repeats the last line of `out` until it is there `times` times.
pub(super) fn decode(times: &str, out: &mut TextSink<'_>) -> Option<()> {
    let more = times.parse::<usize>().ok()?.checked_sub(1).filter(|more| *more > 0)?;
    let from = out.len();
    let start = out.written().rfind('\n').map_or(0, |at| at + 1);
    let more = (from - start + 1).checked_mul(more).filter(|more| *more <= out.remaining())?;
    out.push("\n")?;
    out.repeat(start..from)?;
    // Doubled, not added one by one: a count of millions is as fast as their bytes.
    while out.len() - from < more {
        let there = out.len() - from;
        out.repeat(from..from + there.min(more - there))?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_equal_lines_is_one_line_and_a_count() {
        let line = "waiting for the database to accept connections\n";
        let text = format!("start\n{}end\n", line.repeat(47));
        let packed = encode(&text).unwrap();
        assert_eq!(packed, "start\nwaiting for the database to accept connections ⟨=×47⟩\nend\n");
        assert_eq!(crate::encode::decode(&packed), Some(text));
        assert_eq!(encode("a\na\nb\n"), None);
        assert_eq!(encode(&"\n".repeat(5)), None);
        assert_eq!(encode(&"\n".repeat(50)).as_deref(), Some(" ⟨=×50⟩\n"));
    }
}

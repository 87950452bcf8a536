//! Logs of CI runs, in which the runner writes the time, and `gh run view --log` the job and the step, before each line.
//!
//! The columns take most of a line and hide what the steps printed: the output of a test runner was taken for a log.

use crate::part::PartOfText;

/// Minimum number of lines with a time.
const MIN_LINES: usize = 8;

/// Digits, and the signs between them, of the time that GitHub's and Azure's runners write, to 100 nanoseconds.
const TIME: &[u8] = b"0000-00-00T00:00:00.0000000Z";

/// Returns the text without the columns, and the number of bytes removed; `None` if the text is another one. The names
/// of job and step stay before the first of their lines. `alike` receives each unchanged stretch: its position in the
/// result, its position in `text`, and its length.
pub(crate) fn without_columns(
    text: &str,
    alike: &mut dyn FnMut(usize, usize, usize),
) -> Option<(String, u64)> {
    let is_timed = |line: &&str| columns(line).is_some();
    if text.lines().filter(is_timed).take(MIN_LINES).count() < MIN_LINES {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let (mut step, mut from) = ("", 0);
    for line in text.split_inclusive('\n') {
        let (names, time) = columns(line).unwrap_or_default();
        let named = line.part(..names);
        if names > 0 && named != step {
            step = named;
            alike(out.len(), from, names);
            out.push_str(named);
        }
        let rest = line.part(names + time..);
        alike(out.len(), from + names + time, rest.len());
        out.push_str(rest);
        from += line.len();
    }
    let gone = text.len().saturating_sub(out.len()) as u64;
    Some((out, gone))
}

/// Returns the length of the names before the time of a line, and that of the time with the space after it.
fn columns(line: &str) -> Option<(usize, usize)> {
    let second = || line.match_indices('\t').nth(1).map(|(at, _)| at + 1);
    let starts = [Some(0), second()];
    starts.into_iter().flatten().find_map(|names| Some((names, time(line.get(names..)?)?)))
}

/// Returns the length of the time at the start of a text, with the byte order mark before it and the space after it.
fn time(text: &str) -> Option<usize> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let bytes = bare.as_bytes().get(..TIME.len())?;
    let is_like = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    };
    let after = bare.get(TIME.len()..)?;
    let ends = after.is_empty() || after.starts_with([' ', '\n', '\r']);
    let space = usize::from(after.starts_with(' '));
    (ends && bytes.iter().zip(TIME).all(is_like)).then_some(text.len() - after.len() + space)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(columns: &str) -> String {
        let line = |n: usize| format!("{columns}2026-06-17T10:22:{n:02}.0419067Z line {n}\n");
        (10..20).map(line).collect()
    }

    #[test]
    fn columns_leave_and_the_names_stay_once() {
        let text = format!("ok\n{}{}", log("Lint\tSet up job\t"), log("Lint\tRun Biome\t"));
        let mut places = Vec::new();
        let (shown, gone) =
            without_columns(&text, &mut |at, from, len| places.push((at, from, len))).unwrap();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.get(..3).unwrap(), ["ok", "Lint\tSet up job\tline 10", "line 11"]);
        assert_eq!(lines.get(11), Some(&"Lint\tRun Biome\tline 10"));
        assert_eq!(gone as usize, text.len() - shown.len());
        for (at, from, len) in places {
            assert_eq!(shown.get(at..at + len), text.get(from..from + len));
        }
    }

    #[test]
    fn the_runners_own_log_loses_its_times() {
        let (shown, _) = without_columns(&log("\u{feff}"), &mut |_, _, _| ()).unwrap();
        assert_eq!(shown.lines().next(), Some("line 10"));
    }

    #[test]
    fn other_texts_stay() {
        let other = log("").replace(".0419067Z", "Z");
        for text in
            ["", "a\tb\tc\n", &other, &log("x "), log("").lines().take(3).collect::<String>().as_str()]
        {
            assert_eq!(without_columns(text, &mut |_, _, _| ()), None, "{text}");
        }
    }
}

//! Finds the time at the start of a line, or near the start.

use crate::part::PartOfList;
use crate::text::template::is_date_word;

/// Number of bytes from the start of a line within which a time is searched for.
const TIME_REACH: usize = 80;

/// Returns the position of a time of the form `dd:dd:dd` near the start of a line.
fn find_clock(bytes: &[u8]) -> Option<usize> {
    let head = bytes.get(..TIME_REACH).unwrap_or(bytes);
    memchr::memchr_iter(b':', head).find_map(|at| {
        let digit = |at: Option<usize>| at.and_then(|at| head.get(at)).is_some_and(u8::is_ascii_digit);
        let two = |start: usize| digit(Some(start)) && digit(Some(start + 1)) && !digit(Some(start + 2));
        let hours = digit(at.checked_sub(1)) && digit(at.checked_sub(2)) && !digit(at.checked_sub(3));
        let whole = hours && two(at + 1) && head.get(at + 3) == Some(&b':') && two(at + 4);
        whole.then(|| at - 2)
    })
}

/// Returns whether a line has a time near its start.
pub(crate) fn has_time(line: &str) -> bool {
    find_clock(line.as_bytes()).is_some() || has_epoch(line.as_bytes()) || prefix_length(line) > 0
}

/// Returns whether a word near the start of a line is a number of seconds since 1970: ten digits that begin with 1.
fn has_epoch(bytes: &[u8]) -> bool {
    let head = bytes.get(..TIME_REACH).unwrap_or(bytes);
    let alone =
        |word: &[u8]| word.len() == 10 && word.first() == Some(&b'1') && word.iter().all(u8::is_ascii_digit);
    head.split(|byte| *byte == b' ').skip(1).any(alone)
}

/// Returns the length of the time at the start of a line, including brackets and the space after it, or 0 if there is
/// no time.
pub(crate) fn prefix_length(line: &str) -> usize {
    let bytes = line.as_bytes();
    let Some(first) = bytes.first() else { return 0 };
    if !first.is_ascii_alphanumeric() && *first != b'[' {
        return 0;
    }
    let end = match find_clock(bytes) {
        Some(at) if is_date(bytes.part(..at)) => at + 8 + fraction_length(bytes.part(at + 8..)),
        Some(_) => 0,
        None => number_length(bytes),
    };
    if end == 0 {
        return 0;
    }
    end + bytes.iter().skip(end).take_while(|byte| matches!(byte, b']' | b' ' | b'\t' | b'|')).count()
}

/// Returns whether bytes contain nothing but a date: digits, signs, and names of days and months.
fn is_date(bytes: &[u8]) -> bool {
    bytes.split(|byte| !byte.is_ascii_alphanumeric()).all(|part| {
        let letters = part.iter().position(u8::is_ascii_alphabetic);
        match letters {
            None => true,
            Some(0) => is_date_word(part) || part == b"T",
            Some(at) => part.get(at..) == Some(b"T"),
        }
    }) && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b" -/.,:[T".contains(byte))
}

/// Returns the length of the fraction and the zone after a time.
fn fraction_length(bytes: &[u8]) -> usize {
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = 0;
    if matches!(bytes.first(), Some(b'.' | b',' | b':')) && digits(1) > 0 {
        end = 1 + digits(1);
    }
    match bytes.get(end) {
        Some(b'Z') => end + 1,
        Some(b'+' | b'-') if digits(end + 1) >= 2 => {
            end += 1 + digits(end + 1);
            if bytes.get(end) == Some(&b':') { end + 1 + digits(end + 1) } else { end }
        }
        _ => end,
    }
}

/// Returns the length of a time that is a number: seconds since some start, `[   12.345678]`, `081109 203518`.
fn number_length(bytes: &[u8]) -> usize {
    let open = usize::from(bytes.first() == Some(&b'['));
    let start = open + bytes.iter().skip(open).take_while(|byte| **byte == b' ').count();
    let length = bytes.iter().skip(start).take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let number = bytes.part(start..start + length);
    let dots = number.iter().filter(|byte| **byte == b'.').count();
    let digits = length - dots;
    let after = bytes.get(start + length);
    if open == 1 {
        return if dots == 1 && digits >= 7 && after == Some(&b']') { start + length } else { 0 };
    }
    if after != Some(&b' ') || dots > 1 {
        return 0;
    }
    if digits >= 10 {
        return length;
    }
    let second = bytes.iter().skip(length + 1).take_while(|byte| byte.is_ascii_digit()).count();
    if dots == 0 && digits == 6 && second == 6 && bytes.get(length + 7) == Some(&b' ') {
        length + 7
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_known_in_many_forms() {
        let cases = [
            ("2024-03-01T10:00:00.123Z step", "step"),
            ("2024-03-01 10:00:00,123 step", "step"),
            ("2024-03-01T10:00:00+02:00 step", "step"),
            ("2024/03/01 10:00:00 step", "step"),
            ("[2024-03-01 10:00:00] step", "step"),
            ("Mar  1 10:00:00 step", "step"),
            ("10:00:00.5 step", "step"),
            ("[   12.345678] step", "step"),
            ("081109 203518 step", "step"),
            ("1709287200.12 step", "step"),
            ("03-17 16:13:38.811  step", "step"),
            ("20171223-22:15:29:606|step", "step"),
            ("plain text", "plain text"),
            ("10.0.0.12:8080 step", "10.0.0.12:8080 step"),
            ("src/a.rs:12:34: step", "src/a.rs:12:34: step"),
            ("x.log_13:53:08 step", "x.log_13:53:08 step"),
            ("12 errors", "12 errors"),
        ];
        for (line, rest) in cases {
            assert_eq!(&line[prefix_length(line)..], rest, "{line}");
        }
        assert!(has_time("x.log_13:53:08 step"));
        assert!(has_time("- 1117838570 2005.06.03 rack step"));
        assert!(!has_time("src/a.rs:12:34: step"));
    }
}

//! Removes the time and the step that may precede the text in a line of build output.

use crate::readers::timestamp;

/// Returns a line without the time or the step before its text.
pub(in crate::readers) fn strip_prefix(line: &str) -> &str {
    let undated = line.get(timestamp::prefix_length(line)..).unwrap_or(line);
    within_step(undated)
}

/// Returns a line of docker's plain progress, without its step and time.
pub(super) fn within_step(line: &str) -> &str {
    let Some(rest) = line.strip_prefix('#') else { return line };
    let step = rest.bytes().take_while(u8::is_ascii_digit).count();
    let Some(rest) = rest.get(step..).and_then(|rest| rest.strip_prefix(' ')).filter(|_| step > 0) else {
        return line;
    };
    let time = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    match rest.get(time..).and_then(|text| text.strip_prefix(' ')) {
        Some(text) if time > 2 => text,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_of_a_line_is_set_aside() {
        assert_eq!(within_step("#12 3.456 error: no"), "error: no");
        assert_eq!(within_step("# title"), "# title");
    }
}

//! Removes what may precede the text in a line of build output: a time, a step, or the task of a runner of several
//! packages.

use crate::readers::line::timestamp;

/// Words by which the tasks of packages are called. With options after a colon, a word still counts (`test:unit`).
const TASKS: [&str; 15] = [
    "test",
    "tests",
    "build",
    "check",
    "compile",
    "dev",
    "e2e",
    "fmt",
    "format",
    "lint",
    "start",
    "tsc",
    "type-check",
    "typecheck",
    "verify",
];

/// Returns a line without the time, the step or the task before its text.
pub(in crate::readers) fn strip_prefix(line: &str) -> &str {
    let line = within_task(within_job(line));
    let undated = line.get(timestamp::prefix_length(line)..).unwrap_or(line);
    within_step(undated)
}

/// Returns a line of a job's log on GitHub, without the names of the job and the step before its time.
fn within_job(line: &str) -> &str {
    let mut rest = line.splitn(3, '\t').skip(2);
    rest.next().filter(|text| timestamp::prefix_length(text) > 0).unwrap_or(line)
}

/// Returns a line without the package and the task that printed it: `@shop/cart test: …` (bun, pnpm, yarn),
/// `cart:test: …` (turbo), `cart test$ …` (a command that pnpm shows).
fn within_task(line: &str) -> &str {
    let empty = || line.strip_suffix(':').map(|prefix| (prefix, ""));
    let Some((prefix, text)) = line.split_once(": ").or_else(empty) else { return line };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '/' | '-' | '_' | '.');
    let task = prefix.split_once([' ', ':']).filter(|(package, _)| {
        package.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@') && package.chars().all(is_name)
    });
    let is_task = |task: &str| {
        task.split(':').next().is_some_and(|word| TASKS.contains(&word))
            && task.chars().all(|c| is_name(c) || c == ':')
    };
    if task.is_some_and(|(_, task)| is_task(task)) { text } else { line }
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
    fn the_task_of_a_package_is_set_aside() {
        for (line, text) in [
            ("@shop/cart test: (pass) orders", "(pass) orders"),
            ("packages/cart test:unit: ok 1 - a", "ok 1 - a"),
            ("cart:test: PASS src/a.test.ts", "PASS src/a.test.ts"),
            ("unit\tRun tests\t2026-05-01T10:00:00.1234567Z ok 1 - a", "ok 1 - a"),
            ("packages/cart test:", ""),
            ("src/a.test.ts:", "src/a.test.ts:"),
            ("the test: it fails: no", "it fails: no"),
            ("error: no", "error: no"),
            ("src/a.ts: error: no", "src/a.ts: error: no"),
            ("expected a: test", "expected a: test"),
        ] {
            assert_eq!(strip_prefix(line), text);
        }
    }

    #[test]
    fn the_step_of_a_line_is_set_aside() {
        assert_eq!(within_step("#12 3.456 error: no"), "error: no");
        assert_eq!(within_step("# title"), "# title");
    }
}

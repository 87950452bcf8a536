//! One line of a compiler's or linter's output.

use crate::severity::{self, LogLevel};

/// The part of a diagnostic that a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiagnosticPart {
    /// The message, or message and place in one.
    Head(LogLevel),
    /// The place alone: `  --> src/a.rs:1:2`.
    Place,
    /// The code it is about, with what is drawn under it.
    Code,
    /// Notes, help, candidates.
    Help,
    /// A step of the build begins: `#12 [4/9] RUN make`, `Step 3/9 : COPY a b`.
    Step,
    /// A tool's count or final status.
    Total,
}

/// The part of a diagnostic that a line is, if any. The line is given without its time.
pub(crate) fn diagnostic_part(line: &str) -> Option<DiagnosticPart> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    if text.is_empty() {
        return None;
    }
    if is_total(text) {
        return Some(DiagnosticPart::Total);
    }
    if indent == 0 && is_step(text) {
        return Some(DiagnosticPart::Step);
    }
    if let Some(rest) = text.strip_prefix("--> ").or_else(|| text.strip_prefix("::: ")) {
        return place_length(rest)
            .map(|_| if text.starts_with('-') { DiagnosticPart::Place } else { DiagnosticPart::Help });
    }
    if is_gutter(text, indent) {
        return Some(DiagnosticPart::Code);
    }
    if let Some(part) = part_by_opening(text, indent) {
        return Some(part);
    }
    part_after_place(line)
}

fn is_step(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix("Step ") {
        return rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('/') && rest.contains(" : ");
    }
    let Some(rest) = text.strip_prefix('#') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && rest.get(digits..).is_some_and(|rest| rest.starts_with(" ["))
}

/// `12 | code`, ` | ^^^`, `...`, `^~~~`.
fn is_gutter(text: &str, indent: usize) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..).unwrap_or("").trim_start();
    let bar =
        rest.starts_with('|') || rest.starts_with("│") || rest.starts_with("╭") || rest.starts_with("╰");
    if (digits > 0 && (bar || rest.starts_with("+ ") || rest.starts_with("- "))) || (bar && indent > 0) {
        return true;
    }
    let drawn = text.bytes().filter(|byte| matches!(byte, b'^' | b'~')).count();
    text == "..." || drawn > 0 && text.bytes().all(|byte| matches!(byte, b'^' | b'~' | b'-' | b' ' | b'|'))
}

/// Lines that open with what they are: `error[E0308]: …`, `warning: …`, `note: …`, `npm ERR! …`, `make: *** …`.
fn part_by_opening(text: &str, indent: usize) -> Option<DiagnosticPart> {
    let word = text.split([':', ' ', '[', '(']).next().unwrap_or("");
    let rest = text.get(word.len()..).unwrap_or("");
    let said = rest.starts_with(':') || rest.starts_with('[') || rest.starts_with('(');
    match word {
        "error" | "Error" | "ERROR" | "fatal" | "FATAL" if said => {
            Some(DiagnosticPart::Head(LogLevel::Error))
        }
        "warning" if rest.starts_with(": build failed, waiting") => Some(DiagnosticPart::Help),
        "warning" | "Warning" | "WARNING" | "WARN" if said => Some(DiagnosticPart::Head(LogLevel::Warning)),
        "note" | "help" | "hint" | "info" if said => Some(DiagnosticPart::Help),
        "=" if rest.starts_with(" note") || rest.starts_with(" help") => Some(DiagnosticPart::Help),
        "symbol" | "location" | "required" | "found" | "reason" if indent > 0 && said => {
            Some(DiagnosticPart::Help)
        }
        "npm" => {
            let rest = rest.trim_start();
            let level = rest.split(' ').next().unwrap_or("");
            match level {
                "ERR!" | "error" => Some(DiagnosticPart::Head(LogLevel::Error)),
                "WARN" | "warn" => Some(DiagnosticPart::Head(LogLevel::Warning)),
                _ => None,
            }
        }
        "CMake" if rest.starts_with(" Error") => Some(DiagnosticPart::Head(LogLevel::Error)),
        "CMake" if rest.starts_with(" Warning") => Some(DiagnosticPart::Head(LogLevel::Warning)),
        "ERROR" | "ERR!" => Some(DiagnosticPart::Head(LogLevel::Error)),
        "SyntaxError" | "ImportError" | "Module" if said || rest.starts_with(" not found") => {
            Some(DiagnosticPart::Head(LogLevel::Error))
        }
        "In" if rest.starts_with(" file included from") => Some(DiagnosticPart::Help),
        "from" if indent > 0 && place_length(rest.trim()).is_some() => Some(DiagnosticPart::Help),
        "" if text.starts_with("[ERROR] ") => Some(DiagnosticPart::Head(LogLevel::Error)),
        "" if text.starts_with("[WARNING] ") => Some(DiagnosticPart::Head(LogLevel::Warning)),
        _ if word.starts_with("make") && text.contains("***") => Some(DiagnosticPart::Head(LogLevel::Error)),
        _ => None,
    }
}

/// Whether a line leads to the diagnostic after it: `a.c: In function 'main':`, `In file included from a.c:1:`.
pub(crate) fn is_lead(line: &str) -> bool {
    line.starts_with("In file included from")
        || line.ends_with(':') && (line.contains(": In ") || line.contains(": At "))
}

/// The length of the place that a text begins with: `src/a.c:3:7`, `src/a.ts(3,7)`.
pub(crate) fn place_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = bytes.iter().take(300).position(|byte| matches!(byte, b':' | b'(' | b' ' | b'\t'))?;
    let (mut end, mut path) = (end, text.get(..end)?);
    // A drive's letter.
    if path.len() == 1 && bytes.get(1) == Some(&b':') && matches!(bytes.get(2), Some(b'\\' | b'/')) {
        end = 2 + bytes.iter().skip(2).take(300).position(|byte| matches!(byte, b':' | b'(' | b' '))?;
        path = text.get(..end)?;
    }
    let named = path.contains(['.', '/', '\\'])
        && !path.ends_with(['.', '/'])
        && path.bytes().any(|byte| byte.is_ascii_alphabetic());
    if !named || path.contains("://") {
        return None;
    }
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let line = digits(end + 1);
    if line == 0 || line > 7 {
        return None;
    }
    let mut at = end + 1 + line;
    if bytes.get(end) == Some(&b'(') {
        if bytes.get(at) == Some(&b',') {
            at += 1 + digits(at + 1);
        }
        return (bytes.get(at) == Some(&b')')).then_some(at + 1);
    }
    if bytes.get(end) != Some(&b':') {
        return None;
    }
    if bytes.get(at) == Some(&b':') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    Some(at)
}

/// A message after its place: `src/a.c:3:7: error: …`, `src/a.ts(3,7): error TS1: …`, `./a.go:3:7: …`, and eslint's
/// `  3:7  error  …`.
fn part_after_place(line: &str) -> Option<DiagnosticPart> {
    let text = line.trim_start();
    let Some(end) = place_length(text) else { return part_in_list(line) };
    let rest = text.get(end..)?;
    let said =
        rest.strip_prefix(": ").or_else(|| rest.strip_prefix(" - ")).or_else(|| rest.strip_prefix(" "));
    let said = said.or_else(|| (rest.is_empty() || rest == ":").then_some(""))?;
    let word = said.split([' ', ':', '[']).next().unwrap_or("");
    match word {
        "error" | "fatal" | "Error" | "ERROR" => Some(DiagnosticPart::Head(LogLevel::Error)),
        "warning" | "Warning" | "WARNING" => Some(DiagnosticPart::Head(LogLevel::Warning)),
        "note" | "help" | "info" => Some(DiagnosticPart::Help),
        "" => Some(DiagnosticPart::Place),
        _ if rest.starts_with(": ") => match severity::level_of(said) {
            Some(LogLevel::Warning) => Some(DiagnosticPart::Head(LogLevel::Warning)),
            // Go, vet and many linters name no level.
            _ => Some(DiagnosticPart::Head(LogLevel::Error)),
        },
        _ => None,
    }
}

fn part_in_list(line: &str) -> Option<DiagnosticPart> {
    let text = line.trim_start();
    if text.len() == line.len() {
        return None;
    }
    let mut words = text.split_ascii_whitespace();
    let (at, level) = (words.next()?, words.next()?);
    let (row, column) = at.split_once(':')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match level {
        _ if !number(row) || !number(column) => None,
        "error" | "Error:" => Some(DiagnosticPart::Head(LogLevel::Error)),
        "warning" | "Warning:" => Some(DiagnosticPart::Head(LogLevel::Warning)),
        _ => None,
    }
}

fn is_total(text: &str) -> bool {
    const OPENINGS: [&str; 28] = [
        "Finished ",
        "error: could not compile",
        "error: aborting due to",
        "BUILD SUCCESS",
        "BUILD FAIL",
        "[INFO] BUILD",
        "[ERROR] BUILD",
        "[INFO] Total time",
        "Successfully ",
        "added ",
        "removed ",
        "up to date",
        "audited ",
        "changed ",
        "Done in ",
        "webpack ",
        "compiled ",
        "Compiled ",
        "Failed to compile",
        "ERROR: failed to",
        "Total time",
        "FAILURE: Build",
        "make: ***",
        "ninja: build stopped",
        "-- Build files have been",
        "-- Configuring incomplete",
        "found 0 vuln",
        "Summary:",
    ];
    if OPENINGS.iter().any(|opening| text.starts_with(opening)) {
        return !text.starts_with("added ") || text.contains("package");
    }
    let bytes = text.as_bytes();
    let text = text.trim_start_matches(['✖', '✔', ' ']);
    let found = text.strip_prefix("Found ").unwrap_or(text);
    let digits = found.bytes().take_while(u8::is_ascii_digit).count();
    let rest = found.get(digits..).unwrap_or("").trim_start();
    if digits > 0 && bytes.len() < 160 {
        return ["error", "warning", "problem", "packages", "vulnerability", "vulnerabilities", "upgraded"]
            .iter()
            .any(|what| rest.starts_with(what));
    }
    let Some(rest) = text.strip_prefix("warning: `") else { return false };
    rest.contains(" generated ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_of_many_tools_are_known() {
        use LogLevel::{Error, Warning};
        let cases = [
            ("error[E0308]: mismatched types", Some(DiagnosticPart::Head(Error))),
            ("warning: unused variable: `x`", Some(DiagnosticPart::Head(Warning))),
            ("  --> src/a.rs:3:7", Some(DiagnosticPart::Place)),
            ("3 |     let x = 1;", Some(DiagnosticPart::Code)),
            ("  |         ^ help: remove it", Some(DiagnosticPart::Code)),
            ("   = note: `#[warn(unused)]` on by default", Some(DiagnosticPart::Help)),
            ("src/a.c:3:7: error: 'x' undeclared", Some(DiagnosticPart::Head(Error))),
            ("src/a.c:3:7: warning: unused 'x' [-Wunused]", Some(DiagnosticPart::Head(Warning))),
            ("src/a.c:3:7: note: declared here", Some(DiagnosticPart::Help)),
            ("src/a.ts(3,7): error TS2304: Cannot find name 'x'.", Some(DiagnosticPart::Head(Error))),
            ("src/a.ts:3:7 - error TS2304: Cannot find name 'x'.", Some(DiagnosticPart::Head(Error))),
            ("./a.go:3:7: undefined: x", Some(DiagnosticPart::Head(Error))),
            ("src/A.java:3: error: cannot find symbol", Some(DiagnosticPart::Head(Error))),
            ("[ERROR] /srv/A.java:[3,7] cannot find symbol", Some(DiagnosticPart::Head(Error))),
            ("  3:7  error  'x' is not defined  no-undef", Some(DiagnosticPart::Head(Error))),
            ("npm ERR! code ERESOLVE", Some(DiagnosticPart::Head(Error))),
            ("make[1]: *** [Makefile:3: a.o] Error 1", Some(DiagnosticPart::Head(Error))),
            ("Found 3 errors in 2 files.", Some(DiagnosticPart::Total)),
            ("    Finished `dev` profile in 3s", Some(DiagnosticPart::Total)),
            ("warning: `x` (lib) generated 3 warnings", Some(DiagnosticPart::Total)),
            ("added 268 packages in 15s", Some(DiagnosticPart::Total)),
            ("plain words", None),
            ("see https://x.test:80/a: error", None),
            ("12:30:01 started", None),
        ];
        for (line, wanted) in cases {
            assert_eq!(diagnostic_part(line), wanted, "{line}");
        }
    }
}

//! Decides whether a text is source code at all.

use super::guess::{self, BlockComment};
use super::line_numbers;

/// Minimum share of lines that have the shape of code, in per cent. Comments and empty lines are not counted.
const MIN_SHAPED_PERCENT: u32 = 35;
/// Ratio of all lines to foreign ones (logs, diffs, searches, diagnostics) below which a text is not code.
const MAX_FOREIGN: usize = 6;

/// Returns how certain it is that lines are source code, from 0 to 100.
pub(crate) fn vote(lines: &[&str]) -> u32 {
    let numbered = line_numbers::is_listing(lines.iter().copied());
    let bare: Vec<&str> =
        lines
            .iter()
            .map(|line| {
                if numbered { line_numbers::split_number(line).map_or(*line, |(_, rest)| rest) } else { line }
            })
            .collect();
    let (mut said, mut shaped, mut foreign, mut remarks, mut slashed) = (0u32, 0u32, 0u32, 0u32, 0u32);
    let (mut fences, mut headings) = (0u32, 0u32);
    let mut block = BlockComment::default();
    for line in &bare {
        let line = line.trim_end();
        let inner = line.trim_start();
        if inner.is_empty() {
            continue;
        }
        said += 1;
        let within = block.takes(inner);
        fences += u32::from(!within && line.starts_with("```"));
        headings +=
            u32::from(!within && line.starts_with('#') && line.trim_start_matches('#').starts_with(' '));
        if within || is_comment(inner) {
            remarks += 1;
            slashed += u32::from(inner.starts_with("//"));
        } else if is_foreign(line) {
            foreign += 1;
            // The remaining lines cannot make up for so many foreign lines, so reading stops here.
            if foreign as usize * MAX_FOREIGN > bare.len() {
                return 0;
            }
        } else if is_shaped(line, inner) {
            shaped += 1;
        }
    }
    // A fence at the start of a line belongs to Markdown, even among lines of code.
    let markdown = fences >= 2 || (fences == 1 && headings > 0);
    let tagged = bare.iter().find(|line| !line.trim().is_empty()).is_some_and(|line| {
        let line = line.trim_start();
        line.starts_with('<') && !line.starts_with("<?php") && !line.starts_with("<?=")
    });
    if tagged || said < 3 || foreign as usize * MAX_FOREIGN > said as usize || markdown {
        return 0;
    }
    let coded = said - remarks;
    let shape = shaped * 100 / coded.max(1);
    let interpreted = bare.first().is_some_and(|line| line.starts_with("#!"));
    // Too few lines have the shape of code in any language. Comments that begin with `//` still count as code,
    // because prose has no such lines.
    if shape < MIN_SHAPED_PERCENT && !interpreted && slashed * 10 < said * 6 {
        return 0;
    }
    let Some((_, speaking)) = guess::guess_by_lines(bare.iter().copied()) else {
        // The language is unknown. Blocks in braces are code of some kind, unless they are data.
        let braces = bare.iter().filter(|line| line.trim_end().ends_with(['{', '}'])).count();
        let quoted = bare.iter().filter(|line| line.trim_start().starts_with('"')).count();
        let braced = braces * 5 >= bare.len()
            && quoted * 4 < bare.len()
            && shaped * 4 >= coded * 3
            && coded * 2 > said;
        return if braced { 40 } else { 0 };
    };
    if coded * 12 < said && !interpreted {
        // The lines are almost all comments. Comment lines are code if they begin with `//`, because prose has no
        // such lines.
        return if slashed * 10 >= said * 8 { 50 } else { 0 };
    }
    // Only about half of the lines in code have a distinctive shape (brackets, calls, assignments, keywords), so the
    // weighted mean of the two shares is scaled up.
    let sure = (shape.min(80) * 6 + speaking.min(60) * 4) / 8;
    let sure = if interpreted { sure.max(80) } else { sure };
    // Many comments that begin with `//` indicate code, whatever the other lines are.
    if slashed * 10 >= said * 6 {
        return sure.clamp(50, 92);
    }
    sure.min(92)
}

/// Returns whether a line looks like part of a log, diff, search or diagnostic. Logs, diffs, searches and diagnostics
/// may all quote code.
fn is_foreign(line: &str) -> bool {
    let bytes = line.as_bytes();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let dated = digits >= 2 && matches!(bytes.get(digits), Some(b'-' | b':' | b'/'));
    let diff = ["@@ -", "diff --git", "+++ ", "--- a/", "index ", "- ", "* ", "## ", "### "]
        .iter()
        .any(|start| line.starts_with(start));
    let tested = line.starts_with("test ") && line.contains(" ... ");
    let diagnosed = ["error[", "error:", "warning:", "  --> ", "   |", "    at ", "Traceback "]
        .iter()
        .any(|start| line.starts_with(start));
    // A changed line of a diff begins with one sign. Two signs (`--`, `++`) may be a comment or an operator.
    let signed = matches!(bytes.first(), Some(b'+' | b'-'))
        && bytes.get(1).is_some_and(|byte| *byte != b'-' && *byte != b'+');
    dated || tested || diff || diagnosed || signed || is_found(line)
}

/// Returns whether a line begins with a location such as `path:12:`, in the form that search tools and compilers
/// print.
fn is_found(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(':') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    !path.contains(' ')
        && path.contains(['.', '/'])
        && digits > 0
        && matches!(rest.as_bytes().get(digits), Some(b':'))
}

fn is_comment(line: &str) -> bool {
    ["//", "/*", "*/", "* ", "# ", "--", "\"\"\""].iter().any(|start| line.starts_with(start))
        || line == "*"
        || line == "#"
}

/// Returns whether a line has the shape of code in any language.
fn is_shaped(line: &str, inner: &str) -> bool {
    let ends = inner.ends_with(['{', '}', ';', '(', '[', ')', ']'])
        || inner.ends_with("},")
        || inner.ends_with("),")
        || inner.ends_with("):");
    let indented = line.len() > inner.len();
    let keyword = [
        "if ", "for ", "while ", "return", "import ", "from ", "def ", "class ", "fn ", "func ", "let ",
        "const ", "var ", "else", "elif ", "end", "fi", "done", "case ", "use ", "pub ", "#include",
        "#define", "#if", "#endif", "@", "try:", "except", "then", "echo ", "local ", "export ", "elsif",
        "when ", "require", "raise ", "with ", "assert",
    ]
    .iter()
    .any(|start| inner.starts_with(start));
    let assigns = [" = ", " := ", " == ", " => ", " -> ", "::", "!=", " += ", "()", "[]"]
        .iter()
        .any(|sign| inner.contains(sign));
    let sentence = inner.ends_with('.') && inner.starts_with(char::is_uppercase);
    let member = indented && (inner.ends_with(',') || inner.ends_with(':')) && inner.split(' ').count() <= 5;
    let called = inner
        .find('(')
        .is_some_and(|at| at > 0 && !inner.get(..at).is_some_and(|before| before.ends_with(' ')));
    !sentence
        && (ends
            && (indented
                || inner.len() < 4
                || called
                || assigns
                || keyword
                || inner.ends_with(['{', ';', '}']))
            || (keyword && (called || indented || assigns || inner.len() < 40))
            || assigns
            || member)
}

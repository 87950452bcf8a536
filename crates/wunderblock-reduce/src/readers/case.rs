//! One line of what a test runner says.

/// What a line says of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Passed,
    /// Several cases on one line, all of them well: `....s..  [ 40%]`.
    Dots,
    Skipped,
    Failed,
    /// A case begins; how it ends is said later.
    Started,
    /// A file, module or suite, and the run's frame.
    Suite,
    /// The heading of one failure's details.
    Details,
    /// The heading of what a test printed.
    Captured,
    /// Counts and the final status.
    Total,
}

/// What a line says, if it is a runner's. The line is given without its time.
pub(crate) fn of(line: &str) -> Option<Case> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    match text.as_bytes() {
        [] => None,
        [b't', b'e', b's', b't', b' ', ..] if indent == 0 => cargo(text).or_else(|| totals(text, indent)),
        [b'=' | b'_' | b'-' | b'+', ..] => pytest_rule(text).or_else(|| go(text)),
        [b'<', ..] => xml(text),
        [b'[', ..] => gtest(text).or_else(|| worker(text)).or_else(|| totals(text, indent)),
        [b'o' | b'n' | b'#' | b'?' | b'1'..=b'9', ..] => tap(text, indent)
            .or_else(|| go(text))
            .or_else(|| ctest(text))
            .or_else(|| totals(text, indent))
            .or_else(|| mocha(text, indent)),
        [0x80..=0xff, ..] => marked(text),
        _ => None,
    }
    .or_else(|| nextest(text, indent))
    .or_else(|| named(text, indent))
    .or_else(|| pytest(line))
}

fn cargo(text: &str) -> Option<Case> {
    let rest = text.strip_prefix("test ")?;
    if rest.starts_with("result: ") {
        return Some(Case::Total);
    }
    let (_, status) = rest.rsplit_once(" ... ")?;
    let word = status.split([' ', ',']).next().unwrap_or("");
    match word {
        "ok" | "bench:" => Some(Case::Passed),
        "FAILED" | "failed" => Some(Case::Failed),
        "ignored" => Some(Case::Skipped),
        _ => None,
    }
}

/// `=== FAILURES ===`, `____ test_x ____`, `---- x stdout ----`, `--- Captured stdout call ---`.
fn pytest_rule(text: &str) -> Option<Case> {
    let sign = text.chars().next()?;
    let inner = text.trim_matches(sign).trim();
    let ruled = text.starts_with([sign, sign].iter().collect::<String>().as_str()) || text.starts_with("= ");
    if !ruled {
        return None;
    }
    match sign {
        '=' if inner.contains("test session starts") => Some(Case::Suite),
        '=' if text.len() > 20 && text.ends_with('=') => {
            let totals = inner.contains(" in ") && inner.contains(|c: char| c.is_ascii_digit());
            Some(if totals { Case::Total } else { Case::Suite })
        }
        '_' if text.ends_with('_') && !inner.is_empty() => Some(Case::Details),
        '-' if inner.starts_with("Captured ") || inner.starts_with("Live log ") => Some(Case::Captured),
        '-' if (inner.ends_with(" stdout") || inner.ends_with(" stderr")) && text.starts_with("---- ") => {
            Some(Case::Details)
        }
        _ => None,
    }
}

fn go(text: &str) -> Option<Case> {
    let status = |rest: &str| match rest.split([':', ' ', '\t']).next().unwrap_or("") {
        "PASS" => Some(Case::Passed),
        "FAIL" => Some(Case::Failed),
        "SKIP" => Some(Case::Skipped),
        "RUN" | "PAUSE" | "CONT" | "NAME" => Some(Case::Started),
        _ => None,
    };
    if let Some(rest) = text.strip_prefix("--- ").or_else(|| text.strip_prefix("=== ")) {
        return status(rest);
    }
    if text.starts_with("ok  \t") || text.starts_with("ok \t") {
        return Some(Case::Suite);
    }
    text.starts_with("?   \t").then_some(Case::Skipped)
}

fn xml(text: &str) -> Option<Case> {
    let tag = text.get(1..)?.split([' ', '>', '/']).next().unwrap_or("");
    match tag {
        "testsuite" | "testsuites" => Some(Case::Total),
        "testcase" if text.trim_end().ends_with("/>") || text.trim_end().ends_with("</testcase>") => {
            let bad = text.contains("<failure") || text.contains("<error");
            let skipped = text.contains("<skipped");
            Some(if bad {
                Case::Failed
            } else if skipped {
                Case::Skipped
            } else {
                Case::Passed
            })
        }
        "testcase" => Some(Case::Started),
        "failure" | "error" => Some(Case::Failed),
        "skipped" => Some(Case::Skipped),
        "system-out" | "system-err" => Some(Case::Captured),
        _ => None,
    }
}

fn gtest(text: &str) -> Option<Case> {
    let (inside, rest) = text.get(1..)?.split_once(']')?;
    if inside.len() != 10 {
        return None;
    }
    match inside.trim() {
        "RUN" => Some(Case::Started),
        "OK" => Some(Case::Passed),
        "FAILED" => Some(Case::Failed),
        "SKIPPED" => Some(Case::Skipped),
        "PASSED" => Some(Case::Total),
        "==========" => Some(Case::Total),
        "----------" => Some(if rest.trim().is_empty() { Case::Started } else { Case::Suite }),
        _ => None,
    }
}

/// pytest-xdist: `[gw0] [ 12%] PASSED a.py::test_x`.
fn worker(text: &str) -> Option<Case> {
    let rest = text.strip_prefix("[gw")?;
    let (_, rest) = rest.split_once("] [")?;
    let (_, rest) = rest.split_once("] ")?;
    status(rest.split(' ').next()?)
}

fn status(word: &str) -> Option<Case> {
    match word {
        "PASSED" | "PASS" | "XPASS" | "ok" | "OK" => Some(Case::Passed),
        "FAILED" | "ERROR" | "FAIL" => Some(Case::Failed),
        "SKIPPED" | "XFAIL" | "SKIP" | "skipped" => Some(Case::Skipped),
        _ => None,
    }
}

fn tap(text: &str, indent: usize) -> Option<Case> {
    let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if let Some(rest) = text.strip_prefix("not ok ").filter(|rest| numbered(rest)) {
        let excused = rest.contains(concat!("# TO", "DO")) || rest.contains("# SKIP");
        return Some(if excused { Case::Skipped } else { Case::Failed });
    }
    if let Some(rest) = text.strip_prefix("ok ").filter(|rest| numbered(rest)) {
        return Some(if rest.contains("# SKIP") || rest.contains("# skip") {
            Case::Skipped
        } else {
            Case::Passed
        });
    }
    if let Some(rest) = text.strip_prefix("# ") {
        let word = rest.split(' ').next().unwrap_or("");
        let counted =
            rest.get(word.len()..).is_some_and(|rest| rest.trim().starts_with(|c: char| c.is_ascii_digit()));
        return match word {
            "tests" | "pass" | "fail" | "skipped" | "suites" | "cancelled" | "todo" | "duration_ms"
                if counted =>
            {
                Some(Case::Total)
            }
            "Subtest:" => Some(Case::Started),
            _ => None,
        };
    }
    (indent == 0
        && text.starts_with("1..")
        && text.get(3..).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())))
    .then_some(Case::Suite)
}

/// `  3/20 Test  #3: name ......   Passed    0.01 sec`.
fn ctest(text: &str) -> Option<Case> {
    let (_, rest) = text.split_once(" Test ")?;
    let (_, rest) = rest.trim_start().strip_prefix('#')?.split_once(": ")?;
    if rest.contains("***") {
        return Some(if rest.contains("***Not Run") || rest.contains("***Skipped") {
            Case::Skipped
        } else {
            Case::Failed
        });
    }
    rest.contains(" Passed ").then_some(Case::Passed)
}

/// mocha lists failures as `  1) name`.
fn mocha(text: &str, indent: usize) -> Option<Case> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..).and_then(|rest| rest.strip_prefix(") ")).filter(|_| digits < 4)?;
    // PHPUnit numbers them without an indent, by class and method.
    let named = rest.split([' ', '"']).next().is_some_and(|name| name.contains("::"));
    if indent == 0 && named { Some(Case::Details) } else { (indent >= 2).then_some(Case::Failed) }
}

/// Lines that begin with a mark: jest, vitest, mocha, node, deno.
fn marked(text: &str) -> Option<Case> {
    let mark = text.chars().next()?;
    let spaced = text.get(mark.len_utf8()..).is_some_and(|rest| rest.starts_with(' '));
    match mark {
        '✓' | '✔' | '√' | '✅' if spaced => Some(Case::Passed),
        '✕' | '×' | '✗' | '✖' | '❌' if spaced => Some(Case::Failed),
        '○' | '↓' | '⊘' | '◌' | '﹣' if spaced => Some(Case::Skipped),
        '●' if spaced => Some(Case::Details),
        '❯' if spaced => {
            Some(if text.contains(".test.") || text.contains(".spec.") { Case::Suite } else { Case::Started })
        }
        '⎯' => Some(Case::Details),
        'ℹ' if spaced => Some(Case::Total),
        _ => None,
    }
}

/// `        PASS [   0.004s] crate test`.
fn nextest(text: &str, indent: usize) -> Option<Case> {
    let (word, rest) = text.split_once(" [")?;
    let timed = rest.get(..rest.find(']')?)?.trim().ends_with('s')
        && rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '>');
    if !timed {
        return None;
    }
    match word.trim_end() {
        "PASS" | "FLAKY" => Some(Case::Passed),
        "FAIL" | "ABORT" | "TIMEOUT" | "SIGABRT" | "SIGSEGV" | "LEAK-FAIL" | "XFAIL" => Some(Case::Failed),
        "SKIP" => Some(Case::Skipped),
        "LEAK" | "START" => Some(Case::Passed),
        "SLOW" => Some(Case::Suite),
        "Summary" if indent > 0 => Some(Case::Total),
        word if word.starts_with("TRY ") && word.contains("FAIL") => Some(Case::Failed),
        word if word.starts_with("TRY ") && word.contains("PASS") => Some(Case::Passed),
        _ => None,
    }
}

/// Lines that open with a word of a runner.
fn named(text: &str, indent: usize) -> Option<Case> {
    let word = text.split([' ', '\t', ':']).next().unwrap_or("");
    let rest = text.get(word.len()..).unwrap_or("");
    match word {
        "PASS" if rest.is_empty() && indent == 0 => Some(Case::Total),
        "PASS" if rest.starts_with(": ") => Some(Case::Passed),
        "PASS" if rest.contains(['.', '/']) => Some(Case::Suite),
        "FAIL" | "ERROR" if rest.starts_with(": ") && (rest.contains(" (") || word == "FAIL") => {
            Some(Case::Details)
        }
        "FAIL" if rest.is_empty() || rest.starts_with('\t') => Some(Case::Total),
        "FAIL" if rest.contains(['.', '/', '>']) => Some(Case::Failed),
        "FAILED" | "ERROR" if rest.contains("::") || rest.starts_with(" tests/") => Some(Case::Failed),
        "SKIPPED" if rest.starts_with(" [") => Some(Case::Skipped),
        "FAILED" if rest.starts_with(" (") => Some(Case::Total),
        "OK" if rest.is_empty() || rest.starts_with(" (") || rest.starts_with(", but ") => Some(Case::Total),
        "FAILURES!" | "ERRORS!" | "WARNINGS!" if rest.is_empty() => Some(Case::Total),
        "PHPUnit" if rest.contains(" by ") => Some(Case::Suite),
        "There" if rest.ends_with(':') && (rest.starts_with(" was 1 ") || rest.starts_with(" were ")) => {
            Some(Case::Suite)
        }
        "Failures" | "Pending" if rest.starts_with(':') && indent == 0 => Some(Case::Suite),
        "Finished" if rest.contains(" seconds (files took") => Some(Case::Total),
        "rspec" if rest.contains("_spec.rb:") => Some(Case::Failed),
        "TAP" if rest.starts_with(" version") => Some(Case::Suite),
        "Ran" if rest.contains(" test") => Some(Case::Total),
        "Start" if indent >= 4 && rest.contains(": ") => Some(Case::Started),
        "running" if indent == 0 && (rest.ends_with(" tests") || rest.ends_with(" test")) => {
            Some(Case::Suite)
        }
        "Running"
            if rest.starts_with(" unittests")
                || rest.starts_with(" tests/")
                || indent > 0 && rest.contains("target/") =>
        {
            Some(Case::Suite)
        }
        "Running" if indent == 0 && rest.contains('.') && !rest.trim().contains(' ') => Some(Case::Suite),
        "Doc-tests" => Some(Case::Suite),
        "collected" | "collecting" if rest.contains(" item") || rest.contains("...") => Some(Case::Suite),
        "failures" if rest == ":" => Some(Case::Suite),
        "Starting" if indent > 0 && rest.contains(" tests across ") => Some(Case::Suite),
        _ => totals(text, indent),
    }
}

fn totals(text: &str, indent: usize) -> Option<Case> {
    const OPENINGS: [&str; 15] = [
        "Tests:",
        "Test Suites:",
        "Snapshots:",
        "Test Files ",
        "Tests ",
        "Tests run:",
        "The following tests FAILED",
        "Total Test time",
        "[INFO] Tests run:",
        "[ERROR] Tests run:",
        "[WARNING] Tests run:",
        "[ERROR] Failures:",
        "Ran all test suites",
        "test result:",
        "error: test failed",
    ];
    let counted = |rest: &str| {
        rest.contains(|c: char| c.is_ascii_digit()) || rest.contains("FAILED") || rest.contains("all ")
    };
    if OPENINGS.iter().any(|opening| text.starts_with(opening))
        && (counted(text) || text.ends_with(':') || text.starts_with("error"))
    {
        return Some(Case::Total);
    }
    if text.len() > 200 {
        return None;
    }
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = text.get(digits..).unwrap_or("");
    if digits == 0 {
        return None;
    }
    let word = rest.trim_start().trim_start_matches("tests ").split([' ', ',', ';']).next().unwrap_or("");
    let runner =
        matches!(word, "passing" | "failing" | "pending" | "passed" | "failed" | "examples" | "example")
            || rest.starts_with("% tests passed")
            || rest.starts_with(" tests run:");
    let said = rest.is_empty() || rest.starts_with([' ', '%']);
    (runner
        && said
        && (indent > 0 || text.contains(',') || text.contains(" in ") || rest.trim_start() == word))
        .then_some(Case::Total)
}

/// `a.py::test_x PASSED [ 10%]`, `a.py ..F. [ 40%]`, `....... [ 58%]`, `test_x (mod.Case) ... ok`.
fn pytest(line: &str) -> Option<Case> {
    if line.starts_with([' ', '\t']) {
        return gradle(line).or_else(|| documented(line));
    }
    let line = line.trim_end();
    if let Some((_, last)) = line.rsplit_once(" ... ") {
        let word = last.split([' ', ':']).next().unwrap_or("");
        if line.starts_with("test") || line.contains(" (") {
            return match word {
                "expected" => Some(Case::Skipped),
                word => status(word),
            };
        }
    }
    let (body, percent) = match line.strip_suffix("%]").and_then(|rest| rest.rsplit_once('[')) {
        Some((body, number)) if number.trim().bytes().all(|byte| byte.is_ascii_digit()) => {
            (body.trim_end(), true)
        }
        _ => (line, false),
    };
    if let Some((_, rest)) = body.split_once("::") {
        let word = rest.rsplit(' ').next().unwrap_or("");
        let found = status(word).filter(|_| rest.contains(' ')).or_else(|| {
            let (_, after) = rest.split_once(") ").unwrap_or(("", rest));
            status(after.split(' ').nth(1)?)
                .filter(|_| rest.contains(" SKIPPED (") || rest.contains(" XFAIL ("))
        });
        if found.is_some() {
            return found;
        }
        if rest.contains(" SKIPPED (") || rest.contains(" XFAIL") {
            return Some(Case::Skipped);
        }
    }
    dots(body, percent).or_else(|| gradle(line)).or_else(|| row(line))
}

/// PHPUnit's rows: `.....F...E..S  64 / 64 (100%)`.
fn row(line: &str) -> Option<Case> {
    let (letters, rest) = line.split_once(' ')?;
    let (at, rest) = rest.trim_start().split_once(" / ")?;
    let counted = at.bytes().all(|byte| byte.is_ascii_digit()) && rest.trim_end().ends_with("%)");
    let known = letters.bytes().all(|byte| b".FESIRWDN".contains(&byte));
    (counted && known).then_some(if letters.contains(['F', 'E']) { Case::Failed } else { Case::Dots })
}

/// Progress in letters, after a file's name or alone.
fn dots(body: &str, percent: bool) -> Option<Case> {
    let (name, letters) = body.rsplit_once(' ').unwrap_or(("", body));
    let file = name.is_empty() || name.trim_end().ends_with(".py");
    let known = !letters.is_empty()
        && letters.bytes().all(|byte| matches!(byte, b'.' | b'F' | b'E' | b's' | b'x' | b'X' | b'S' | b'u'));
    if !file
        || !known
        || (name.is_empty() && !percent && (letters.len() < 4 || !letters.contains("..")))
        || name.is_empty() && letters == "..."
    {
        return None;
    }
    Some(if letters.contains(['F', 'E']) { Case::Failed } else { Case::Dots })
}

/// `ShopTest > orders() PASSED`.
fn gradle(line: &str) -> Option<Case> {
    let (name, word) = line.trim_end().rsplit_once(' ')?;
    if !name.contains(" > ") {
        return None;
    }
    status(word).filter(|_| word.chars().all(|c| c.is_ascii_uppercase()))
}

/// rspec's documentation: `    keeps order (FAILED - 1)`.
fn documented(line: &str) -> Option<Case> {
    let line = line.trim_end();
    let (_, said) = line.rsplit_once(" (").filter(|_| line.ends_with(')'))?;
    if said.starts_with("FAILED - ") {
        return Some(Case::Failed);
    }
    said.starts_with("PENDING: ").then_some(Case::Skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
    fn cases_of_many_runners_are_known() {
        let cases = [
            ("test a::b ... ok", Case::Passed),
            ("test a::b ... FAILED", Case::Failed),
            ("test a::b ... ignored, slow", Case::Skipped),
            ("test result: FAILED. 1 passed; 1 failed", Case::Total),
            ("running 12 tests", Case::Suite),
            ("---- a::b stdout ----", Case::Details),
            ("        PASS [   0.004s] shop order::works", Case::Passed),
            ("        FAIL [   0.004s] (2/3) shop order::fails", Case::Failed),
            ("     Summary [   0.104s] 3 tests run: 2 passed, 1 failed, 0 skipped", Case::Total),
            ("tests/test_a.py::test_x PASSED                        [ 10%]", Case::Passed),
            ("tests/test_a.py::test_x[1-a b] FAILED                 [ 10%]", Case::Failed),
            ("tests/test_a.py::test_x SKIPPED (no network)          [ 10%]", Case::Skipped),
            ("tests/test_a.py .....s..                              [ 10%]", Case::Dots),
            ("tests/test_a.py ..F..                                 [ 10%]", Case::Failed),
            ("............................................          [ 58%]", Case::Dots),
            ("[gw1] [ 12%] PASSED tests/test_a.py::test_x", Case::Passed),
            ("=================== FAILURES ===================", Case::Suite),
            ("____________ test_x ____________", Case::Details),
            ("------------ Captured stdout call ------------", Case::Captured),
            ("========= 1 failed, 2 passed in 0.12s =========", Case::Total),
            ("FAILED tests/test_a.py::test_x - assert 1 == 2", Case::Failed),
            ("test_x (test_a.TestA.test_x) ... ok", Case::Passed),
            ("test_x (test_a.TestA.test_x) ... FAIL", Case::Failed),
            ("FAIL: test_x (test_a.TestA.test_x)", Case::Details),
            ("Ran 12 tests in 0.004s", Case::Total),
            ("FAILED (failures=1, errors=2)", Case::Total),
            ("    ✓ orders a book (5 ms)", Case::Passed),
            ("    ✕ fails to pay (5 ms)", Case::Failed),
            ("  ● shop › fails to pay", Case::Details),
            ("PASS src/shop.test.js", Case::Suite),
            ("FAIL src/pay.test.js", Case::Failed),
            ("Tests:       1 failed, 2 passed, 3 total", Case::Total),
            ("      Tests  1 failed | 2 passed (3)", Case::Total),
            ("  12 passing (34ms)", Case::Total),
            ("    1) fails to pay:", Case::Failed),
            ("=== RUN   TestOrder", Case::Started),
            ("--- FAIL: TestOrder (0.00s)", Case::Failed),
            ("    --- PASS: TestOrder/book (0.00s)", Case::Passed),
            ("ok  \tshop.test/order\t0.012s", Case::Suite),
            ("FAIL\tshop.test/order\t0.012s", Case::Total),
            ("not ok 3 - pays", Case::Failed),
            ("ok 4 - orders", Case::Passed),
            ("# fail 1", Case::Total),
            ("      3/20 Test  #3: order ..........   Passed    0.01 sec", Case::Passed),
            ("      4/20 Test  #4: pay ............***Failed    0.01 sec", Case::Failed),
            ("95% tests passed, 1 tests failed out of 20", Case::Total),
            ("[ RUN      ] Shop.Order", Case::Started),
            ("[       OK ] Shop.Order (0 ms)", Case::Passed),
            ("[  FAILED  ] Shop.Pay (0 ms)", Case::Failed),
            ("  <testcase name=\"a\" classname=\"b\" time=\"0.1\"/>", Case::Passed),
            ("ShopTest > orders() PASSED", Case::Passed),
            ("1) ShopTest::testPays", Case::Details),
            (".....F...S  11 / 64 ( 17%)", Case::Failed),
            ("...........  64 / 64 (100%)", Case::Dots),
            ("There was 1 failure:", Case::Suite),
            ("FAILURES!", Case::Total),
            ("    pays on time (FAILED - 1)", Case::Failed),
            ("  ships (PENDING: Not yet implemented)", Case::Skipped),
            ("rspec ./spec/shop_spec.rb:12 # Shop pays", Case::Failed),
            ("[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0", Case::Total),
        ];
        for (line, wanted) in cases {
            assert_eq!(of(line), Some(wanted), "{line}");
        }
        for line in [
            "plain words",
            "the test is ok",
            "Running late today",
            "...",
            "ok then",
            "2 passed cars",
            "error: no",
            "===",
            "a > b",
            "--- a/src/x.rs",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}

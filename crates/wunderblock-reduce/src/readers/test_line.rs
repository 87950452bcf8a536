//! One line of a test runner's output.

/// What a line states about the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestLine {
    Passed,
    /// Several cases on one line, all of them well: `....s..  [ 40%]`.
    Dots,
    Skipped,
    Failed,
    /// A case begins; its result follows later.
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

/// The sort of a test runner's line, if it is one. The line is given without its time.
pub(crate) fn parse_line(line: &str) -> Option<TestLine> {
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

fn cargo(text: &str) -> Option<TestLine> {
    let rest = text.strip_prefix("test ")?;
    if rest.starts_with("result: ") {
        return Some(TestLine::Total);
    }
    let (_, status) = rest.rsplit_once(" ... ")?;
    let word = status.split([' ', ',']).next().unwrap_or("");
    match word {
        "ok" | "bench:" => Some(TestLine::Passed),
        "FAILED" | "failed" => Some(TestLine::Failed),
        "ignored" => Some(TestLine::Skipped),
        _ => None,
    }
}

/// `=== FAILURES ===`, `____ test_x ____`, `---- x stdout ----`, `--- Captured stdout call ---`.
fn pytest_rule(text: &str) -> Option<TestLine> {
    let sign = text.chars().next()?;
    let inner = text.trim_matches(sign).trim();
    let ruled = text.starts_with([sign, sign].iter().collect::<String>().as_str()) || text.starts_with("= ");
    if !ruled {
        return None;
    }
    match sign {
        '=' if inner.contains("test session starts") => Some(TestLine::Suite),
        '=' if text.len() > 20 && text.ends_with('=') => {
            let totals = inner.contains(" in ") && inner.contains(|c: char| c.is_ascii_digit());
            Some(if totals { TestLine::Total } else { TestLine::Suite })
        }
        '_' if text.ends_with('_') && !inner.is_empty() => Some(TestLine::Details),
        '-' if inner.starts_with("Captured ") || inner.starts_with("Live log ") => Some(TestLine::Captured),
        '-' if (inner.ends_with(" stdout") || inner.ends_with(" stderr")) && text.starts_with("---- ") => {
            Some(TestLine::Details)
        }
        _ => None,
    }
}

fn go(text: &str) -> Option<TestLine> {
    let status = |rest: &str| match rest.split([':', ' ', '\t']).next().unwrap_or("") {
        "PASS" => Some(TestLine::Passed),
        "FAIL" => Some(TestLine::Failed),
        "SKIP" => Some(TestLine::Skipped),
        "RUN" | "PAUSE" | "CONT" | "NAME" => Some(TestLine::Started),
        _ => None,
    };
    if let Some(rest) = text.strip_prefix("--- ").or_else(|| text.strip_prefix("=== ")) {
        return status(rest);
    }
    if text.starts_with("ok  \t") || text.starts_with("ok \t") {
        return Some(TestLine::Suite);
    }
    text.starts_with("?   \t").then_some(TestLine::Skipped)
}

fn xml(text: &str) -> Option<TestLine> {
    let tag = text.get(1..)?.split([' ', '>', '/']).next().unwrap_or("");
    match tag {
        "testsuite" | "testsuites" => Some(TestLine::Total),
        "testcase" if text.trim_end().ends_with("/>") || text.trim_end().ends_with("</testcase>") => {
            let bad = text.contains("<failure") || text.contains("<error");
            let skipped = text.contains("<skipped");
            Some(if bad {
                TestLine::Failed
            } else if skipped {
                TestLine::Skipped
            } else {
                TestLine::Passed
            })
        }
        "testcase" => Some(TestLine::Started),
        "failure" | "error" => Some(TestLine::Failed),
        "skipped" => Some(TestLine::Skipped),
        "system-out" | "system-err" => Some(TestLine::Captured),
        _ => None,
    }
}

fn gtest(text: &str) -> Option<TestLine> {
    let (inside, rest) = text.get(1..)?.split_once(']')?;
    if inside.len() != 10 {
        return None;
    }
    match inside.trim() {
        "RUN" => Some(TestLine::Started),
        "OK" => Some(TestLine::Passed),
        "FAILED" => Some(TestLine::Failed),
        "SKIPPED" => Some(TestLine::Skipped),
        "PASSED" => Some(TestLine::Total),
        "==========" => Some(TestLine::Total),
        "----------" => Some(if rest.trim().is_empty() { TestLine::Started } else { TestLine::Suite }),
        _ => None,
    }
}

/// pytest-xdist: `[gw0] [ 12%] PASSED a.py::test_x`.
fn worker(text: &str) -> Option<TestLine> {
    let rest = text.strip_prefix("[gw")?;
    let (_, rest) = rest.split_once("] [")?;
    let (_, rest) = rest.split_once("] ")?;
    parse_status(rest.split(' ').next()?)
}

fn parse_status(word: &str) -> Option<TestLine> {
    match word {
        "PASSED" | "PASS" | "XPASS" | "ok" | "OK" => Some(TestLine::Passed),
        "FAILED" | "ERROR" | "FAIL" => Some(TestLine::Failed),
        "SKIPPED" | "XFAIL" | "SKIP" | "skipped" => Some(TestLine::Skipped),
        _ => None,
    }
}

fn tap(text: &str, indent: usize) -> Option<TestLine> {
    let numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if let Some(rest) = text.strip_prefix("not ok ").filter(|rest| numbered(rest)) {
        let excused = rest.contains(concat!("# TO", "DO")) || rest.contains("# SKIP");
        return Some(if excused { TestLine::Skipped } else { TestLine::Failed });
    }
    if let Some(rest) = text.strip_prefix("ok ").filter(|rest| numbered(rest)) {
        return Some(if rest.contains("# SKIP") || rest.contains("# skip") {
            TestLine::Skipped
        } else {
            TestLine::Passed
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
                Some(TestLine::Total)
            }
            "Subtest:" => Some(TestLine::Started),
            _ => None,
        };
    }
    (indent == 0
        && text.starts_with("1..")
        && text.get(3..).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())))
    .then_some(TestLine::Suite)
}

/// `  3/20 Test  #3: name ......   Passed    0.01 sec`.
fn ctest(text: &str) -> Option<TestLine> {
    let (_, rest) = text.split_once(" Test ")?;
    let (_, rest) = rest.trim_start().strip_prefix('#')?.split_once(": ")?;
    if rest.contains("***") {
        return Some(if rest.contains("***Not Run") || rest.contains("***Skipped") {
            TestLine::Skipped
        } else {
            TestLine::Failed
        });
    }
    rest.contains(" Passed ").then_some(TestLine::Passed)
}

/// mocha lists failures as `  1) name`.
fn mocha(text: &str, indent: usize) -> Option<TestLine> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.get(digits..).and_then(|rest| rest.strip_prefix(") ")).filter(|_| digits < 4)?;
    // PHPUnit numbers them without an indent, by class and method.
    let named = rest.split([' ', '"']).next().is_some_and(|name| name.contains("::"));
    if indent == 0 && named { Some(TestLine::Details) } else { (indent >= 2).then_some(TestLine::Failed) }
}

/// Lines that begin with a mark: jest, vitest, mocha, node, deno.
fn marked(text: &str) -> Option<TestLine> {
    let mark = text.chars().next()?;
    let spaced = text.get(mark.len_utf8()..).is_some_and(|rest| rest.starts_with(' '));
    match mark {
        '✓' | '✔' | '√' | '✅' if spaced => Some(TestLine::Passed),
        '✕' | '×' | '✗' | '✖' | '❌' if spaced => Some(TestLine::Failed),
        '○' | '↓' | '⊘' | '◌' | '﹣' if spaced => Some(TestLine::Skipped),
        '●' if spaced => Some(TestLine::Details),
        '❯' if spaced => Some(if text.contains(".test.") || text.contains(".spec.") {
            TestLine::Suite
        } else {
            TestLine::Started
        }),
        '⎯' => Some(TestLine::Details),
        'ℹ' if spaced => Some(TestLine::Total),
        _ => None,
    }
}

/// `        PASS [   0.004s] crate test`.
fn nextest(text: &str, indent: usize) -> Option<TestLine> {
    let (word, rest) = text.split_once(" [")?;
    let timed = rest.get(..rest.find(']')?)?.trim().ends_with('s')
        && rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '>');
    if !timed {
        return None;
    }
    match word.trim_end() {
        "PASS" | "FLAKY" => Some(TestLine::Passed),
        "FAIL" | "ABORT" | "TIMEOUT" | "SIGABRT" | "SIGSEGV" | "LEAK-FAIL" | "XFAIL" => {
            Some(TestLine::Failed)
        }
        "SKIP" => Some(TestLine::Skipped),
        "LEAK" | "START" => Some(TestLine::Passed),
        "SLOW" => Some(TestLine::Suite),
        "Summary" if indent > 0 => Some(TestLine::Total),
        word if word.starts_with("TRY ") && word.contains("FAIL") => Some(TestLine::Failed),
        word if word.starts_with("TRY ") && word.contains("PASS") => Some(TestLine::Passed),
        _ => None,
    }
}

/// Lines that open with a word of a runner.
fn named(text: &str, indent: usize) -> Option<TestLine> {
    let word = text.split([' ', '\t', ':']).next().unwrap_or("");
    let rest = text.get(word.len()..).unwrap_or("");
    match word {
        "PASS" if rest.is_empty() && indent == 0 => Some(TestLine::Total),
        "PASS" if rest.starts_with(": ") => Some(TestLine::Passed),
        "PASS" if rest.contains(['.', '/']) => Some(TestLine::Suite),
        "FAIL" | "ERROR" if rest.starts_with(": ") && (rest.contains(" (") || word == "FAIL") => {
            Some(TestLine::Details)
        }
        "FAIL" if rest.is_empty() || rest.starts_with('\t') => Some(TestLine::Total),
        "FAIL" if rest.contains(['.', '/', '>']) => Some(TestLine::Failed),
        "FAILED" | "ERROR" if rest.contains("::") || rest.starts_with(" tests/") => Some(TestLine::Failed),
        "SKIPPED" if rest.starts_with(" [") => Some(TestLine::Skipped),
        "FAILED" if rest.starts_with(" (") => Some(TestLine::Total),
        "OK" if rest.is_empty() || rest.starts_with(" (") || rest.starts_with(", but ") => {
            Some(TestLine::Total)
        }
        "FAILURES!" | "ERRORS!" | "WARNINGS!" if rest.is_empty() => Some(TestLine::Total),
        "PHPUnit" if rest.contains(" by ") => Some(TestLine::Suite),
        "There" if rest.ends_with(':') && (rest.starts_with(" was 1 ") || rest.starts_with(" were ")) => {
            Some(TestLine::Suite)
        }
        "Failures" | "Pending" if rest.starts_with(':') && indent == 0 => Some(TestLine::Suite),
        "Finished" if rest.contains(" seconds (files took") => Some(TestLine::Total),
        "rspec" if rest.contains("_spec.rb:") => Some(TestLine::Failed),
        "TAP" if rest.starts_with(" version") => Some(TestLine::Suite),
        "Ran" if rest.contains(" test") => Some(TestLine::Total),
        "Start" if indent >= 4 && rest.contains(": ") => Some(TestLine::Started),
        "running" if indent == 0 && (rest.ends_with(" tests") || rest.ends_with(" test")) => {
            Some(TestLine::Suite)
        }
        "Running"
            if rest.starts_with(" unittests")
                || rest.starts_with(" tests/")
                || indent > 0 && rest.contains("target/") =>
        {
            Some(TestLine::Suite)
        }
        "Running" if indent == 0 && rest.contains('.') && !rest.trim().contains(' ') => Some(TestLine::Suite),
        "Doc-tests" => Some(TestLine::Suite),
        "collected" | "collecting" if rest.contains(" item") || rest.contains("...") => Some(TestLine::Suite),
        "failures" if rest == ":" => Some(TestLine::Suite),
        "Starting" if indent > 0 && rest.contains(" tests across ") => Some(TestLine::Suite),
        _ => totals(text, indent),
    }
}

fn totals(text: &str, indent: usize) -> Option<TestLine> {
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
        return Some(TestLine::Total);
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
        .then_some(TestLine::Total)
}

/// `a.py::test_x PASSED [ 10%]`, `a.py ..F. [ 40%]`, `....... [ 58%]`, `test_x (mod.Case) ... ok`.
fn pytest(line: &str) -> Option<TestLine> {
    if line.starts_with([' ', '\t']) {
        return gradle(line).or_else(|| documented(line));
    }
    let line = line.trim_end();
    if let Some((_, last)) = line.rsplit_once(" ... ") {
        let word = last.split([' ', ':']).next().unwrap_or("");
        if line.starts_with("test") || line.contains(" (") {
            return match word {
                "expected" => Some(TestLine::Skipped),
                word => parse_status(word),
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
        let found = parse_status(word).filter(|_| rest.contains(' ')).or_else(|| {
            let (_, after) = rest.split_once(") ").unwrap_or(("", rest));
            parse_status(after.split(' ').nth(1)?)
                .filter(|_| rest.contains(" SKIPPED (") || rest.contains(" XFAIL ("))
        });
        if found.is_some() {
            return found;
        }
        if rest.contains(" SKIPPED (") || rest.contains(" XFAIL") {
            return Some(TestLine::Skipped);
        }
    }
    dots(body, percent).or_else(|| gradle(line)).or_else(|| row(line))
}

/// PHPUnit's rows: `.....F...E..S  64 / 64 (100%)`.
fn row(line: &str) -> Option<TestLine> {
    let (letters, rest) = line.split_once(' ')?;
    let (at, rest) = rest.trim_start().split_once(" / ")?;
    let counted = at.bytes().all(|byte| byte.is_ascii_digit()) && rest.trim_end().ends_with("%)");
    let known = letters.bytes().all(|byte| b".FESIRWDN".contains(&byte));
    (counted && known).then_some(if letters.contains(['F', 'E']) { TestLine::Failed } else { TestLine::Dots })
}

/// Progress in letters, after a file's name or alone.
fn dots(body: &str, percent: bool) -> Option<TestLine> {
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
    Some(if letters.contains(['F', 'E']) { TestLine::Failed } else { TestLine::Dots })
}

/// `ShopTest > orders() PASSED`.
fn gradle(line: &str) -> Option<TestLine> {
    let (name, word) = line.trim_end().rsplit_once(' ')?;
    if !name.contains(" > ") {
        return None;
    }
    parse_status(word).filter(|_| word.chars().all(|c| c.is_ascii_uppercase()))
}

/// rspec's documentation: `    keeps order (FAILED - 1)`.
fn documented(line: &str) -> Option<TestLine> {
    let line = line.trim_end();
    let (_, said) = line.rsplit_once(" (").filter(|_| line.ends_with(')'))?;
    if said.starts_with("FAILED - ") {
        return Some(TestLine::Failed);
    }
    said.starts_with("PENDING: ").then_some(TestLine::Skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
    fn cases_of_many_runners_are_known() {
        let cases = [
            ("test a::b ... ok", TestLine::Passed),
            ("test a::b ... FAILED", TestLine::Failed),
            ("test a::b ... ignored, slow", TestLine::Skipped),
            ("test result: FAILED. 1 passed; 1 failed", TestLine::Total),
            ("running 12 tests", TestLine::Suite),
            ("---- a::b stdout ----", TestLine::Details),
            ("        PASS [   0.004s] shop order::works", TestLine::Passed),
            ("        FAIL [   0.004s] (2/3) shop order::fails", TestLine::Failed),
            ("     Summary [   0.104s] 3 tests run: 2 passed, 1 failed, 0 skipped", TestLine::Total),
            ("tests/test_a.py::test_x PASSED                        [ 10%]", TestLine::Passed),
            ("tests/test_a.py::test_x[1-a b] FAILED                 [ 10%]", TestLine::Failed),
            ("tests/test_a.py::test_x SKIPPED (no network)          [ 10%]", TestLine::Skipped),
            ("tests/test_a.py .....s..                              [ 10%]", TestLine::Dots),
            ("tests/test_a.py ..F..                                 [ 10%]", TestLine::Failed),
            ("............................................          [ 58%]", TestLine::Dots),
            ("[gw1] [ 12%] PASSED tests/test_a.py::test_x", TestLine::Passed),
            ("=================== FAILURES ===================", TestLine::Suite),
            ("____________ test_x ____________", TestLine::Details),
            ("------------ Captured stdout call ------------", TestLine::Captured),
            ("========= 1 failed, 2 passed in 0.12s =========", TestLine::Total),
            ("FAILED tests/test_a.py::test_x - assert 1 == 2", TestLine::Failed),
            ("test_x (test_a.TestA.test_x) ... ok", TestLine::Passed),
            ("test_x (test_a.TestA.test_x) ... FAIL", TestLine::Failed),
            ("FAIL: test_x (test_a.TestA.test_x)", TestLine::Details),
            ("Ran 12 tests in 0.004s", TestLine::Total),
            ("FAILED (failures=1, errors=2)", TestLine::Total),
            ("    ✓ orders a book (5 ms)", TestLine::Passed),
            ("    ✕ fails to pay (5 ms)", TestLine::Failed),
            ("  ● shop › fails to pay", TestLine::Details),
            ("PASS src/shop.test.js", TestLine::Suite),
            ("FAIL src/pay.test.js", TestLine::Failed),
            ("Tests:       1 failed, 2 passed, 3 total", TestLine::Total),
            ("      Tests  1 failed | 2 passed (3)", TestLine::Total),
            ("  12 passing (34ms)", TestLine::Total),
            ("    1) fails to pay:", TestLine::Failed),
            ("=== RUN   TestOrder", TestLine::Started),
            ("--- FAIL: TestOrder (0.00s)", TestLine::Failed),
            ("    --- PASS: TestOrder/book (0.00s)", TestLine::Passed),
            ("ok  \tshop.test/order\t0.012s", TestLine::Suite),
            ("FAIL\tshop.test/order\t0.012s", TestLine::Total),
            ("not ok 3 - pays", TestLine::Failed),
            ("ok 4 - orders", TestLine::Passed),
            ("# fail 1", TestLine::Total),
            ("      3/20 Test  #3: order ..........   Passed    0.01 sec", TestLine::Passed),
            ("      4/20 Test  #4: pay ............***Failed    0.01 sec", TestLine::Failed),
            ("95% tests passed, 1 tests failed out of 20", TestLine::Total),
            ("[ RUN      ] Shop.Order", TestLine::Started),
            ("[       OK ] Shop.Order (0 ms)", TestLine::Passed),
            ("[  FAILED  ] Shop.Pay (0 ms)", TestLine::Failed),
            ("  <testcase name=\"a\" classname=\"b\" time=\"0.1\"/>", TestLine::Passed),
            ("ShopTest > orders() PASSED", TestLine::Passed),
            ("1) ShopTest::testPays", TestLine::Details),
            (".....F...S  11 / 64 ( 17%)", TestLine::Failed),
            ("...........  64 / 64 (100%)", TestLine::Dots),
            ("There was 1 failure:", TestLine::Suite),
            ("FAILURES!", TestLine::Total),
            ("    pays on time (FAILED - 1)", TestLine::Failed),
            ("  ships (PENDING: Not yet implemented)", TestLine::Skipped),
            ("rspec ./spec/shop_spec.rb:12 # Shop pays", TestLine::Failed),
            ("[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0", TestLine::Total),
        ];
        for (line, wanted) in cases {
            assert_eq!(parse_line(line), Some(wanted), "{line}");
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
            assert_eq!(parse_line(line), None, "{line}");
        }
    }
}

//! Generated tool results: logs, test runs, code, search matches, JSON records.

use super::random::Random;
use super::time::iso;
use super::words::{name, path, word, words};

/// Kind of output that a tool result imitates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultKind {
    Log,
    Tests,
    Code,
    Matches,
    Records,
}

/// Returns a result of at least `bytes` bytes, in whole lines.
pub(super) fn result(random: &mut Random, look: ResultKind, bytes: usize, millis: u64) -> String {
    let mut out = String::with_capacity(bytes + 512);
    let mut number = random.between(1, 900) as u64;
    if look == ResultKind::Records {
        out.push_str("[\n");
    }
    while out.len() < bytes {
        number += 1;
        out.push_str(&match look {
            ResultKind::Log => log_line(random, millis + number * 37),
            ResultKind::Tests => test_line(random),
            // Agents show files to models in this form: line number, arrow, line.
            ResultKind::Code => {
                format!("{number:>6}→{}{}\n", " ".repeat(random.below(4) * 4), statement(random))
            }
            ResultKind::Matches => {
                format!("{}:{}:    {}\n", path(random), random.between(1, 2000), statement(random))
            }
            ResultKind::Records => record(random),
        });
    }
    match look {
        ResultKind::Tests => {
            out.push_str(&format!("\ntest result: FAILED. {number} passed; 1 failed; 0 ignored\n"));
        }
        ResultKind::Records => out.push_str("  {}\n]\n"),
        ResultKind::Log | ResultKind::Code | ResultKind::Matches => {}
    }
    out
}

fn log_line(random: &mut Random, millis: u64) -> String {
    let level = random.pick(&["INFO", "INFO", "DEBUG", "WARN", "ERROR"]);
    let (module, part, said) = (name(random), name(random), words(random, 45));
    let (id, took) = (random.next_u64() & 0xffff_ffff_ffff, random.below(5000));
    format!("{} {level:>5} {module}::{part}: {said} id={id:012x} took={took}ms\n", iso(millis))
}

fn test_line(random: &mut Random) -> String {
    if random.chance(3) {
        let (path, line) = (path(random), random.between(1, 900));
        let (left, right) = (random.below(10_000), random.below(10_000));
        return format!(
            "\nthread 'main' panicked at {path}:{line}:9:\nassertion `left == right` failed\n  left: {left}\n right: {right}\n\n"
        );
    }
    let (module, words) = (name(random), [(); 4].map(|()| word(random)).join("_"));
    format!("test {module}::tests::{words}_{} ... ok\n", name(random))
}

fn statement(random: &mut Random) -> String {
    match random.below(7) {
        0 => "}".to_owned(),
        1 => format!("// {}", words(random, 50)),
        2 => format!("pub fn {}({}: usize) -> Result<(), Error> {{", name(random), name(random)),
        3 => format!("return Err(Error::new(\"{}\"));", words(random, 30)),
        _ => {
            let (result, field, method) = (name(random), name(random), word(random));
            format!("let {result} = self.{field}.{method}({}, {})?;", name(random), random.below(512))
        }
    }
}

fn record(random: &mut Random) -> String {
    let (high, low) = (random.next_u64(), random.next_u64());
    let (count, number) = (name(random), random.below(1_000_000));
    let (text, said) = (name(random), words(random, 60));
    format!(
        "  {{\n    \"id\": \"{high:016x}{low:016x}\",\n    \"{count}\": {number},\n    \"{text}\": \"{said}\",\n    \"ok\": true\n  }},\n"
    )
}

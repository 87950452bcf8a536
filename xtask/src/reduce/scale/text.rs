//! Texts of any size, of every kind, as its tools would write them.

use std::fmt::Write as _;

/// The inputs there are: of each kind one, of some several.
pub(super) const NAMES: [&str; 24] = [
    "log",
    "log-noise",
    "log-colours",
    "log-same",
    "build",
    "tests",
    "search",
    "diff",
    "listing",
    "paths",
    "table",
    "bars",
    "json",
    "ndjson",
    "html",
    "markdown",
    "code",
    "trace",
    "infra",
    "blob",
    "prose",
    "line",
    "json-line",
    "states",
];

/// A text of about so many bytes.
pub(super) fn of(name: &str, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 4_096);
    let mut dice = Dice(0x5742_6c6b);
    let json = name.starts_with("json");
    text.push_str(match name {
        "html" => "<!DOCTYPE html>\n<html><head><title>Books</title><script>var a = 1;</script></head><body><nav><a href=\"/\">Home</a></nav><main>\n",
        "table" => "id,name,author,price,status\n",
        "listing" => "total 8123\n",
        "trace" => "java.lang.IllegalStateException: no shelf 9\n",
        "infra" => "Terraform will perform the following actions:\n\n",
        _ if json => "[\n",
        _ => "",
    });
    let mut n = 0;
    while text.len() < bytes {
        let _ = write(name, n, &mut dice, &mut text);
        n += 1;
    }
    if json {
        text.truncate(text.trim_end().trim_end_matches(',').len());
        text.push_str("\n]\n");
    }
    match name {
        "json-line" => text.retain(|c| c != '\n'),
        "html" => text.push_str("</main></body></html>\n"),
        "tests" => {
            text.push_str("\ntest result: FAILED. 9999 passed; 17 failed; 0 ignored; finished in 3.14s\n")
        }
        _ => {}
    }
    text
}

/// Numbers that follow from one.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % sides
    }

    fn word(&mut self) -> &'static str {
        WORDS.get(self.roll(WORDS.len() as u64) as usize).copied().unwrap_or("book")
    }

    fn sentence(&mut self, words: u64) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

const WORDS: [&str; 48] = [
    "shelf",
    "book",
    "reader",
    "loan",
    "keeper",
    "page",
    "index",
    "order",
    "room",
    "card",
    "late",
    "early",
    "found",
    "lost",
    "returns",
    "opens",
    "closes",
    "counts",
    "the",
    "a",
    "of",
    "under",
    "behind",
    "with",
    "and",
    "but",
    "then",
    "never",
    "always",
    "seventeen",
    "nine",
    "morning",
    "evening",
    "letter",
    "window",
    "ladder",
    "lamp",
    "dust",
    "catalogue",
    "binding",
    "spine",
    "cover",
    "author",
    "title",
    "margin",
    "footnote",
    "chapter",
    "volume",
];

/// The next lines of a text.
fn write(name: &str, n: usize, dice: &mut Dice, out: &mut String) -> std::fmt::Result {
    match name {
        "build" | "tests" | "search" | "diff" | "trace" | "infra" => tool(name, n, dice, out),
        "html" | "markdown" | "code" | "prose" | "line" => document(name, n, dice, out),
        "json" | "ndjson" | "json-line" => json(name, n, dice, out),
        name if name.starts_with("log") => log(name, n, dice, out),
        _ => rows(name, n, dice, out),
    }
}

fn log(name: &str, n: usize, dice: &mut Dice, out: &mut String) -> std::fmt::Result {
    let time =
        format!("2031-05-04 {:02}:{:02}:{:02},{:03}", n / 3_600 % 24, n / 60 % 60, n % 60, dice.roll(1_000));
    match (name, dice.roll(200)) {
        ("log-same", _) => writeln!(out, "waiting for the catalogue to accept connections on port 5432"),
        ("log-noise", _) => writeln!(out, "{time} {} {:016x}", dice.sentence(9), dice.roll(u64::MAX)),
        ("log-colours", _) => {
            writeln!(
                out,
                "\u{1b}[2m{time}\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m shop: loan {n} of {}",
                dice.word()
            )
        }
        (_, 0) => writeln!(
            out,
            "{time} ERROR shop.Payments - card {} declined: {}",
            dice.roll(9_999),
            dice.sentence(3)
        ),
        (_, 1..4) => writeln!(out, "{time} WARN shop.Loans - reader {n} is late by {} days", dice.roll(30)),
        (_, 4..80) => writeln!(out, "{time} INFO shop.Orders - order {n} placed in {} ms", dice.roll(900)),
        (_, 80..140) => writeln!(
            out,
            "{time} INFO shop.Shelf - moved blk_{} from /10.0.{}.{}:50010",
            dice.roll(u64::MAX),
            dice.roll(9),
            dice.roll(250)
        ),
        (_, 140..180) => {
            writeln!(out, "{time} DEBUG shop.Cache - {} hit after {} us", dice.word(), dice.roll(5_000))
        }
        _ => writeln!(
            out,
            "{time} INFO shop.Web - GET /books/{}?page={} 200 {}",
            dice.roll(99_999),
            dice.roll(40),
            dice.roll(20_000)
        ),
    }
}

fn tool(name: &str, n: usize, dice: &mut Dice, out: &mut String) -> std::fmt::Result {
    match name {
        "build" if n % 40 == 39 => writeln!(
            out,
            "warning: unused variable: `{0}`\n  --> src/{0}.rs:{n}:9\n   |\n{n} |     let {0} = {1};\n   |         ^^^^^ help: if this is intentional, prefix it with an underscore: `_{0}`\n   |\n   = note: `#[warn(unused_variables)]` on by default\n",
            dice.word(),
            dice.roll(99)
        ),
        "build" => writeln!(
            out,
            "   Compiling {}-{} v{}.{}.{}",
            dice.word(),
            dice.word(),
            dice.roll(3),
            dice.roll(40),
            n % 10
        ),
        "tests" if n % 997 == 500 => writeln!(
            out,
            "test {0}::case_{n} ... FAILED\n\n---- {0}::case_{n} stdout ----\nthread '{0}::case_{n}' panicked at src/{0}.rs:{n}:5:\nassertion `left == right` failed\n  left: {1}\n right: {n}\n",
            dice.word(),
            dice.roll(99)
        ),
        "tests" => writeln!(out, "test {}::{}::case_{n} ... ok", dice.word(), dice.word()),
        "search" => writeln!(
            out,
            "src/{}/part_{}.rs:{}:    let {} = {}({});",
            dice.word(),
            n / 9,
            n % 9 * 31 + 1,
            dice.word(),
            dice.word(),
            dice.roll(99)
        ),
        "diff" if n.is_multiple_of(12) => writeln!(
            out,
            "diff --git a/src/f{n}.rs b/src/f{n}.rs\nindex {:07x}..{:07x} 100644\n--- a/src/f{n}.rs\n+++ b/src/f{n}.rs\n@@ -{n},7 +{n},8 @@ fn open()",
            dice.roll(1 << 28),
            dice.roll(1 << 28)
        ),
        "diff" => {
            let sign = [' ', ' ', '-', '+', ' '].get(n % 5).copied().unwrap_or(' ');
            writeln!(
                out,
                "{sign}    let {} = {}.{}({});",
                dice.word(),
                dice.word(),
                dice.word(),
                dice.roll(999)
            )
        }
        "trace" if n % 60 == 59 => {
            writeln!(out, "Caused by: java.io.IOException: {} is gone", dice.sentence(2))
        }
        "trace" => writeln!(
            out,
            "\tat shop.{}.{}.open({}.java:{})",
            dice.word(),
            dice.word(),
            dice.word(),
            dice.roll(900)
        ),
        _ => writeln!(
            out,
            "  # shelf.{0}[{n}] will be created\n  + resource \"shelf\" \"{0}\" {{\n      + id    = (known after apply)\n      + name  = \"{0}-{n}\"\n      + rooms = [\n          + {1},\n        ]\n    }}\n",
            dice.word(),
            dice.roll(99)
        ),
    }
}

fn rows(name: &str, n: usize, dice: &mut Dice, out: &mut String) -> std::fmt::Result {
    match name {
        "listing" => writeln!(
            out,
            "-rw-r--r-- 1 ann staff {:>8} May {:>2} 07:{:02} {}-{n}.txt",
            dice.roll(9_999_999),
            n % 28 + 1,
            n % 60,
            dice.word()
        ),
        "paths" => writeln!(out, "/srv/books/{}/{}/{}-{n}.txt", dice.word(), dice.word(), dice.word()),
        "table" => writeln!(
            out,
            "{n},\"{}\",{},{}.{:02},{}",
            dice.sentence(3),
            dice.word(),
            dice.roll(90),
            dice.roll(100),
            if dice.roll(400) == 0 { "lost" } else { "ok" }
        ),
        "bars" => writeln!(
            out,
            "| {n:>9} | {:<24} | {:>12} | {:<10} |",
            dice.sentence(2),
            dice.roll(9_999_999),
            dice.word()
        ),
        "states" => {
            for percent in 0..40 {
                write!(out, "{:>3}% of {n} {} sorted\r", percent * 5 / 2, dice.word())?;
            }
            writeln!(out, "100% of {n} sorted")
        }
        _ => {
            for _ in 0..4 {
                write!(out, "{:016x}", dice.roll(u64::MAX))?;
            }
            writeln!(out)
        }
    }
}

fn json(name: &str, n: usize, dice: &mut Dice, out: &mut String) -> std::fmt::Result {
    let status = if dice.roll(500) == 0 { "lost" } else { "ok" };
    let (word, note, price) = (dice.word(), dice.sentence(5), dice.roll(9_000));
    if name == "ndjson" {
        return writeln!(
            out,
            "{{\"ts\":\"2031-05-04T07:{:02}:{:02}Z\",\"level\":\"info\",\"book\":{n},\"shelf\":\"{word}\",\"status\":\"{status}\",\"note\":\"{note}\",\"ms\":{price}}}",
            n / 60 % 60,
            n % 60
        );
    }
    writeln!(
        out,
        "  {{\n    \"id\": {n},\n    \"shelf\": \"{word}\",\n    \"status\": \"{status}\",\n    \"place\": {{ \"room\": {}, \"row\": {} }},\n    \"tags\": [\"{}\", \"{}\"],\n    \"note\": \"{note}\",\n    \"price\": {price}.50\n  }},",
        dice.roll(9),
        dice.roll(40),
        dice.word(),
        dice.word()
    )
}

fn document(name: &str, n: usize, dice: &mut Dice, out: &mut String) -> std::fmt::Result {
    match (name, n % 8) {
        ("html", 0) => {
            writeln!(out, "<h2 id=\"s{n}\">{}</h2>\n<script>track({n});</script>", dice.sentence(3))
        }
        ("html", 1) => writeln!(
            out,
            "<table><tr><th>{}</th></tr><tr><td>{}</td></tr></table>",
            dice.word(),
            dice.roll(99)
        ),
        ("html", 2) => writeln!(
            out,
            "<ul><li><a href=\"/b/{n}\">{}</a></li><li>{}</li></ul>",
            dice.sentence(2),
            dice.word()
        ),
        ("html", _) => writeln!(
            out,
            "<p class=\"text\">{} <em>{}</em>, {} &amp; {}.</p>",
            dice.sentence(14),
            dice.word(),
            dice.sentence(9),
            dice.word()
        ),
        ("markdown", 0) => writeln!(out, "## {}\n", dice.sentence(3)),
        ("markdown", 1) => writeln!(
            out,
            "- {}\n- {} `{}`\n- {}\n",
            dice.sentence(6),
            dice.word(),
            dice.word(),
            dice.sentence(4)
        ),
        ("markdown", 2) => writeln!(out, "```\nlet {} = {};\n```\n", dice.word(), dice.roll(99)),
        ("markdown", _) => {
            writeln!(out, "{}. {}, {}.\n", dice.sentence(12), dice.sentence(7), dice.sentence(9))
        }
        ("code", _) => writeln!(
            out,
            "/// {}.\npub fn {}_{n}(shelf: &Shelf) -> Result<Book, Error> {{\n    let {} = shelf.get({})?;\n    if book.lost {{\n        return Err(Error::Gone);\n    }}\n    Ok(book)\n}}\n",
            dice.sentence(6),
            dice.word(),
            dice.word(),
            dice.roll(99)
        ),
        ("line", _) => write!(out, "{}, {}. ", dice.sentence(8), dice.roll(9_999)),
        (_, 7) => writeln!(out, "{}.\n", dice.sentence(10)),
        _ => writeln!(out, "{}, {}. {}", dice.sentence(9), dice.sentence(6), dice.word()),
    }
}

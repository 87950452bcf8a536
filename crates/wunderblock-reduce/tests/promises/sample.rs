//! A short output of each kind, in the form in which its tool would write it, and the damage that it may suffer.

use proptest::prelude::*;
use std::fmt::Write as _;

fn many(times: usize, line: impl Fn(usize) -> String) -> String {
    (0..times).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{}", line(n));
        text
    })
}

/// Returns an output of each kind, each large enough to be worth shortening.
fn samples() -> Vec<String> {
    let page = many(30, |n| format!("<li><a href=\"/book/{n}\">Book {n} &amp; more</a></li>"));
    let members = many(40, |n| {
        format!(
            "  {{\"id\": {n}, \"name\": \"book {}\", \"tags\": [\"a\", {n}.50], \"shelf\": {{\"row\": {}}}}},",
            n % 3,
            n % 5
        )
    });
    vec![
        format!("[\n{}\n]\n", members.trim_end().trim_end_matches(',')),
        many(60, |n| format!("{{\"ts\":\"2031-05-04T07:11:{n:02}Z\",\"level\":\"info\",\"book\":{n},\"ms\":{}}}", n * 3)),
        many(90, |n| {
            let level = if n % 17 == 4 { "ERROR" } else { "INFO" };
            format!("2031-05-04 07:{:02}:{:02},120 {level} shop.Orders - order {n} placed in {} ms", n / 60, n % 60, n * 7)
        }),
        many(40, |n| format!("   Compiling shelf-{n} v1.{n}.0"))
            + "error[E0308]: mismatched types\n  --> src/a.rs:3:7\n   |\n3  |     let a: u8 = \"\";\n   |                 ^^ expected `u8`\n\nerror: could not compile `shelf` (lib) due to 1 previous error\n",
        many(70, |n| format!("test shelf::case_{n} ... {}", if n % 31 == 7 { "FAILED" } else { "ok" }))
            + "\nfailures:\n\n---- shelf::case_7 stdout ----\nthread 'shelf::case_7' panicked at src/a.rs:9:5:\nassertion `left == right` failed\n  left: 3\n right: 4\n\ntest result: FAILED. 67 passed; 3 failed; 0 ignored\n",
        many(60, |n| format!("src/shelf/part_{}.rs:{}:    let shelf = Shelf::new({n});", n / 9, n * 3 + 1)),
        (0..6).map(|n| {
            format!("diff --git a/src/f{n}.rs b/src/f{n}.rs\nindex 1a2b3c4..5d6e7f8 100644\n--- a/src/f{n}.rs\n+++ b/src/f{n}.rs\n@@ -1,4 +1,5 @@ fn open()\n let a = 1;\n-let b = {n};\n+let b = {};\n+let c = 0;\n let d = 4;\n let e = 5;\n", n + 1)
        }).collect(),
        "total 96\n".to_owned() + &many(50, |n| format!("-rw-r--r-- 1 ann staff {:>6} May {:>2} 07:11 list-{n}.txt", n * 977, n % 28 + 1)),
        many(40, |n| format!("/srv/books/shelf-{}/book-{n}.txt", n % 4)),
        "id,name,price,status\n".to_owned() + &many(60, |n| format!("{n},\"book, {n}\",{}.50,{}", n * 2, if n == 40 { "lost" } else { "ok" })),
        "| id | name |\n|----|------|\n".to_owned() + &many(40, |n| format!("| {n:>2} | b{n:<3} |")),
        format!("<!DOCTYPE html>\n<html><head><title>Books</title><script>var a = [1, 2];</script></head>\n<body><nav><a href=\"/\">Home</a></nav><main><h1>Books</h1>\n<p>A shelf of books, and what is on it.</p>\n<ul>\n{page}</ul>\n<table><tr><th>a</th></tr><tr><td>1</td></tr></table><pre>let a = 1;</pre></main></body></html>\n"),
        "# Books\n\nA shelf holds books.\n\n".to_owned() + &many(20, |n| format!("## Shelf {n}\n\nIt stands in room {n}, and holds *many* books with `code`.\n\n- one\n- two\n")),
        many(15, |n| format!("/// Opens shelf {n}.\npub fn open_{n}(shelf: &Shelf) -> Result<Book, Error> {{\n    let book = shelf.get({n})?;\n    if book.lost {{\n        return Err(Error::Gone);\n    }}\n    Ok(book)\n}}\n")),
        many(15, |n| format!("class Shelf{n}:\n    def open(self, book):\n        for page in book:\n            yield page * {n}\n")),
        "java.lang.IllegalStateException: no shelf 9\n".to_owned() + &many(40, |n| format!("\tat shop.deep.Shelf{}.open(Shelf.java:{n})", n % 6)) + "Caused by: java.io.IOException: gone\n\t... 12 more\n",
        "Terraform will perform the following actions:\n\n".to_owned() + &many(12, |n| format!("  # shelf.books[{n}] will be created\n  + resource \"shelf\" \"books\" {{\n      + id   = (known after apply)\n      + name = \"book-{n}\"\n    }}\n")) + "Plan: 12 to add, 0 to change, 0 to destroy.\n",
        "PLAY [all] ****\n\n".to_owned() + &many(20, |n| format!("TASK [step {n}] ****\nok: [host1]\n{}: [host2]\n", if n == 5 { "changed" } else { "ok" })) + "PLAY RECAP ****\nhost1 : ok=20 changed=0 unreachable=0 failed=0\n",
        many(30, |n| format!("{:064x}", (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c))),
        (0..40).map(|n| format!("{n:>3}% of the books are sorted\r")).collect::<String>() + "\n" + &many(30, |n| format!("\u{1b}[1m\u{1b}[32m   Sorted\u{1b}[0m shelf {n}")),
        many(20, |n| format!("书架 {n} 上有三十本书。谁借走了第十七本？ The keeper of shelf {n} does not know. Ask again tomorrow.")),
        many(30, |n| format!("a line {n} that ends as on another system\r")),
    ]
}

/// A change that damages a text. Each position is given in thousandths of the text's length.
#[derive(Clone, Debug)]
enum Harm {
    Cut(usize),
    Drop(usize, usize),
    Twice(usize, usize),
    Splice(usize, String),
    Flip(usize, u8),
    Put(usize, &'static str),
}

const ODD: [&str; 14] = [
    "⟨",
    "⟩",
    "⟨=×99999999⟩",
    "⟨=t⟩\n",
    "⟨… lines 1–9: 9 lines⟩",
    "\r",
    "\0",
    "\u{1b}[",
    "\"",
    "{",
    "]",
    "\n\n\n",
    "```",
    "\u{2028}",
];

fn harm() -> impl Strategy<Value = Harm> {
    let at = || 0..1_000_usize;
    prop_oneof![
        1 => at().prop_map(Harm::Cut),
        2 => (at(), at()).prop_map(|(from, to)| Harm::Drop(from, to)),
        2 => (at(), at()).prop_map(|(from, to)| Harm::Twice(from, to)),
        2 => (at(), proptest::sample::select(samples())).prop_map(|(at, text)| Harm::Splice(at, text)),
        2 => (at(), any::<u8>()).prop_map(|(at, byte)| Harm::Flip(at, byte)),
        2 => (at(), proptest::sample::select(&ODD[..])).prop_map(|(at, odd)| Harm::Put(at, odd)),
    ]
}

fn hurt(mut text: Vec<u8>, harm: &Harm) -> Vec<u8> {
    let place = |at: usize| at * text.len() / 1_000;
    match harm {
        Harm::Cut(at) => text.truncate(place(*at)),
        Harm::Drop(from, to) => {
            let (from, to) = (place(*from.min(to)), place(*from.max(to)));
            text.drain(from..to);
        }
        Harm::Twice(from, to) => {
            let (from, to) = (place(*from.min(to)), place(*from.max(to)));
            let part = text[from..to].to_vec();
            text.splice(to..to, part);
        }
        Harm::Splice(at, other) => {
            let at = place(*at);
            text.splice(at..at, other.bytes());
        }
        Harm::Flip(at, byte) => {
            let at = place(*at);
            if let Some(old) = text.get_mut(at) {
                *old ^= byte;
            }
        }
        Harm::Put(at, odd) => {
            let at = place(*at);
            text.splice(at..at, odd.bytes());
        }
    }
    text
}

/// A sample that is damaged up to four times, and may not be valid UTF-8.
pub(crate) fn harmed() -> impl Strategy<Value = Vec<u8>> {
    (proptest::sample::select(samples()), proptest::collection::vec(harm(), 0..5))
        .prop_map(|(text, harms)| harms.iter().fold(text.into_bytes(), hurt))
}

//! One line of a stack trace.

use crate::rules::WordList;

/// The places of libraries and runtimes, and the names of their packages.
static LIBRARIES: WordList = WordList::new("libraries");
static OPENINGS: WordList = WordList::new("openings of traces");
static THROWN: WordList = WordList::new("ends of thrown types");

/// The owner of the code in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameOwner {
    /// The caller's, as far as paths and packages tell.
    Own,
    /// A library's or the runtime's.
    Library,
}

/// The owner of the frame that a line is, if it is one. The source text that Python prints under a frame is not: it has
/// no place.
pub(crate) fn frame_owner(line: &str) -> Option<FrameOwner> {
    // A group of exceptions is drawn with bars before its frames.
    let text = line.trim_start_matches([' ', '\t', '|']);
    let indented = text.len() < line.len();
    let frame = match text.as_bytes() {
        [b'a', b't', b' ', ..] if indented => is_place(text.get(3..)?),
        [b'F', b'i', b'l', b'e', b' ', b'"', ..] if indented => text.contains("\", line "),
        [b'f', b'r', b'o', b'm', b' ', ..] if indented => text.contains(":in "),
        [b'.', b'.', b'.', b' ', ..] if indented => is_rest(text),
        [b'#', b'0'..=b'9', ..] => is_numbered(text.trim_start_matches('#'), ' '),
        [b'0'..=b'9', ..] if indented => is_numbered(text, ':'),
        [b'g', b'o', b'r', b'o', ..] => return None,
        [.., b')'] if indented && (text.contains(" (node:") || text.contains(" (file:")) => true,
        [first, ..] if first.is_ascii_alphabetic() || *first == b'/' => is_go(line),
        _ => false,
    };
    frame.then(|| if is_library(text) { FrameOwner::Library } else { FrameOwner::Own })
}

/// Java `a.b.C.d(C.java:1)`, JavaScript `f (a.js:1:2)` or `a.js:1:2`, .NET `A.B.C() in a.cs:line 1`, Rust
/// `./src/a.rs:1:2`.
fn is_place(rest: &str) -> bool {
    if let Some(open) = rest.rfind('(') {
        return rest.ends_with(')') && (open > 0 || rest.len() > 4)
            || rest.contains(" in ") && rest.contains(":line ");
    }
    if rest.contains(":line ") {
        return true;
    }
    let mut parts = rest.rsplit(':');
    let number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    number(parts.next()) && rest.contains(['.', '/']) && !rest.contains(' ')
        || rest.starts_with("async ")
        || rest.starts_with("new ")
}

/// `... 12 more`, `... 3 common frames omitted`.
fn is_rest(text: &str) -> bool {
    let rest = text.get(4..).unwrap_or("");
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0
        && rest
            .get(digits..)
            .is_some_and(|rest| rest.starts_with(" more") || rest.starts_with(" common frames"))
}

/// `4: core::panicking::panic`, `#0  0x00007f in f () at a.c:3`.
fn is_numbered(text: &str, sign: char) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let Some(rest) = text.get(digits..).and_then(|rest| rest.strip_prefix(sign)) else { return false };
    let rest = rest.trim_start();
    if digits == 0 || digits > 4 || rest.is_empty() {
        return false;
    }
    if sign == ':' {
        return rest.contains("::")
            || rest.starts_with("0x")
            || rest.starts_with('<')
            || !rest.contains(' ') && text.contains(": ");
    }
    rest.starts_with("0x")
        || rest.contains(" at ")
        || rest.contains(" in ")
        || rest.contains(" from ")
        || rest.contains(" (")
}

/// Go writes a frame on two lines: `main.f(0x1, ...)`, then `\t/src/a.go:12 +0x1d`.
fn is_go(line: &str) -> bool {
    if let Some(place) = line.strip_prefix('\t') {
        return place.contains(".go:") && (place.starts_with('/') || place.contains(":\\"))
            || place.contains(".s:") && place.starts_with('/');
    }
    let called = line.strip_prefix("created by ").unwrap_or(line);
    let Some(open) = called.find('(') else { return called.len() < line.len() };
    let name = called.get(..open).unwrap_or("");
    let plain = !name.is_empty() && name.contains('.') && !name.contains([' ', '=', ':', '"', '\'']);
    plain && called.ends_with(')') && called.get(open + 1..called.len() - 1).is_some_and(is_go_arguments)
        || called.len() < line.len()
}

fn is_go_arguments(text: &str) -> bool {
    text.starts_with("*")
        || text.starts_with("0x")
        || text.starts_with("{0x")
        || text == "..."
        || text.is_empty()
}

/// Whether a frame's text or a path is of a library or the runtime.
pub(crate) fn is_library(text: &str) -> bool {
    if text.starts_with("... ") || text.contains("(internal/") {
        return true;
    }
    let bytes = text.as_bytes();
    let mut before = b' ';
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(before, b' ' | b'/' | b'(' | b'<' | b'"' | b'\\') {
            let rest = bytes.get(at..).unwrap_or_default();
            if LIBRARIES.begins(rest) {
                return true;
            }
        }
        before = *byte;
    }
    false
}

/// Whether a line names an exception or its cause: `a.b.XException: …`, `Caused by: …`, `panic: …`.
pub(crate) fn is_head(line: &str) -> bool {
    let text = line.trim_start();
    if OPENINGS.begins(text.as_bytes()) || text.starts_with("==") && text.contains("ERROR:") {
        return true;
    }
    let text = text.trim_start_matches(['|', '+', '-', ' ']);
    // Ruby names the type last.
    if let Some((_, name)) = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("))
        && text.contains(":in ")
        && is_type(name)
    {
        return true;
    }
    let name = text.split([':', ' ', '(']).next().unwrap_or("");
    let rest = text.get(name.len()..).unwrap_or("");
    is_type(name) && (rest.is_empty() || rest.starts_with([':', '(']) || rest.starts_with(" ["))
}

/// The name of an exception's type, with its packages.
fn is_type(name: &str) -> bool {
    let last = name.rsplit(['.', '$', '\\']).next().unwrap_or("");
    last.starts_with(|c: char| c.is_ascii_uppercase())
        && THROWN.all().iter().any(|end| last.ends_with(end))
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'$' | b'_' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_many_languages_are_known() {
        let own = [
            "\tat com.acme.Shop.order(Shop.java:12)",
            "    at order (/srv/app/shop.js:3:9)",
            "    at /srv/app/shop.js:3:9",
            "  File \"/srv/app/shop.py\", line 3, in order",
            "   7: shop::order",
            "             at ./src/shop.rs:3:9",
            "main.order(0xc000012345, 0x3)",
            "\t/srv/app/shop.go:3 +0x1d",
            "#1  0x0000555555555149 in order (n=3) at shop.c:3",
            "    #1 0x4f5 in order /srv/app/shop.c:3:9",
            "   at Acme.Shop.Order(Int32 n) in /srv/app/Shop.cs:line 3",
        ];
        for line in own {
            assert_eq!(frame_owner(line), Some(FrameOwner::Own), "{line}");
        }
        let library = [
            "\tat java.base/java.lang.Thread.run(Thread.java:840)",
            "\tat org.springframework.web.Filter.doFilter(Filter.java:1)",
            "\t... 19 more",
            "    at Module._compile (node:internal/modules/cjs/loader:1:2)",
            "    at f (/srv/app/node_modules/x/y.js:1:2)",
            "  File \"/usr/lib/python3.11/json/decoder.py\", line 1, in decode",
            "   1: core::panicking::panic_fmt",
            "             at /rustc/abc/library/core/src/panicking.rs:1:2",
            "\t/usr/local/go/src/net/http/server.go:1 +0x1d",
            "   at System.String.Substring(Int32 start)",
        ];
        for line in library {
            assert_eq!(frame_owner(line), Some(FrameOwner::Library), "{line}");
        }
        for line in [
            "at last",
            "a.b.CException: gone",
            "plain words",
            "  12 files",
            "f(x)",
            "1: one",
            "(a)",
            "at (",
            "# 1 title",
        ] {
            assert_eq!(frame_owner(line), None, "{line}");
        }
    }

    #[test]
    fn heads_name_a_type_or_a_cause() {
        for line in [
            "java.lang.IllegalStateException: no",
            "Caused by: a.b.C: no",
            "ValueError: no",
            "KeyError",
            "TypeError [ERR_X]: no",
            "thread 'main' (12) panicked at src/a.rs:1:2:",
            "panic: no",
            "==12==ERROR: AddressSanitizer: heap-use-after-free",
        ] {
            assert!(is_head(line), "{line}");
        }
        for line in ["an Error here", "error: no", "    return x", "Errors: 3", "ImportError while importing"]
        {
            assert!(!is_head(line), "{line}");
        }
    }
}

//! Lines of stack traces, as described in `rules/trace.rules`.

use crate::part::PartOfList;
use crate::rules;
use crate::text::word_list::WordList;

/// Places of libraries and runtimes, and the names of their packages.
static LIBRARIES: WordList = WordList::new("libraries");

/// The owner of the code in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameOwner {
    /// The caller's own code, as far as paths and packages show.
    Own,
    /// Code of a library or the runtime.
    Library,
}

/// Returns the owner of the frame that a line describes, if it describes one. The source text that Python prints
/// under a frame does not describe a frame, because it has no place.
pub(crate) fn frame_owner(line: &str) -> Option<FrameOwner> {
    // A group of exceptions is drawn with bars before its frames.
    let text = line.trim_start_matches([' ', '\t', '|']);
    // A frame is indented or numbered, or is a call.
    if text.len() == line.len()
        && !line.starts_with('#')
        && !line.ends_with(')')
        && !line.starts_with("created")
    {
        return None;
    }
    let is_frame = rules::frames().class(line) == Some(true);
    is_frame.then(|| if is_library(text) { FrameOwner::Library } else { FrameOwner::Own })
}

/// Returns whether a frame or a path belongs to a library or the runtime.
pub(crate) fn is_library(text: &str) -> bool {
    if text.starts_with("... ") || text.contains("(internal/") {
        return true;
    }
    let bytes = text.as_bytes();
    let mut before = b' ';
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(before, b' ' | b'/' | b'(' | b'<' | b'"' | b'\\') {
            let rest = bytes.part(at..);
            if LIBRARIES.begins(rest) {
                return true;
            }
        }
        before = *byte;
    }
    false
}

/// Returns whether a line names an exception or its cause: `a.b.XException: …`, `Caused by: …`, `panic: …`.
pub(crate) fn is_head(line: &str) -> bool {
    rules::heads().class(line).is_some()
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

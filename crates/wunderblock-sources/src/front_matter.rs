//! Front matter: YAML between two lines of `---` at the beginning of a file.

use crate::limits::MAX_FRONT_MATTER;
use serde::de::DeserializeOwned;

/// A text with its parsed front matter.
pub(super) struct Fronted<'a, T> {
    /// Content of the front matter; the default if the text has none.
    pub(super) front: T,
    /// Text after the front matter.
    pub(super) body: &'a str,
    /// Number of lines before `body`.
    pub(super) lines: u64,
}

/// Front matter that cannot be read.
#[derive(Debug)]
pub(super) struct BadFront {
    /// Line of the file.
    pub(super) line: u64,
    /// Description of the problem.
    pub(super) detail: String,
}

/// Reads the front matter of a text. Unknown fields are ignored.
///
/// # Errors
/// Fails if the front matter is not closed, is too long, is not YAML, or has fields of other types.
pub(super) fn read<T: DeserializeOwned + Default>(text: &str) -> Result<Fronted<'_, T>, BadFront> {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return Ok(Fronted { front: T::default(), body: text, lines: 0 });
    };
    let (mut end, mut count) = (first.len(), 1);
    for line in lines {
        count += 1;
        if matches!(line.trim_end(), "---" | "...") {
            let yaml = text.get(first.len()..end).unwrap_or_default();
            let body = text.get(end + line.len()..).unwrap_or_default();
            return Ok(Fronted { front: parse(yaml)?, body, lines: count });
        }
        end += line.len();
        if end > MAX_FRONT_MATTER {
            let detail = format!("front matter has more than {MAX_FRONT_MATTER} bytes");
            return Err(BadFront { line: 1, detail });
        }
    }
    Err(BadFront {
        line: 1,
        detail: "front matter begins with --- and is never closed by a line of ---".to_owned(),
    })
}

/// Reads the front matter of a text. Returns its content, and the text after it.
///
/// # Errors
/// Returns the line and the reason if the front matter cannot be read.
pub fn read_front_matter<T: DeserializeOwned + Default>(text: &str) -> Result<(T, &str), (u64, String)> {
    let read = read(text);
    read.map(|fronted| (fronted.front, fronted.body)).map_err(|bad| (bad.line, bad.detail))
}

fn parse<T: DeserializeOwned + Default>(yaml: &str) -> Result<T, BadFront> {
    let quiet = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if yaml.lines().all(quiet) {
        return Ok(T::default());
    }
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(yaml, options).map_err(|error| {
        let line = error.location().map_or(1, |place| place.line());
        let said = error.to_string();
        let said = said.lines().next().unwrap_or_default();
        // The message counts lines from the beginning of the YAML, so its line number is removed.
        let said = said.rfind(" at line ").and_then(|end| said.get(..end)).unwrap_or(said);
        let said = said.split(", set DuplicateKeyPolicy").next().unwrap_or(said);
        let detail = format!("front matter is not what it should be: {said}");
        // The `---` line precedes the YAML.
        BadFront { line: line.saturating_add(1), detail }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(default)]
    struct Front {
        a: Option<String>,
    }

    #[test]
    fn front_matter_is_read_and_taken_off() {
        let cases = [
            ("text\n", None, "text\n", 0),
            ("---\na: b\n---\ntext\n", Some("b"), "text\n", 3),
            ("---\r\na: \"b: c\"\r\n---\r\ntext\r\n", Some("b: c"), "text\r\n", 3),
            ("---\n---\ntext", None, "text", 2),
            ("---\n# nothing\n---\ntext", None, "text", 3),
            ("--- \na: b\n...\n", Some("b"), "", 3),
            ("----\na: b\n---\n", None, "----\na: b\n---\n", 0),
            ("\n---\na: b\n---\n", None, "\n---\na: b\n---\n", 0),
        ];
        for (text, a, body, lines) in cases {
            let read = read::<Front>(text).unwrap();
            assert_eq!((read.front.a.as_deref(), read.body, read.lines), (a, body, lines), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        let deep = format!("---\nz: {}\n---\n", "[".repeat(20_000));
        let closed = format!("---\nz: {}{}\n---\n", "[".repeat(20_000), "]".repeat(20_000));
        let bomb = format!(
            "---\nx: &x [y{}]\n{}---\n",
            ",y".repeat(99),
            (0..6).map(|at| format!("{at}: &x [{}]\n", "*x,".repeat(99))).collect::<String>()
        );
        let long = format!("---\na: {}\n", "x".repeat(MAX_FRONT_MATTER));
        let cases = [
            ("---\na: b\n", 1),
            ("---\na: b\nb: [c\n---\n", 3),
            ("---\na: b\na: c\n---\n", 3),
            ("---\nb: c\na: [b]\n---\n", 3),
            ("---\na: **/*.rs\n---\n", 2),
            (&deep, 2),
            (&closed, 2),
            (&bomb, 3),
            (&long, 1),
        ];
        for (text, line) in cases {
            let refused = read::<Front>(text).err().unwrap();
            let shown: String = text.chars().take(40).collect();
            assert_eq!(refused.line, line, "{shown:?}: {refused:?}");
            assert!(!refused.detail.contains('\n'), "{refused:?}");
        }
    }
}

//! The syntax of a table of rules: a class and a pattern a line.

/// One line of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pattern<'t> {
    pub(super) class: &'t str,
    /// The regular expression, names replaced.
    pub(super) regex: String,
}

/// The patterns of a table, in order. `name WORD PATTERN` says what `{WORD}` stands for below it; `#` begins a comment,
/// `[TOOL]` and `runs` belong to [`commands`].
pub(super) fn patterns(table: &str) -> Vec<Pattern<'_>> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut found = Vec::new();
    for (class, rest) in rows(table) {
        let regex = |pattern: &str| {
            names.iter().rev().fold(pattern.to_owned(), |regex, (name, value)| regex.replace(name, value))
        };
        match class {
            "runs" => {}
            "name" => {
                if let Some((name, pattern)) = rest.split_once(' ') {
                    let value = regex(pattern.trim_start());
                    names.push((format!("{{{name}}}"), value));
                }
            }
            class => found.push(Pattern { class, regex: regex(rest) }),
        }
    }
    found
}

/// The commands that the tables name.
pub(super) fn commands(table: &str) -> impl Iterator<Item = &str> {
    rows(table).filter(|(class, _)| *class == "runs").flat_map(|(_, rest)| rest.split(", "))
}

/// The first word of each line that is neither empty, a comment nor a heading, and what follows it.
fn rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = table.lines().filter(|line| !line.starts_with(['#', '[']));
    lines.filter_map(|line| line.split_once(' ')).map(|(class, rest)| (class, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_patterns() {
        let table = "# words\nname n  [0-9]+\nname place  \\S+:{n}\n\n[cc]\nruns cc, c++ -c\nerror  ^{place}: (?<m>.*)\n";
        let found = patterns(table);
        assert_eq!(found, [Pattern { class: "error", regex: "^\\S+:[0-9]+: (?<m>.*)".into() }]);
        assert_eq!(commands(table).collect::<Vec<_>>(), ["cc", "c++ -c"]);
    }
}

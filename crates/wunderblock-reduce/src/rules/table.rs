//! The syntax of a table of rules: a class and a pattern per line.

/// One line of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pattern<'t> {
    pub(super) class: &'t str,
    /// Regular expression, with names replaced.
    pub(super) regex: String,
}

/// A section of a table, which describes one tool.
#[derive(Debug, Default)]
pub(super) struct ToolTable<'t> {
    pub(super) name: &'t str,
    /// Commands whose output the section describes.
    pub(super) runs: Vec<&'t str>,
    /// Description that marks use for what is left out.
    pub(super) says: &'t str,
    /// Minimum number of cues, minimum share of matching lines (in per cent), and the vote for the tool.
    pub(super) takes: [usize; 3],
    pub(super) patterns: Vec<Pattern<'t>>,
}

/// Returns the sections of a table, in order. `name WORD PATTERN` defines `{WORD}` for the lines below it. `#` begins
/// a comment, and `[TOOL]` begins a section.
pub(super) fn tools(table: &str) -> Vec<ToolTable<'_>> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut tools: Vec<ToolTable<'_>> = vec![ToolTable::default()];
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            tools.push(ToolTable { name, ..ToolTable::default() });
        }
        let (Some((class, rest)), Some(tool)) = (line.split_once(' '), tools.last_mut()) else { continue };
        let rest = rest.trim_start();
        let regex = |pattern: &str| {
            names.iter().rev().fold(pattern.to_owned(), |regex, (name, value)| regex.replace(name, value))
        };
        match (class, rest.split_once(' ')) {
            ("runs", _) => tool.runs = rest.split(", ").collect(),
            ("says", _) => tool.says = rest,
            ("takes", _) => {
                tool.takes
                    .iter_mut()
                    .zip(rest.split(' '))
                    .for_each(|(count, word)| *count = word.parse().unwrap_or(0));
            }
            ("name", Some((name, pattern))) => {
                let value = regex(pattern.trim_start());
                names.push((format!("{{{name}}}"), value));
            }
            (class, _) if !class.starts_with('[') => {
                tool.patterns.push(Pattern { class, regex: regex(rest) })
            }
            _ => {}
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_expanded_to_patterns() {
        let table = "# words\nname n  [0-9]+\nname place  \\S+:{n}\n\n[cc]\nruns cc, c++ -c\nerror  ^{place}: (?<m>.*)\n";
        let found: Vec<_> = tools(table).into_iter().flat_map(|tool| tool.patterns).collect();
        assert_eq!(found, [Pattern { class: "error", regex: "^\\S+:[0-9]+: (?<m>.*)".into() }]);
        let cc = tools(table).pop().unwrap();
        assert_eq!((cc.name, cc.runs), ("cc", vec!["cc", "c++ -c"]));
    }
}

//! The layout of white space in a document. Only the layouts that programs write are supported.
//!
//! ```text
//! (nothing)    no white space
//! spaced       `", "` and `": "`, on one line
//! indent=2     each member on its own line, one indent deeper, and `": "`; `indent=t` is a tab
//! lines        a document per line        rows    the items of an array, one per line
//! cut=3        the outermost three containers that are open at the end are not closed
//! ```
//! A document in another layout is not encoded. In a document that is not encoded, omissions are cut out of the text.

use super::tree::{JsonTree, JsonType};
use crate::part::PartOfText;
use crate::result::sink::TextSink;

/// How the members of the outermost container are separated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RootMembers {
    #[default]
    AsOthers,
    /// Each member is on its own line, without brackets or commas.
    Lines,
    /// Each on its own line.
    Rows,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JsonLayout {
    /// Indent of one level. `None` if everything is on one line.
    indent: Option<String>,
    spaced: bool,
    root: RootMembers,
    /// Number of containers that a cut left open.
    open: usize,
}

impl JsonLayout {
    /// Returns the layout of a document, if it is one that programs write.
    pub(super) fn of(tree: &JsonTree<'_>) -> Option<Self> {
        let mut layout = Self { open: tree.open.len(), ..Self::default() };
        let between = |at: usize| {
            let mut children = tree.children(at);
            let (first, second) = (children.next()?, children.next());
            let open = tree.text.part(tree.span(at).start + 1..tree.member(first));
            let end = second.map(|second| tree.text.part(tree.span(first).end..tree.member(second)));
            Some((open, end))
        };
        let mut inner = 0;
        if tree.lines {
            layout.root = RootMembers::Lines;
            inner = tree.children(0).find(|at| tree.is_container(*at) && !tree.is_empty(*at))?;
        } else if between(0)? == ("", Some(",\n")) {
            layout.root = RootMembers::Rows;
            inner = 1;
        }
        layout.indent = between(inner).and_then(|(open, _)| open.strip_prefix('\n')).map(str::to_owned);
        let colon = (inner..tree.nodes.len()).find(|at| !tree.key(*at).is_empty());
        layout.spaced = layout.indent.is_none()
            && match colon {
                Some(at) => {
                    tree.text.get(tree.member(at) + tree.key(at).len()..tree.span(at).start) == Some(": ")
                }
                None => between(inner).is_some_and(|(_, sep)| sep == Some(", ")),
            };
        let span = tree.span(0);
        // Only a layout that reproduces the source exactly is used.
        layout.print(tree, &mut TextSink::comparing(tree.text.get(span)?))?;
        Some(layout)
    }

    /// Returns the layout as the arguments of an encoded block.
    pub(super) fn args(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        match self.root {
            RootMembers::AsOthers => {}
            RootMembers::Lines => words.push("lines".into()),
            RootMembers::Rows => words.push("rows".into()),
        }
        if self.spaced {
            words.push("spaced".into());
        }
        match self.indent.as_deref() {
            Some(indent) if indent.bytes().all(|byte| byte == b' ') => {
                words.push(format!("indent={}", indent.len()))
            }
            Some(tabs) => words.push(format!("indent={}", "t".repeat(tabs.len()))),
            None => {}
        }
        if self.open > 0 {
            words.push(format!("cut={}", self.open));
        }
        words.join(" ")
    }

    /// Parses the layout from the arguments of an encoded block.
    pub(super) fn read(args: &str) -> Option<Self> {
        let mut layout = Self::default();
        for word in args.split(' ').filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                None if word == "lines" => layout.root = RootMembers::Lines,
                None if word == "rows" => layout.root = RootMembers::Rows,
                None if word == "spaced" => layout.spaced = true,
                Some(("cut", open)) => layout.open = open.parse().ok()?,
                Some(("indent", unit)) => {
                    let spaces = unit.parse::<usize>().map(|count| " ".repeat(count.min(64)));
                    layout.indent = Some(spaces.unwrap_or_else(|_| "\t".repeat(unit.len())));
                }
                _ => return None,
            }
        }
        Some(layout)
    }

    pub(super) fn is_lines(&self) -> bool {
        self.root == RootMembers::Lines
    }

    /// Returns whether there is no white space between values and all containers are closed.
    pub(super) fn is_compact(&self) -> bool {
        self.indent.is_none() && !self.spaced && self.open == 0 && self.root != RootMembers::Rows
    }

    /// Writes the document in this layout. Returns `None` if the document does not fit: indentation grows with the
    /// depth.
    pub(super) fn print(&self, tree: &JsonTree<'_>, out: &mut TextSink<'_>) -> Option<()> {
        let mut open: Vec<(usize, &str)> = Vec::new();
        let mut first = true;
        for at in 0..tree.nodes.len() {
            first &= !self.close(&mut open, at, 0, out)?;
            if at > 0 {
                self.separate(open.len(), first, out)?;
            }
            first = false;
            let key = tree.key(at);
            if !key.is_empty() {
                out.push(key)?;
                out.push(if self.spaced || self.indent.is_some() { ": " } else { ":" })?;
            }
            if !tree.is_container(at) || tree.is_empty(at) {
                out.push(tree.source(at))?;
                continue;
            }
            let (bracket, close) = match tree.kind(at) {
                _ if at == 0 && self.is_lines() => ("", ""),
                JsonType::Object => ("{", "}"),
                _ => ("[", "]"),
            };
            out.push(bracket)?;
            open.push((tree.node(at).next as usize, close));
            first = true;
        }
        self.close(&mut open, usize::MAX, self.open, out)?;
        Some(())
    }

    /// Writes the text that precedes a member: a comma after another member, and white space.
    fn separate(&self, depth: usize, first: bool, out: &mut TextSink<'_>) -> Option<()> {
        let on_line = depth == 1 && self.root != RootMembers::AsOthers;
        if !(first || on_line && self.is_lines()) {
            out.push(",")?;
        }
        if on_line {
            out.push(if first { "" } else { "\n" })
        } else if self.indent.is_some() {
            self.line(depth, out)
        } else {
            out.push(if self.spaced && !first { " " } else { "" })
        }
    }

    /// Closes the containers that end before a node, except for the `keep` outermost ones. Returns whether any
    /// container ended.
    fn close(
        &self,
        open: &mut Vec<(usize, &str)>,
        at: usize,
        keep: usize,
        out: &mut TextSink<'_>,
    ) -> Option<bool> {
        let before = open.len();
        while let Some((_, close)) = open.pop_if(|(end, _)| *end <= at) {
            if open.len() < keep {
                continue;
            }
            let on_line = open.is_empty() && self.root != RootMembers::AsOthers;
            if self.indent.is_some() && !on_line {
                self.line(open.len(), out)?;
            }
            out.push(close)?;
        }
        Some(open.len() < before)
    }

    fn line(&self, depth: usize, out: &mut TextSink<'_>) -> Option<()> {
        out.push("\n")?;
        let outer = usize::from(self.root != RootMembers::AsOthers);
        (outer..depth).try_for_each(|_| out.push(self.indent.as_deref().unwrap_or("")))
    }
}

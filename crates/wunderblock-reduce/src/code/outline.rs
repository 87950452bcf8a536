//! Outlines a source by its syntax: signatures, types, imports and constants form its frame, and bodies form its
//! context.

use super::language::SourceLanguage;
use super::line_worth::LineWorths;
use crate::lines::TextLines;

/// Ranks lines by the syntax tree of their text. Returns `false` if there is no grammar or the parse fails.
#[cfg(not(feature = "syntax"))]
pub(super) fn rank_lines(
    _lines: &TextLines<'_>,
    _language: SourceLanguage,
    _painted: &mut LineWorths,
) -> bool {
    false
}

#[cfg(feature = "syntax")]
pub(super) use parsed::rank_lines;

#[cfg(feature = "syntax")]
mod parsed {
    use std::ops::{ControlFlow, Range};

    use tree_sitter::{InputEdit, Node, ParseOptions, ParseState, Parser, Point, Tree};

    use super::*;
    use crate::code::line_worth::LineWorth;
    use crate::code::roles::{self, NodeRole};
    use crate::part::{PartOfList, PartOfText};
    use crate::span::Rank;

    /// Maximum number of lines in a list of values that stays whole. Only the first and last lines of a longer list
    /// stay.
    const DATA_LINES: usize = 30;

    /// Maximum number of lines in a short body. Short bodies are kept before longer ones.
    const MAX_SHORT_BODY: usize = 6;
    /// Maximum number of lines shown from the header of a definition.
    const MAX_HEADER_LINES: usize = 16;
    /// Maximum depth at which the contents of anonymous functions are outlined.
    const MAX_OPENED_DEPTH: u16 = 8;
    /// Minimum number of bytes of source per progress report of the parser. The parser reports after equal amounts of
    /// work, and a parse that reports more often than the size of its source allows is stopped.
    const BYTES_PER_STEP: usize = 4;
    /// Number of progress reports that any parse may make, whatever the size of its source.
    const MIN_STEPS: usize = 10_000;

    /// Ranks lines by the syntax tree of their text. Returns `false` if there is no grammar or the parse fails.
    pub(in super::super) fn rank_lines(
        lines: &TextLines<'_>,
        language: SourceLanguage,
        worths: &mut LineWorths,
    ) -> bool {
        let Some(tree) = parse(lines.text(), language) else { return false };
        let grammar = tree.language();
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let role = |id| match grammar.node_kind_for_id(id) {
            Some(kind) if grammar.node_kind_is_named(id) => roles::role_of(kind),
            _ => NodeRole::None,
        };
        let roles = (0..count).map(role).collect();
        let scope = OutlineScope { end: usize::MAX, depth: 0, inside: Nesting::Top };
        let remarks = vec![false; lines.len()];
        let mut walk =
            OutlineWalk { lines, language, roles, worths, scopes: vec![scope], remarks, checked: 0 };
        if !walk.all(&tree) {
            return false;
        }
        walk.docs();
        true
    }

    fn parse(text: &str, language: SourceLanguage) -> Option<Tree> {
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()?).ok()?;
        let max_steps = text.len() / BYTES_PER_STEP + MIN_STEPS;
        let mut steps = 0;
        let mut progress = |_: &ParseState| {
            steps += 1;
            if steps > max_steps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let opening = language.opening(text);
        // The parser reads the opening and then the text, as if they were one source.
        let mut read = |at: usize, _| match opening.get(at..) {
            Some(rest) if !rest.is_empty() => rest.as_bytes(),
            _ => text.as_bytes().part(at - opening.len()..),
        };
        let mut tree = parser.parse_with_options(&mut read, None, Some(options))?;
        if !opening.is_empty() {
            // Remove the opening from the tree, so that its nodes have their positions in the text.
            let (start_position, old_end_position) = (Point::new(0, 0), Point::new(1, 0));
            tree.edit(&InputEdit {
                start_byte: 0,
                old_end_byte: opening.len(),
                new_end_byte: 0,
                start_position,
                old_end_position,
                new_end_position: start_position,
            });
        }
        Some(tree)
    }

    /// The position of a node in the nesting of definitions.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Nesting {
        Top,
        Opened,
        Function,
    }

    struct OutlineScope {
        end: usize,
        depth: u16,
        inside: Nesting,
    }

    struct OutlineWalk<'w, 't> {
        lines: &'w TextLines<'t>,
        language: SourceLanguage,
        roles: Vec<NodeRole>,
        worths: &'w mut LineWorths,
        scopes: Vec<OutlineScope>,
        /// For each line, whether it contains nothing but a comment.
        remarks: Vec<bool>,
        /// End (in bytes) of the last list examined, so that each byte is examined once.
        checked: usize,
    }

    impl<'t> OutlineWalk<'_, 't> {
        /// Visits every node, parents first, without recursion. Returns `false` if too much of the tree is broken.
        fn all(&mut self, tree: &Tree) -> bool {
            let root = tree.root_node();
            if root.is_error() {
                return false;
            }
            self.docstring(root);
            let mut cursor = root.walk();
            let (mut nodes, mut errors) = (1u32, 0u32);
            if !cursor.goto_first_child() {
                return false;
            }
            loop {
                let node = cursor.node();
                nodes += 1;
                errors += u32::from(node.is_error() || node.is_missing());
                self.visit(node);
                if cursor.goto_first_child() {
                    continue;
                }
                while !cursor.goto_next_sibling() {
                    if !cursor.goto_parent() {
                        return u64::from(errors) * 5 <= u64::from(nodes);
                    }
                }
            }
        }

        fn visit(&mut self, node: Node<'_>) {
            if !node.is_named() {
                return;
            }
            let role = self.roles.get(usize::from(node.kind_id())).copied().unwrap_or(NodeRole::None);
            if role == NodeRole::None {
                return;
            }
            let start = node.start_byte();
            while self.scopes.last().is_some_and(|scope| scope.end <= start) {
                self.scopes.pop();
            }
            let (depth, inside) =
                self.scopes.last().map_or((0, Nesting::Top), |scope| (scope.depth, scope.inside));
            let rows = line_range(node);
            let deep = 10 * depth.min(20);
            match role {
                NodeRole::None => {}
                NodeRole::Comment => self.comment(node, rows),
                NodeRole::Literal => self.literal(node, rows),
                _ if inside == Nesting::Function => match role {
                    NodeRole::Function | NodeRole::Container => {
                        let first = rows.start..rows.start + 1;
                        self.headline(first.clone());
                        self.worths.raise(first, LineWorth::frame(380));
                    }
                    _ => {}
                },
                NodeRole::Import => self.worths.raise(rows, LineWorth::frame(500)),
                NodeRole::Annotation => self.worths.raise(rows.start..rows.start + 1, LineWorth::frame(300)),
                NodeRole::Container => self.container(node, rows, depth),
                NodeRole::Type => {
                    self.headline(rows.start..rows.start + 1);
                    self.worths.raise(rows.clone(), LineWorth::frame(640));
                    self.worths.raise(rows.start..rows.start + 1, LineWorth::frame(850 - deep));
                }
                NodeRole::Field => {
                    let shown = rows.start..rows.end.min(rows.start + 4);
                    self.worths.raise(shown, LineWorth::frame(650 - deep));
                }
                NodeRole::Constant => self.constant(node, rows, inside),
                NodeRole::Function => self.function(node, rows, depth),
                NodeRole::Macro => self.function(node, rows, depth),
                NodeRole::Anonymous => self.anonymous(node, rows, depth),
            }
        }

        fn comment(&mut self, node: Node<'_>, rows: Range<usize>) {
            let before = self.lines.get(rows.start).get(..node.start_position().column);
            if before.is_some_and(|before| before.trim().is_empty())
                && let Some(remarks) = self.remarks.get_mut(rows.start..rows.end.min(self.lines.len()))
            {
                remarks.fill(true);
            }
        }

        /// Returns the lines of a definition up to where its body opens.
        fn header(&self, node: Node<'_>, rows: &Range<usize>) -> Range<usize> {
            let Some(body) = node.child_by_field_name("body") else { return rows.start..rows.start + 1 };
            let opens = body.start_position().row;
            let braced =
                self.lines.text().as_bytes().get(body.start_byte()).is_some_and(|byte| b"{=".contains(byte));
            let end = if braced || opens == rows.start { opens + 1 } else { opens };
            rows.start..end.min(rows.start + MAX_HEADER_LINES).min(rows.end).max(rows.start + 1)
        }

        fn container(&mut self, node: Node<'_>, rows: Range<usize>, depth: u16) {
            let Some(body) = node.child_by_field_name("body") else {
                // A C type specifier without a body (`struct pump *p`) uses the type and does not define it.
                if !node.kind().ends_with("specifier") {
                    self.headline(rows.start..rows.start + 1);
                    self.worths.raise(rows.start..rows.end.min(rows.start + 4), LineWorth::frame(700));
                }
                return;
            };
            let header = self.header(node, &rows);
            let deep = 10 * depth.min(20);
            self.headline(header.clone());
            self.worths.raise(header, LineWorth::frame(950 - deep));
            self.docstring(body);
            let inside = self.scopes.last().map_or(Nesting::Top, |scope| scope.inside);
            self.scopes.push(OutlineScope { end: node.end_byte(), depth: depth + 1, inside });
        }

        fn constant(&mut self, node: Node<'_>, rows: Range<usize>, inside: Nesting) {
            if inside == Nesting::Opened {
                self.worths.raise(rows.start..rows.start + 1, LineWorth::context(230));
                return;
            }
            let whole = rows.len() <= 4;
            let shown = if whole { rows.clone() } else { rows.start..rows.start + 1 };
            self.worths.raise(shown, LineWorth::frame(600));
            if !whole {
                let rest = rows.start + 1..rows.end;
                self.worths.set(rest.clone(), LineWorth::context(150));
                if let Some(name) = self.name(node) {
                    self.worths.describe(rest, format!("value of {name}"));
                }
            }
        }

        fn function(&mut self, node: Node<'_>, rows: Range<usize>, depth: u16) {
            let name = self.name(node);
            let header = self.header(node, &rows);
            let first = self.lines.get(rows.start).trim_start();
            let public = self.is_public(first, name);
            let deep = 5 * depth.min(20);
            self.headline(header.clone());
            self.worths.raise(header.clone(), LineWorth::frame(if public { 850 } else { 700 } - deep));
            self.body(header.end..rows.end, name);
            if let Some(body) = node.child_by_field_name("body") {
                self.docstring(body);
            }
            self.scopes.push(OutlineScope {
                end: node.end_byte(),
                depth: depth + 1,
                inside: Nesting::Function,
            });
        }

        fn headline(&mut self, header: Range<usize>) {
            let line = self.lines.get(header.start);
            self.worths.headline(header, line);
        }

        fn body(&mut self, rows: Range<usize>, name: Option<&str>) {
            if rows.is_empty() {
                return;
            }
            if rows.len() <= MAX_SHORT_BODY {
                self.worths.set(rows.clone(), LineWorth::context(400));
            } else {
                self.worths.set(rows.start..rows.start + 2, LineWorth::context(300));
                self.worths.set(rows.start + 2..rows.end, LineWorth::context(100));
            }
            self.worths.describe(rows, format!("body of {}", name.unwrap_or("a function")));
        }

        fn anonymous(&mut self, node: Node<'_>, rows: Range<usize>, depth: u16) {
            if rows.len() <= 3 {
                return;
            }
            let named = node.parent().filter(|parent| {
                matches!(
                    parent.kind(),
                    "variable_declarator"
                        | "pair"
                        | "assignment_expression"
                        | "field_definition"
                        | "public_field_definition"
                )
            });
            let deep = 20 * depth.min(15);
            if let Some(named) = named {
                let name = self.name(named);
                let header = self.header(node, &rows);
                self.headline(header.clone());
                self.worths.raise(header.clone(), LineWorth::frame(800 - deep));
                self.body(header.end..rows.end, name);
                self.scopes.push(OutlineScope {
                    end: node.end_byte(),
                    depth: depth + 1,
                    inside: Nesting::Function,
                });
                return;
            }
            let inside = if depth < MAX_OPENED_DEPTH { Nesting::Opened } else { Nesting::Function };
            self.worths.raise(rows.start..rows.start + 1, LineWorth::frame(460 - deep));
            self.worths.set(rows.start + 1..rows.end, LineWorth::context(110));
            self.scopes.push(OutlineScope { end: node.end_byte(), depth: depth + 1, inside });
        }

        /// Ranks a long list of values as filler, except its first and last lines, which show what the list contains.
        fn literal(&mut self, node: Node<'_>, rows: Range<usize>) {
            if rows.len() <= DATA_LINES || node.start_byte() < self.checked {
                return;
            }
            self.checked = node.end_byte();
            if is_data(node, self.lines.text()) {
                let within = rows.start + 3..rows.end - 2;
                self.worths.set(within.clone(), LineWorth::FILLER);
                self.worths.describe(within, "literal data".to_owned());
            }
        }

        /// Gives the documentation string at the head of a Python body a low score, except its first line of text.
        fn docstring(&mut self, body: Node<'_>) {
            if self.language != SourceLanguage::Python {
                return;
            }
            let Some(first) = body.named_child(0).filter(|first| first.kind() == "expression_statement")
            else {
                return;
            };
            let Some(string) = first.named_child(0).filter(|string| string.kind() == "string") else {
                return;
            };
            let rows = line_range(string);
            self.worths.set(rows.clone(), LineWorth::context(120));
            let says = rows.clone().find(|row| self.lines.get(*row).contains(char::is_alphabetic));
            if let Some(row) = says {
                self.worths.set(row..row + 1, LineWorth::frame(420));
            }
        }

        /// Ranks comments lower than the code they describe, except the first line of text before a definition.
        fn docs(&mut self) {
            let mut run: Option<usize> = None;
            for (row, remark) in self.remarks.iter().enumerate() {
                if *remark {
                    run.get_or_insert(row);
                    let worth = self.worths.worth(row);
                    // 200 is the score of lines that no definition has ranked.
                    if worth.rank == Rank::Frame || worth.score == 200 {
                        self.worths.set(row..row + 1, LineWorth::context(120));
                    }
                } else if self.worths.worth(row).rank != Rank::Frame {
                    run = None;
                } else if let Some(start) = run.take() {
                    let says = (start..row).find(|at| self.lines.get(*at).contains(char::is_alphanumeric));
                    if let Some(says) = says {
                        self.worths.raise(says..says + 1, LineWorth::frame(420));
                    }
                }
            }
        }

        /// Returns the name that a node defines.
        fn name(&self, node: Node<'_>) -> Option<&'t str> {
            const FIELDS: [&str; 5] = ["name", "declarator", "left", "key", "property"];
            let mut at = node;
            // In C, the name of a declaration is nested in nodes that describe its type.
            for _ in 0..8 {
                let next = FIELDS.iter().find_map(|field| at.child_by_field_name(field));
                let Some(next) =
                    next.or_else(|| at.named_child(0).filter(|child| child.kind().ends_with("declarator")))
                else {
                    break;
                };
                at = next;
            }
            let name = self.lines.text().get(at.byte_range())?.lines().next()?;
            (at.id() != node.id() && name.len() <= 60).then_some(name)
        }

        fn is_public(&self, first: &str, name: Option<&str>) -> bool {
            let name = name.unwrap_or("");
            match self.language {
                SourceLanguage::Rust => first.starts_with("pub"),
                SourceLanguage::Go => name.starts_with(char::is_uppercase),
                SourceLanguage::C => !first.starts_with("static"),
                SourceLanguage::Python | SourceLanguage::JavaScript => !name.starts_with(['_', '#']),
                _ => !first.contains("private ") && !first.contains("protected "),
            }
        }
    }

    /// Returns the lines that a node covers. Some grammars include the newline after a comment in its node.
    fn line_range(node: Node<'_>) -> Range<usize> {
        let (start, end) = (node.start_position(), node.end_position());
        let last = if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row };
        start.row..last + 1
    }

    /// Returns whether a node is data: nearly all its leaves are values, or it is a string with hardly any spaces.
    fn is_data(node: Node<'_>, text: &str) -> bool {
        if node.kind().contains("string") || node.kind().contains("heredoc") {
            let said = text.part(node.byte_range());
            let spaces = said.bytes().filter(|byte| *byte == b' ').count();
            return spaces * 25 < said.len();
        }
        let (mut values, mut others) = (0u64, 0u64);
        let mut cursor = node.walk();
        loop {
            if cursor.goto_first_child() {
                continue;
            }
            let leaf = cursor.node();
            if roles::is_value(leaf.kind(), leaf.is_named()) {
                values += u64::from(leaf.is_named());
            } else {
                others += 1;
            }
            loop {
                if cursor.node().id() == node.id() {
                    return values > 0 && others * 20 <= values;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return values > 0 && others * 20 <= values;
                }
            }
        }
    }
}

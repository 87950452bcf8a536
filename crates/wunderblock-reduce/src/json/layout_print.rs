//! A tree as it was laid out.

use super::layout::{InlineRule, InlineSizes, JsonLayout};
use super::tree::{JsonTree, JsonType};
use crate::sink::TextSink;

/// A container that is being written.
struct OpenContainer<'l> {
    end: usize,
    close: &'static str,
    /// On one line.
    flat: bool,
    /// What stands after its commas and before its end; none where it is broken.
    own: Option<(&'l str, &'l str)>,
    written: usize,
}

impl JsonLayout {
    /// Writes the document as it was laid out. None where there is no room: what is indented grows with its depth.
    pub(super) fn print(&self, tree: &JsonTree<'_>, out: &mut TextSink<'_>) -> Option<()> {
        let needs = |fit| matches!(fit, InlineRule::Width(_) | InlineRule::Height(_));
        let sizes = (needs(self.objects) || needs(self.arrays)).then(|| InlineSizes::of(tree, self));
        let mut open: Vec<OpenContainer<'_>> = Vec::new();
        let (mut decided, mut but) = (0u32, self.but.iter().copied().peekable());
        for at in 0..tree.nodes.len() {
            self.close(&mut open, at, out)?;
            let depth = open.len();
            if let Some(outer) = open.last_mut() {
                if outer.written > 0 && !(self.lines && depth == 1) {
                    out.push(",")?;
                }
                match outer.own {
                    Some((sep, _)) => out.push(if outer.written > 0 { sep } else { "" })?,
                    None => self.line(depth, out)?,
                }
                outer.written += 1;
            }
            let key = tree.key(at);
            if !key.is_empty() {
                out.push(key)?;
                out.push(&self.colon)?;
            }
            if !tree.is_container(at) || tree.is_empty(at) {
                out.push(tree.source(at))?;
                continue;
            }
            let kind = tree.kind(at);
            let own = self.root.as_ref().filter(|_| at == 0);
            let within_flat = open.last().is_some_and(|outer| outer.flat);
            let mut flat = within_flat || self.indent.is_none();
            if own.is_none() && !flat {
                flat = self.is_one_line(tree, sizes.as_ref(), at);
                if but.next_if_eq(&decided).is_some() {
                    flat = !flat;
                }
                decided += 1;
            }
            let (bracket, close) = match kind {
                _ if self.lines && at == 0 => ("", ""),
                JsonType::Object => ("{", "}"),
                _ => ("[", "]"),
            };
            out.push(bracket)?;
            let pad = self.pad(kind);
            let spaces = match own {
                Some([first, sep, last]) => {
                    out.push(first)?;
                    Some((sep.as_str(), last.as_str()))
                }
                None if flat => {
                    out.push(pad)?;
                    Some((self.sep.as_str(), pad))
                }
                None => None,
            };
            let flat = flat && own.is_none();
            open.push(OpenContainer {
                end: tree.node(at).next as usize,
                close,
                flat,
                own: spaces,
                written: 0,
            });
        }
        self.close(&mut open, usize::MAX, out)
    }

    fn close(&self, open: &mut Vec<OpenContainer<'_>>, at: usize, out: &mut TextSink<'_>) -> Option<()> {
        while let Some(outer) = open.pop_if(|outer| outer.end <= at) {
            match outer.own {
                Some((_, last)) => out.push(last)?,
                None => self.line(open.len(), out)?,
            }
            out.push(outer.close)?;
        }
        Some(())
    }

    fn line(&self, depth: usize, out: &mut TextSink<'_>) -> Option<()> {
        out.push(&self.newline)?;
        (0..depth).try_for_each(|_| out.push(self.indent.as_deref().unwrap_or("")))
    }
}

//! Describes a node and the nodes beneath it.

use super::grid::{Grid, HEAD};
use super::node::{Graph, GraphNode, LoadedNode};
use super::place::{GraphPlace, find_place};
use super::token_line::TokenLine;
use crate::base::error::Error;
use crate::base::hint::Hint;
use crate::ledger::engine::Engine;
use crate::ledger::reading::address::Address;
use crate::limits::EXPAND_TOKENS;
use serde::Serialize;
use std::collections::BTreeSet;
use wunderblock_core::units::{Bytes, Seq, Tokens};

/// A node, its text, and the nodes beneath it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// The node.
    pub node: GraphNode,
    /// Text of the node; `None` if it is unavailable or erased.
    pub text: Option<String>,
    /// Cost of expanding the node.
    pub expand: ReadingCost,
    /// Nodes beneath this one at all depths, each followed by its own children.
    pub subtree: Vec<ChildNode>,
    /// Number of further nodes that are not listed.
    pub more: u64,
}

/// A node beneath another node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChildNode {
    /// Depth below the described node; 1 for its direct children.
    pub depth: u64,
    /// Address of the node.
    pub address: String,
    /// Position of the node's event.
    pub seq: Seq,
    /// Level of the node.
    pub level: u32,
    /// First position that the node covers.
    pub from: Seq,
    /// Last position that the node covers.
    pub to: Seq,
    /// Number of messages that the node covers.
    pub messages: u64,
    /// Number of tokens in the node's text (o200k).
    pub tokens: Tokens,
    /// Cost of expanding the node.
    pub expand: ReadingCost,
    /// First line of the node's text that has content.
    pub title: String,
}

/// Cost of reading a node's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReadingCost {
    /// Number of tokens on all pages (o200k), without marks; `None` if the ledger has not counted that far yet.
    pub tokens: Option<Tokens>,
    /// Number of pages of [`EXPAND_TOKENS`] tokens; `None` if unknown.
    pub pages: Option<u64>,
}

/// Maximum size of the text counted for a description.
const COUNTED: Bytes = Bytes(16 << 20);
/// Maximum number of listed nodes beneath a node.
const LISTED: usize = 200;

pub(crate) async fn describe(engine: &Engine, address: Address) -> Result<Described, Error> {
    match find_place(engine, address).await? {
        GraphPlace::Node(mut graph, seq) => {
            count_beneath(engine, &mut graph, seq).await?;
            Ok(graph.described(graph.node(seq)?))
        }
        GraphPlace::Range(graph, from, to) => Err(graph.no_node(from, to)),
        GraphPlace::Body(handle) => Err(Error::OtherAddress {
            why: format!("{handle} is not the text of a summary"),
            hint: Hint::Expand { address: handle.to_string() },
        }),
    }
}

/// Counts the tokens covered by a node and the nodes beneath it, up to a limit, if the ledger has not counted them
/// yet.
async fn count_beneath(engine: &Engine, graph: &mut Graph, seq: Seq) -> Result<(), Error> {
    let (mut open, mut seen, mut left) = (vec![seq], BTreeSet::new(), COUNTED);
    while let Some(seq) = open.pop() {
        let Some(known) = graph.nodes.get(&seq).filter(|_| seen.insert(seq)) else { continue };
        open.extend(&known.node.sources);
        let (from, to, length) = (known.node.from, known.node.to, known.length);
        // Expanding a summary of summaries shows its sources, so its range is not counted.
        if known.covered.is_some() || !known.node.sources.is_empty() || length > left || from > to {
            continue;
        }
        left = left.saturating_sub(length);
        let marks = known.node.messages.saturating_mul(HEAD);
        let line = TokenLine::of(engine, &graph.stream.id, from, to.min(graph.stream.head)).await?;
        let covered = Tokens(line.length.saturating_sub(marks));
        if let Some(known) = graph.nodes.get_mut(&seq) {
            known.covered = Some(covered);
        }
    }
    Ok(())
}

impl Graph {
    fn described(&self, known: &LoadedNode) -> Described {
        let mut subtree = Vec::new();
        let (mut seen, mut count) = (BTreeSet::from([known.node.seq]), 0_u64);
        let mut open: Vec<(u64, &LoadedNode)> = self.beneath(known, 1);
        while let Some((depth, child)) = open.pop() {
            if !seen.insert(child.node.seq) {
                continue;
            }
            count += 1;
            if subtree.len() < LISTED {
                subtree.push(self.branch(child, depth));
            }
            open.extend(self.beneath(child, depth.saturating_add(1)));
        }
        Described {
            node: known.node.clone(),
            text: known.text.clone(),
            expand: self.reading(known),
            more: count.saturating_sub(subtree.len() as u64),
            subtree,
        }
    }

    /// Returns the direct children of a node in reverse order, because the caller uses a stack.
    fn beneath(&self, known: &LoadedNode, depth: u64) -> Vec<(u64, &LoadedNode)> {
        self.children_of(known).into_iter().rev().filter_map(|child| Some((depth, child.ok()?))).collect()
    }

    fn branch(&self, known: &LoadedNode, depth: u64) -> ChildNode {
        let node = &known.node;
        ChildNode {
            depth,
            address: node.address.clone(),
            seq: node.seq,
            level: node.level,
            from: node.from,
            to: node.to,
            messages: node.messages,
            tokens: known.tokens(),
            expand: self.reading(known),
            title: node.title.clone(),
        }
    }

    /// Returns the cost of expanding a node: the texts of its children, or the messages it covers.
    fn reading(&self, known: &LoadedNode) -> ReadingCost {
        let grid = Grid::of(EXPAND_TOKENS);
        let children = self.children_of(known);
        let (tokens, entries) = if children.is_empty() {
            (known.covered, known.node.messages)
        } else {
            let texts = children.iter().map(|child| child.map_or(Tokens::ZERO, LoadedNode::tokens));
            (Some(texts.sum()), children.len() as u64)
        };
        let length = tokens.map(|tokens| tokens.0.saturating_add(entries.saturating_mul(HEAD)));
        ReadingCost { tokens, pages: length.map(|length| grid.pages(length)) }
    }

    fn no_node(&self, from: Seq, to: Seq) -> Error {
        let range = if from == to { format!("position {from}") } else { format!("positions {from} to {to}") };
        let near = self.nodes.values().filter(|known| known.node.from <= to && from <= known.node.to);
        let near: Vec<String> = near
            .take(3)
            .map(|known| format!("{} ({}–{})", known.node.address, known.node.from, known.node.to))
            .collect();
        let why = if near.is_empty() {
            format!("no summary covers {range}")
        } else {
            format!("no summary covers exactly {range}; part of it is covered by {}", near.join(", "))
        };
        let address = self.stream.handle.range(from, to).to_string();
        Error::OtherAddress { why, hint: Hint::Expand { address } }
    }
}

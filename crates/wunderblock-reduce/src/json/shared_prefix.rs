//! What many addresses in a document begin with, said once.
//!
//! A record of an interface is mostly addresses that begin alike. The beginnings stand in the arguments of the code
//! (`pre=https://api.shop.example/orders|https://shop.example`), and in a string `~1` stands for the first of them.
//! A string that begins with a `~` of its own gets another.

use std::collections::HashMap;

use super::tree::{JsonTree, JsonType};

/// Maximum bytes of a document whose addresses are compared: larger ones are lists, and tables share what the strings
/// of a column share.
const MAX_DOCUMENT_BYTES: usize = 4 << 20;
/// Maximum number of prefixes: one digit names each.
const MAX_PREFIXES: usize = 9;
/// Minimum bytes that a prefix saves.
const MIN_GAIN_BYTES: usize = 40;
/// Maximum number of places at which an address may be cut.
const MAX_CUTS: usize = 10;

/// Maximum number of prefixes that are compared.
const MAX_CANDIDATES: usize = 64;

/// The start of a reference to a prefix.
const SIGN: char = '~';

/// The beginnings that pay, and the document with signs in their place, from its first byte to its last.
pub(super) fn share_prefixes(tree: &JsonTree<'_>) -> Option<(Vec<String>, String)> {
    let span = tree.span(0);
    if span.len() > MAX_DOCUMENT_BYTES {
        return None;
    }
    let texts: Vec<usize> = (0..tree.nodes.len()).filter(|at| tree.kind(*at) == JsonType::Text).collect();
    let addresses: Vec<&str> =
        texts.iter().map(|at| without_quotes(tree.source(*at))).filter(|raw| is_address(raw)).collect();
    let prefixes = choose_prefixes(&addresses);
    if prefixes.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(span.len());
    let mut from = span.start;
    for at in texts {
        let (start, said) = (tree.span(at).start + 1, without_quotes(tree.source(at)));
        let known = prefixes.iter().enumerate().filter(|(_, prefix)| is_under(said, prefix));
        let (sign, length) = match known.max_by_key(|(_, prefix)| prefix.len()) {
            Some((number, prefix)) => (format!("{SIGN}{}", number + 1), prefix.len()),
            None if said.starts_with(SIGN) => (SIGN.to_string(), 0),
            None => continue,
        };
        out.push_str(tree.text.get(from..start)?);
        out.push_str(&sign);
        from = start + length;
    }
    out.push_str(tree.text.get(from..span.end)?);
    Some((prefixes.into_iter().map(str::to_owned).collect(), out))
}

fn without_quotes(source: &str) -> &str {
    source.get(1..source.len().saturating_sub(1)).unwrap_or("")
}

fn is_address(raw: &str) -> bool {
    raw.split_once("://")
        .is_some_and(|(scheme, _)| scheme.len() < 12 && scheme.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// The beginnings that save most, one after the other.
fn choose_prefixes<'t>(addresses: &[&'t str]) -> Vec<&'t str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for prefix in addresses.iter().flat_map(|address| candidate_prefixes(address)) {
        *counts.entry(prefix).or_default() += 1;
    }
    let saves = |prefix: &str| prefix.len() - 2;
    let mut known: Vec<(&str, usize)> = counts.into_iter().filter(|(_, count)| *count > 1).collect();
    known.sort_by_key(|(prefix, count)| (std::cmp::Reverse(saves(prefix) * count), *prefix));
    known.truncate(MAX_CANDIDATES);
    let index: HashMap<&str, usize> =
        known.iter().enumerate().map(|(at, (prefix, _))| (*prefix, at)).collect();
    // Addresses that begin with the same of them, a bit for each: how many, and what each saves already.
    let mut groups: HashMap<u64, (usize, usize)> = HashMap::new();
    for address in addresses {
        let bits = candidate_prefixes(address)
            .filter_map(|prefix| index.get(prefix))
            .fold(0, |bits, at| bits | 1 << at);
        groups.entry(bits).or_default().0 += 1;
    }
    let mut chosen: Vec<&str> = Vec::new();
    while chosen.len() < MAX_PREFIXES {
        let gain = |at: usize, prefix: &str| -> usize {
            let of = groups.iter().filter(|(bits, _)| *bits >> at & 1 == 1);
            of.map(|(_, (count, saved))| count * saves(prefix).saturating_sub(*saved)).sum()
        };
        let gains = known.iter().enumerate().map(|(at, (prefix, _))| (gain(at, prefix), at, *prefix));
        let best =
            gains.max_by_key(|(gain, at, prefix)| (gain.saturating_sub(prefix.len()), usize::MAX - at));
        let Some((_, at, prefix)) = best.filter(|(gain, _, prefix)| *gain > MIN_GAIN_BYTES + prefix.len())
        else {
            break;
        };
        for (_, (_, saved)) in groups.iter_mut().filter(|(bits, _)| *bits >> at & 1 == 1) {
            *saved = (*saved).max(saves(prefix));
        }
        chosen.push(prefix);
    }
    chosen
}

/// Whether an address is one under another.
fn is_under(address: &str, prefix: &str) -> bool {
    address.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
}

/// The prefixes of an address before each `/`, except those that the arguments of a code cannot hold.
fn candidate_prefixes(address: &str) -> impl Iterator<Item = &str> {
    let plain = |c: &char| c.is_ascii_alphanumeric() || "/:.-_@%+=&?,~".contains(*c);
    let end: usize = address.chars().take_while(plain).map(char::len_utf8).sum();
    let head = address.get(..end).unwrap_or("");
    let host = head.find("://").map_or(head.len(), |at| at + "://".len());
    let cuts = head.match_indices('/').map(|(at, _)| at).filter(move |at| *at > host);
    cuts.take(MAX_CUTS).filter_map(|at| head.get(..at))
}

/// The argument of a code.
pub(super) fn prefix_argument(prefixes: &[String]) -> String {
    format!("pre={}", prefixes.join("|"))
}

/// The other arguments, and the beginnings.
pub(super) fn read_argument(args: &str) -> (String, Vec<&str>) {
    let (own, others): (Vec<&str>, Vec<&str>) = args.split(' ').partition(|word| word.starts_with("pre="));
    let prefixes = own.first().and_then(|word| word.strip_prefix("pre="));
    (others.join(" "), prefixes.map(|prefixes| prefixes.split('|').collect()).unwrap_or_default())
}

/// A document with the beginnings in their places again. None where that is more than `room` bytes.
pub(super) fn expand_prefixes(plain: &str, prefixes: &[&str], room: usize) -> Option<String> {
    let tree = JsonTree::whole(plain, 0, true).ok()?;
    let mut out = String::with_capacity(plain.len() * 2);
    let mut from = 0;
    for at in (0..tree.nodes.len()).filter(|at| tree.kind(*at) == JsonType::Text) {
        let Some(said) = without_quotes(tree.source(at)).strip_prefix(SIGN) else { continue };
        let start = tree.span(at).start + 1;
        out.push_str(plain.get(from..start)?);
        from = start + 1;
        if !said.starts_with(SIGN) {
            let digit = said.chars().next()?.to_digit(10)?;
            out.push_str(prefixes.get((digit as usize).checked_sub(1)?)?);
            from += 1;
        }
        if out.len() > room {
            return None;
        }
    }
    out.push_str(plain.get(from..)?);
    Some(out)
}

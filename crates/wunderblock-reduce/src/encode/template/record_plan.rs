//! The choice of templates that pay, and of lines that always follow one another and so are one row.

use super::header::KEYS;
use super::line_shape::{self, LineShape, LineShapes};
use super::line_words::{self, MAX_WORDS};
use super::value_format;
use crate::encode::token_estimate;
use crate::lines::NewlineSplit;

/// Maximum number of templates of whole lines: the other keys are for common heads.
const MAX_WHOLE: usize = 40;
/// Minimum gain per line of a template without values, in tokens.
const MIN_BARE_GAIN: usize = 5;
/// Minimum lines of a shape that becomes a template.
pub(super) const MIN_LINES: u32 = 3;
/// Maximum lines in a row.
const MAX_ROW_LINES: usize = 24;

/// The lines that are written as rows.
#[derive(Debug, Default)]
pub(super) struct RecordPlan {
    /// The shapes of the lines of each record.
    pub(super) records: Vec<Vec<usize>>,
    /// The record that begins with a line.
    pub(super) starts: Vec<Option<u8>>,
}

/// The cost of a shape once, and of its values in each row, in tokens.
#[derive(Clone, Copy, Debug, Default)]
struct ShapeCost {
    once: usize,
    each: usize,
    /// Whether it must not be one line of several: it has a line of its own among the rows.
    alone: bool,
}

/// Chooses the records that save most. The lines of no record are tried as heads in common.
pub(super) fn choose_records(lines: &NewlineSplit<'_>, shapes: &mut LineShapes) -> RecordPlan {
    let costs: Vec<ShapeCost> = shapes.shapes.iter().map(|shape| shape_cost(lines, shape)).collect();
    let next = find_followers(shapes, &costs);
    let chains: Vec<Vec<usize>> = (0..costs.len()).map(|shape| follow_chain(shape, &next)).collect();
    // A line begins a record of all the lines that follow its shape, or of itself alone.
    let mut uses = vec![[0usize; 2]; costs.len()];
    for_each_record(shapes, &chains, |_, shape, chained| {
        if let Some(uses) = uses.get_mut(shape).and_then(|uses| uses.get_mut(usize::from(chained))) {
            *uses += 1;
        }
    });
    let mut gains = Vec::new();
    for (shape, (chain, uses)) in chains.iter().zip(&uses).enumerate() {
        let [alone, chained] = *uses;
        gains.extend(record_gain(&[shape], alone, &costs, shapes).map(|gain| (gain, shape, false)));
        gains.extend(record_gain(chain, chained, &costs, shapes).map(|gain| (gain, shape, true)));
    }
    gains.sort_unstable_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    gains.truncate(MAX_WHOLE);
    gains.sort_unstable_by_key(|(_, shape, chained)| {
        (shapes.shapes.get(*shape).map(|shape| shape.example), *chained)
    });
    let mut key_of = vec![[None; 2]; costs.len()];
    let mut chosen = RecordPlan { records: Vec::new(), starts: vec![None; lines.len()] };
    for (_, shape, chained) in gains {
        if let Some(key) = key_of.get_mut(shape).and_then(|keys| keys.get_mut(usize::from(chained))) {
            *key = u8::try_from(chosen.records.len()).ok();
        }
        let chain = if chained { chains.get(shape).cloned().unwrap_or_default() } else { vec![shape] };
        chosen.records.push(chain);
    }
    let mut free = vec![true; lines.len()];
    for_each_record(shapes, &chains, |line, shape, chained| {
        let key = key_of.get(shape).and_then(|keys| keys.get(usize::from(chained))).copied().flatten();
        let length = if chained { chains.get(shape).map_or(1, Vec::len) } else { 1 };
        if key.is_some() {
            free.iter_mut().skip(line).take(length).for_each(|free| *free = false);
        }
        if let Some(start) = chosen.starts.get_mut(line) {
            *start = key;
        }
    });
    add_heads(lines, shapes, &free, &mut chosen);
    chosen
}

/// Calls `see` with the line a record begins with, the shape of that line, and whether it is a record of several lines.
fn for_each_record(shapes: &LineShapes, chains: &[Vec<usize>], mut see: impl FnMut(usize, usize, bool)) {
    let mut line = 0;
    while line < shapes.lines() {
        let shape = shapes.of(line);
        let chain = shape.and_then(|shape| chains.get(shape)).filter(|chain| chain.len() > 1);
        let there = |chain: &&Vec<usize>| {
            let follow = (line..shapes.lines()).map(|line| shapes.of(line));
            follow.take(chain.len()).eq(chain.iter().map(|shape| Some(*shape)))
        };
        let length = chain.filter(there).map(Vec::len);
        if let Some(shape) = shape {
            see(line, shape, length.is_some());
        }
        line += length.unwrap_or(1);
    }
}

/// For each shape the shape that follows nearly all of its lines.
fn find_followers(shapes: &LineShapes, costs: &[ShapeCost]) -> Vec<Option<usize>> {
    let eligible = |line: usize| {
        let shape = shapes.of(line)?;
        let many = shapes.shapes.get(shape)?.lines >= MIN_LINES && !costs.get(shape)?.alone;
        many.then_some(shape)
    };
    let pairs = || (1..shapes.lines()).filter_map(|line| Some((eligible(line - 1)?, eligible(line)?)));
    let mut votes = vec![(0usize, 0u32, 0u32); costs.len()];
    for (shape, follower) in pairs() {
        let Some((leader, lead, _)) = votes.get_mut(shape) else { continue };
        if *lead == 0 {
            *leader = follower;
        }
        *lead = if *leader == follower { *lead + 1 } else { *lead - 1 };
    }
    for (shape, follower) in pairs() {
        if let Some((_, _, hits)) =
            votes.get_mut(shape).filter(|(leader, lead, _)| *lead > 0 && *leader == follower)
        {
            *hits += 1;
        }
    }
    let often = |(shape, (leader, _, hits)): (&LineShape, &(usize, u32, u32))| {
        (*hits > 0 && u64::from(*hits) * 10 >= u64::from(shape.lines) * 9).then_some(*leader)
    };
    shapes.shapes.iter().zip(&votes).map(often).collect()
}

/// The shapes that follow a shape, itself first; empty where none does, for most are of that sort.
fn follow_chain(shape: usize, next: &[Option<usize>]) -> Vec<usize> {
    if next.get(shape).copied().flatten().is_none() {
        return Vec::new();
    }
    let mut chain = vec![shape];
    let mut at = shape;
    while let Some(follower) = next.get(at).copied().flatten() {
        if chain.len() >= MAX_ROW_LINES || chain.contains(&follower) {
            break;
        }
        chain.push(follower);
        at = follower;
    }
    chain
}

/// The tokens that a record saves, if it does.
fn record_gain(chain: &[usize], uses: usize, costs: &[ShapeCost], shapes: &LineShapes) -> Option<usize> {
    if uses < MIN_LINES as usize {
        return None;
    }
    let of = |part: fn(&ShapeCost) -> usize| {
        chain.iter().filter_map(|shape| costs.get(*shape)).map(part).sum::<usize>()
    };
    let (once, each) = (of(|cost| cost.once), of(|cost| cost.each));
    // A line that is no more than a letter afterwards, or a head of a word or two, is easier to read as it was.
    let head = chain.first().and_then(|shape| shapes.shapes.get(*shape)).and_then(|shape| shape.head);
    let min_gain = if each == 0 || head.is_some_and(|head| head < 3) { MIN_BARE_GAIN } else { 1 };
    let saved = once.checked_sub(each + 1).filter(|saved| *saved >= min_gain)?;
    (saved * (uses - 1)).checked_sub(once + 2 + 2 * chain.len()).filter(|gain| *gain > 0)
}

fn shape_cost(lines: &NewlineSplit<'_>, shape: &LineShape) -> ShapeCost {
    if shape.lines < MIN_LINES {
        return ShapeCost { alone: true, ..ShapeCost::default() };
    }
    let (mut words, mut last_words) = (Vec::with_capacity(MAX_WORDS), Vec::with_capacity(MAX_WORDS));
    let line = shape.example(lines);
    line_words::split_words(line, &mut words);
    let head = shape.shared_words(&words);
    let said = line.get(..words.get(head).map_or(line.len(), |word| word.start)).unwrap_or("");
    let last = lines.get(shape.last as usize).unwrap_or("");
    line_words::split_words(last, &mut last_words);
    let values = words.iter().zip(&last_words).enumerate().take(head);
    let values = values.filter(|(at, (word, _))| word.value || shape.values >> at & 1 == 1);
    let each = values.map(|(_, (word, other))| value_cost(word.of(line), other.of(last))).sum();
    ShapeCost { once: token_estimate::estimate_tokens(said), each, alone: shape.severe }
}

/// About what a value costs in a row, given another of the same column.
fn value_cost(value: &str, other: &str) -> usize {
    if value == other {
        return 0;
    }
    1 + token_estimate::estimate_tokens(value_format::shorten(value, other))
}

/// Records of one line each for what free lines begin with.
fn add_heads(lines: &NewlineSplit<'_>, shapes: &mut LineShapes, free: &[bool], chosen: &mut RecordPlan) {
    let whole = shapes.shapes.len();
    line_shape::group_by_head(lines, shapes, free);
    let new = shapes.shapes.get(whole..).unwrap_or_default();
    let costs: Vec<ShapeCost> = shapes
        .shapes
        .iter()
        .map(|shape| if shape.head.is_some() { shape_cost(lines, shape) } else { ShapeCost::default() })
        .collect();
    let gains = (whole..).zip(new);
    let gains = gains.filter_map(|(shape, head)| {
        Some((record_gain(&[shape], head.lines as usize, &costs, shapes)?, shape))
    });
    let mut gains: Vec<_> = gains.collect();
    gains.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    gains.truncate(KEYS.len() - chosen.records.len());
    let mut key_of = vec![None; shapes.shapes.len()];
    for (_, shape) in gains {
        if let Some(key) = key_of.get_mut(shape) {
            *key = u8::try_from(chosen.records.len()).ok();
        }
        chosen.records.push(vec![shape]);
    }
    for ((free, start), of) in free.iter().zip(&mut chosen.starts).zip(shapes.each()) {
        if *free {
            *start = of.and_then(|shape| key_of.get(shape).copied().flatten());
        }
    }
}

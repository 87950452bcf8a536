//! Where the white space of a document stands, as a rule short enough to be written beside it.
//!
//! A container is either broken (each member on a line of its own, one indent deeper) or on one line. Which of the two
//! it is follows from a rule; what the rule has wrong is listed.

use super::cuts::JsonCuts;
use super::tree::{JsonTree, JsonType, SPACE};

/// The rule for containers that stand on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineRule {
    Never,
    Always,
    /// Those whose line has at most this length.
    Width(u32),
    /// Those with at most this depth of containers in them: 0 holds none.
    Height(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonLayout {
    /// The indent of one level. None: nothing is broken.
    pub(super) indent: Option<String>,
    pub(super) newline: String,
    pub(super) colon: String,
    /// After the comma, on one line.
    pub(super) sep: String,
    pub(super) object_pad: String,
    pub(super) array_pad: String,
    /// The outermost container's own: after its bracket, after each comma, before the closing bracket.
    pub(super) root: Option<[String; 3]>,
    pub(super) objects: InlineRule,
    pub(super) arrays: InlineRule,
    /// The containers that are exceptions of the rule, counted from 0 over all it decides.
    pub(super) but: Vec<u32>,
    /// A document per line: no brackets, no commas.
    pub(super) lines: bool,
}

/// The white space of one container.
struct SpaceStyle<'t> {
    open: &'t str,
    /// None with one member only.
    sep: Option<&'t str>,
    close: &'t str,
}

fn container_style<'t>(tree: &JsonTree<'t>, at: usize) -> Option<SpaceStyle<'t>> {
    let span = tree.span(at);
    let bracket = usize::from(!(tree.lines && at == 0));
    let mut from = span.start + bracket;
    let mut open = None;
    let mut sep = None;
    for child in tree.children(at) {
        let between = tree.text.get(from..tree.member(child))?;
        if open.is_none() {
            open = Some(between);
        } else {
            let after = if bracket == 1 { between.strip_prefix(',')? } else { between };
            if *sep.get_or_insert(after) != after {
                return None;
            }
        }
        from = tree.span(child).end;
    }
    let close = tree.text.get(from..span.end - bracket)?;
    Some(SpaceStyle { open: open?, sep, close })
}

fn colon_space<'t>(tree: &JsonTree<'t>, at: usize) -> Option<&'t str> {
    let (start, key) = (tree.member(at), tree.key(at));
    if key.is_empty() { None } else { tree.text.get(start + key.len()..tree.span(at).start) }
}

impl JsonLayout {
    pub(super) fn compact() -> Self {
        Self {
            indent: None,
            newline: "\n".into(),
            colon: ":".into(),
            sep: String::new(),
            object_pad: String::new(),
            array_pad: String::new(),
            root: None,
            objects: InlineRule::Always,
            arrays: InlineRule::Always,
            but: Vec::new(),
            lines: false,
        }
    }

    /// The compact layout for a document whose own is dropped.
    pub(super) fn compact_as(tree: &JsonTree<'_>) -> Self {
        let root = tree.lines.then(|| ["", "\n", ""].map(str::to_owned));
        Self { root, lines: tree.lines, ..Self::compact() }
    }

    /// The layout of a document, if there is a rule for it.
    pub(super) fn of(tree: &JsonTree<'_>) -> Option<Self> {
        let mut layout = Self::compact();
        layout.lines = tree.lines;
        layout.learn(tree)?;
        let decided = layout.check(tree)?;
        layout.decide(tree, &decided)?;
        Some(layout)
    }

    /// The same, its exceptions counted over what the cuts leave.
    pub(super) fn around(&self, tree: &JsonTree<'_>, cuts: &JsonCuts) -> Self {
        let mut layout = self.clone();
        if self.but.is_empty() || cuts.is_empty() {
            return layout;
        }
        layout.but.clear();
        let sizes = InlineSizes::of(tree, self);
        let mut open: Vec<(usize, bool)> = Vec::new();
        let (mut decided, mut left, mut gone) = (0u32, 0u32, 0);
        let mut but = self.but.iter().copied().peekable();
        for at in 0..tree.nodes.len() {
            while open.pop_if(|(end, _)| *end <= at).is_some() {}
            if let Some(run) = cuts.items(at) {
                gone = gone.max(run.next);
            }
            if !tree.is_container(at) || tree.is_empty(at) {
                continue;
            }
            let within_flat = open.last().is_some_and(|(_, flat)| *flat);
            let mut flat = within_flat;
            let own = at == 0 && self.root.is_some();
            if !within_flat && !own {
                flat = self.is_one_line(tree, Some(&sizes), at);
                let wrong = but.next_if_eq(&decided).is_some();
                flat ^= wrong;
                decided += 1;
                if at >= gone {
                    layout.but.extend(wrong.then_some(left));
                    left += 1;
                }
            }
            open.push((tree.node(at).next as usize, flat));
        }
        layout
    }

    /// Takes each parameter from the first place that shows it.
    fn learn(&mut self, tree: &JsonTree<'_>) -> Option<()> {
        let (mut spaced, mut object, mut array, mut coloned) = (false, false, false, false);
        let mut open: Vec<usize> = Vec::new();
        for at in 0..tree.nodes.len() {
            while open.last().is_some_and(|end| *end <= at) {
                open.pop();
            }
            if !coloned && let Some(found) = colon_space(tree, at) {
                self.colon = found.to_owned();
                coloned = true;
            }
            if !tree.is_container(at) || tree.is_empty(at) {
                continue;
            }
            let depth = open.len();
            open.push(tree.node(at).next as usize);
            if spaced && object && array && coloned && self.indent.is_some() {
                break;
            }
            let style = container_style(tree, at)?;
            if style.open.contains('\n') {
                self.learn_indent(style.open, depth);
                continue;
            }
            if at == 0 && (style.sep.is_some_and(|sep| sep.contains('\n')) || tree.lines) {
                continue;
            }
            let (pad, known) = if tree.kind(at) == JsonType::Object {
                (&mut self.object_pad, &mut object)
            } else {
                (&mut self.array_pad, &mut array)
            };
            if !*known {
                *pad = style.open.to_owned();
                *known = true;
            }
            if let (false, Some(sep)) = (spaced, style.sep) {
                self.sep = sep.to_owned();
                spaced = true;
            }
        }
        if !spaced && self.indent.is_some() {
            self.sep = " ".into();
        }
        Some(())
    }

    fn learn_indent(&mut self, open: &str, depth: usize) {
        if self.indent.is_some() {
            return;
        }
        let newline = if open.starts_with("\r\n") { "\r\n" } else { "\n" };
        let Some(indent) = open.strip_prefix(newline) else { return };
        let unit = indent.get(..indent.len() / (depth + 1)).unwrap_or("");
        self.newline = newline.to_owned();
        self.indent = Some(unit.to_owned());
    }

    pub(super) fn pad(&self, kind: JsonType) -> &str {
        if kind == JsonType::Object { &self.object_pad } else { &self.array_pad }
    }

    /// Whether the white space of a broken container at a depth is as it would be written.
    fn is_broken(&self, style: &SpaceStyle<'_>, depth: usize) -> bool {
        let Some(unit) = &self.indent else { return false };
        let is = |text: &str, depth: usize| {
            text.strip_prefix(self.newline.as_str()).is_some_and(|indent| {
                indent.len() == unit.len() * depth && (unit.is_empty() || repeats(indent, unit))
            })
        };
        is(style.open, depth + 1) && style.sep.is_none_or(|sep| is(sep, depth + 1)) && is(style.close, depth)
    }

    fn is_flat(&self, style: &SpaceStyle<'_>, kind: JsonType) -> bool {
        let pad = self.pad(kind);
        style.open == pad && style.close == pad && style.sep.is_none_or(|sep| sep == self.sep)
    }

    /// Checks every container, and gives those the rule must decide, with what they are: on one line or not.
    fn check(&mut self, tree: &JsonTree<'_>) -> Option<Vec<(u32, bool)>> {
        let mut decided = Vec::new();
        let mut open: Vec<(usize, bool)> = Vec::new();
        for at in 0..tree.nodes.len() {
            while open.last().is_some_and(|(end, _)| *end <= at) {
                open.pop();
            }
            if colon_space(tree, at).is_some_and(|found| found != self.colon) {
                return None;
            }
            if !tree.is_container(at) {
                continue;
            }
            if tree.is_empty(at) {
                if tree.span(at).len() != 2 {
                    return None;
                }
                continue;
            }
            let style = container_style(tree, at)?;
            let within_flat = open.last().is_some_and(|(_, flat)| *flat);
            let flat = self.is_flat(&style, tree.kind(at)) && !(at == 0 && tree.lines);
            if !flat && (within_flat || !self.is_broken(&style, open.len())) {
                if at != 0 {
                    return None;
                }
                let own = [style.open, style.sep.unwrap_or(""), style.close];
                if !own.iter().all(|space| space.chars().all(|c| SPACE.contains(&c))) {
                    return None;
                }
                self.root = Some(own.map(str::to_owned));
            } else if !within_flat && self.indent.is_some() {
                decided.push((u32::try_from(at).ok()?, flat));
            }
            open.push((tree.node(at).next as usize, flat));
        }
        Some(decided)
    }

    /// Finds the rule that has the fewest containers wrong.
    fn decide(&mut self, tree: &JsonTree<'_>, decided: &[(u32, bool)]) -> Option<()> {
        let of = |kind: JsonType| decided.iter().filter(move |(at, _)| tree.kind(*at as usize) == kind);
        let uniform = |kind: JsonType| {
            let flat = of(kind).filter(|(_, flat)| *flat).count();
            if flat == 0 {
                Some(InlineRule::Never)
            } else {
                (flat == of(kind).count()).then_some(InlineRule::Always)
            }
        };
        if self.indent.is_none() {
            return Some(());
        }
        let (objects, arrays) = (uniform(JsonType::Object), uniform(JsonType::Array));
        self.objects = objects.unwrap_or(InlineRule::Never);
        self.arrays = arrays.unwrap_or(InlineRule::Never);
        if objects.is_some() && arrays.is_some() {
            return Some(());
        }
        let sizes = InlineSizes::of(tree, self);
        for (kind, known) in [(JsonType::Object, objects), (JsonType::Array, arrays)] {
            if known.is_none() {
                let found: Vec<(u32, u32, bool)> = of(kind)
                    .map(|(at, flat)| {
                        (sizes.line(tree, self, *at as usize), sizes.height(*at as usize), *flat)
                    })
                    .collect();
                let fit = best_rule(&found);
                *(if kind == JsonType::Object { &mut self.objects } else { &mut self.arrays }) = fit;
            }
        }
        for (count, (at, flat)) in decided.iter().enumerate() {
            if self.is_one_line(tree, Some(&sizes), *at as usize) != *flat {
                self.but.push(u32::try_from(count).ok()?);
            }
        }
        // A rule with too many exceptions does not count.
        (self.but.len() * 3 * 20 <= tree.text.len()).then_some(())
    }

    pub(super) fn is_one_line(&self, tree: &JsonTree<'_>, sizes: Option<&InlineSizes>, at: usize) -> bool {
        let fit = if tree.kind(at) == JsonType::Object { self.objects } else { self.arrays };
        match (fit, sizes) {
            (InlineRule::Never, _) => false,
            (InlineRule::Always, _) => true,
            (InlineRule::Width(max), Some(sizes)) => sizes.line(tree, self, at) <= max,
            (InlineRule::Height(max), Some(sizes)) => sizes.height(at) <= max,
            (_, None) => false,
        }
    }
}

fn repeats(indent: &str, unit: &str) -> bool {
    indent.as_bytes().chunks(unit.len()).all(|chunk| chunk == unit.as_bytes())
}

fn best_rule(found: &[(u32, u32, bool)]) -> InlineRule {
    let widest = found.iter().filter(|(_, _, flat)| *flat).map(|(width, _, _)| *width).max().unwrap_or(0);
    let widths = [80, 100, 120, 60, 88, 72, widest].into_iter().map(InlineRule::Width);
    let candidates = (0..3).map(InlineRule::Height).chain(widths);
    let wrong = |fit: &InlineRule| {
        let says = |width: u32, height: u32| match fit {
            InlineRule::Width(max) => width <= *max,
            InlineRule::Height(max) => height <= *max,
            InlineRule::Always => true,
            InlineRule::Never => false,
        };
        found.iter().filter(|(width, height, flat)| says(*width, *height) != *flat).count()
    };
    candidates.chain([InlineRule::Never, InlineRule::Always]).min_by_key(wrong).unwrap_or(InlineRule::Never)
}

/// The length of each value on one line, the depth of containers in it, and its own depth.
pub(super) struct InlineSizes {
    flat: Vec<u32>,
    height: Vec<u16>,
    depth: Vec<u16>,
    last: Vec<bool>,
}

impl InlineSizes {
    pub(super) fn of(tree: &JsonTree<'_>, layout: &JsonLayout) -> Self {
        let count = tree.nodes.len();
        let mut sizes = Self {
            flat: vec![0; count],
            height: vec![0; count],
            depth: vec![0; count],
            last: vec![true; count],
        };
        for at in (0..count).rev() {
            let mut flat = u32::try_from(tree.width(tree.source(at))).unwrap_or(u32::MAX);
            let mut height = 0;
            // What is left out was too long for one line, or else the rule is not used.
            if tree.has_mark(at) {
                (flat, height) = (u32::MAX, u16::MAX);
            }
            if tree.is_container(at) {
                flat = if flat == u32::MAX { flat } else { 2 };
                let mut before = None;
                for child in tree.children(at) {
                    let own = sizes.flat.get(child).copied().unwrap_or(0);
                    let key = tree.width(tree.key(child));
                    let around = if key > 0 { key + layout.colon.len() } else { 0 };
                    let sep = if let Some(before) = before {
                        if let Some(last) = sizes.last.get_mut(before) {
                            *last = false;
                        }
                        1 + layout.sep.len()
                    } else {
                        2 * layout.pad(tree.kind(at)).len()
                    };
                    flat = flat
                        .saturating_add(own)
                        .saturating_add(u32::try_from(around + sep).unwrap_or(u32::MAX));
                    let marked = sizes.height.get(child) == Some(&u16::MAX);
                    if marked || (tree.is_container(child) && !tree.is_empty(child)) {
                        height =
                            height.max(sizes.height.get(child).map_or(0, |height| height.saturating_add(1)));
                    }
                    before = Some(child);
                }
            }
            set_at(&mut sizes.flat, at, flat);
            set_at(&mut sizes.height, at, height);
        }
        for at in 0..count {
            let depth = sizes.depth.get(at).copied().unwrap_or(0).saturating_add(1);
            for child in tree.children(at) {
                set_at(&mut sizes.depth, child, depth);
            }
        }
        sizes
    }

    fn height(&self, at: usize) -> u32 {
        self.height.get(at).copied().unwrap_or(0).into()
    }

    /// The length of the line if a container stood on one.
    fn line(&self, tree: &JsonTree<'_>, layout: &JsonLayout, at: usize) -> u32 {
        let unit = layout.indent.as_ref().map_or(0, String::len);
        let depth = self.depth.get(at).copied().unwrap_or(0);
        let key = tree.width(tree.key(at));
        let key = if key > 0 { key + layout.colon.len() } else { 0 };
        let before = usize::from(depth) * unit + key + usize::from(self.last.get(at) == Some(&false));
        let flat = self.flat.get(at).copied().unwrap_or(0);
        flat.saturating_add(u32::try_from(before).unwrap_or(u32::MAX))
    }
}

fn set_at<T>(all: &mut [T], at: usize, value: T) {
    if let Some(slot) = all.get_mut(at) {
        *slot = value;
    }
}

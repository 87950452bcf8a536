//! Finds the text of a name among events of its session.

use super::names::{Name, NameKind, words};
use super::{AskedOutcome, message};
use crate::ledger::texts::Texts;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wunderblock_core::authority::Authority;
use wunderblock_core::event::Event;
use wunderblock_core::fence::plain;
use wunderblock_core::id::{CallId, Handle};
use wunderblock_core::message::{Body, MessageOrigin, Part, Role, count_lines};
use wunderblock_core::plan::{AskedText, Injection};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_summary::files_touched;

/// Maximum number of tokens around a word: the lines that define it, or in which it was printed.
const WORD_TOKENS: Tokens = Tokens(800);
/// Length of what is shown of a definition, if there is room, in bytes.
const DEFINITION: usize = 1_500;
/// Maximum number of later changes, other files, and parts that stay away, that are named beside a file.
const NOTED_MAX: usize = 4;
/// Maximum number of parts of a file that come back.
const PARTS_MAX: usize = 8;

/// First byte, and one past the last byte, of a part of a text.
type Stretch = (Bytes, Bytes);

/// Reason why there is no text, and the position of the text.
pub(crate) type Missing = (AskedOutcome, Option<Seq>);

/// Texts of a session among which those of names are found.
pub(crate) struct Finder<'e> {
    texts: &'e Texts,
    hidden: &'e BTreeSet<Seq>,
    events: &'e BTreeMap<Seq, Event>,
    calls: Vec<CallOf<'e>>,
    /// Newest first.
    candidates: Vec<Candidate>,
}

/// A text that a name may mean.
struct Candidate {
    origin: Origin,
    /// Position of the event that holds the text.
    at: Seq,
    /// The text; `None` if it was erased.
    body: Option<Body>,
    /// Body of which the text is a part.
    part_of: Option<Handle>,
    /// Index of the call in [`Finder::calls`]; `None` for what was said.
    call: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Result of a call, or of one that failed.
    Output,
    Failed,
    /// File that a call wrote as a whole.
    Written,
    /// Arguments of a call.
    Input,
    /// Words of a person or of the model.
    Said,
}

/// A call, with the files that it reads and writes.
struct CallOf<'e> {
    seq: Seq,
    gist: &'e str,
    input: &'e str,
    reads: Vec<String>,
    writes: Vec<String>,
}

impl<'e> Finder<'e> {
    /// Collects the texts among some events, except those of the turn that names them.
    pub(crate) fn of(
        events: &'e BTreeMap<Seq, Event>,
        texts: &'e Texts,
        hidden: &'e BTreeSet<Seq>,
        turn: Seq,
    ) -> Self {
        let mut finder = Self { texts, hidden, events, calls: Vec::new(), candidates: Vec::new() };
        let mut results: HashMap<&CallId, (Seq, &Body, bool)> = HashMap::new();
        // The gap that an erased result leaves belongs to the calls right before it.
        let mut erased = None;
        for (seq, event) in events.iter().rev().filter(|(seq, _)| **seq != turn) {
            let Some(message) = message(event) else {
                erased = event.fact.is_none().then_some(*seq);
                continue;
            };
            let says = message.role == Role::Assistant || message.is_persons();
            for part in &message.parts {
                match part {
                    Part::ToolResult { call, content, failed, .. } => {
                        let texts = content.iter().filter_map(text_of);
                        results.extend(
                            texts.max_by_key(|body| body.bytes()).map(|body| (call, (*seq, body, *failed))),
                        );
                    }
                    Part::ToolCall { call, .. } => {
                        finder.add_call(*seq, part, results.get(call).copied(), erased)
                    }
                    Part::Text { text, .. } if says && message.standing == MessageOrigin::Said => {
                        finder.add(Origin::Said, *seq, Some(text.clone()), None);
                    }
                    _ => {}
                }
            }
            erased = erased.filter(|_| message.role == Role::Tool);
        }
        finder.candidates.sort_by_key(|one| std::cmp::Reverse(one.at));
        finder
    }

    fn add(&mut self, origin: Origin, at: Seq, body: Option<Body>, call: Option<usize>) {
        self.candidates.push(Candidate { origin, at, body, part_of: None, call });
    }

    /// Adds the texts of a call: its result, and its arguments or the file in them.
    fn add_call(
        &mut self,
        seq: Seq,
        part: &'e Part,
        result: Option<(Seq, &Body, bool)>,
        erased: Option<Seq>,
    ) {
        let Part::ToolCall { name, input: body, gist, .. } = part else { return };
        let (input, gist) = (self.texts.of(body).unwrap_or_default(), gist.as_deref().unwrap_or_default());
        let (reads, writes) = files_touched(name, Some(gist), input);
        let written = if writes.is_empty() { None } else { written(input) };
        let call = Some(self.calls.len());
        self.calls.push(CallOf {
            seq,
            gist: if gist.is_empty() { name } else { gist },
            input,
            reads,
            writes,
        });
        match (result, erased) {
            (Some((at, text, true)), _) => self.add(Origin::Failed, at, Some(text.clone()), call),
            (Some((at, text, false)), _) => self.add(Origin::Output, at, Some(text.clone()), call),
            (None, Some(at)) => self.add(Origin::Output, at, None, call),
            (None, None) => {}
        }
        match written {
            Some(text) => {
                let (body, part_of) = (Some(Body::Inline(text)), body.handle());
                self.candidates.push(Candidate { origin: Origin::Written, at: seq, body, part_of, call });
            }
            None if matches!(result, Some((.., true))) => {}
            None => self.add(Origin::Input, seq, Some(body.clone()), call),
        }
    }

    /// Returns the text of a name, or the reason why it is missing. A file of which only parts were read has several texts,
    /// newest first. `held` are the bodies that the name may mean, with the positions that hold them.
    pub(crate) fn find(&self, name: &Name, held: &[(Handle, Seq)]) -> Result<Vec<AskedText>, Missing> {
        if name.kind == NameKind::Handle {
            return self.handle(name, held).map(|text| vec![text]);
        }
        let (mut best, mut missing) = (None, (AskedOutcome::Unknown, None));
        let mut least = u64::MAX;
        for one in &self.candidates {
            let call = self.call_of(one);
            let Some((rank, part)) = self.rank(name, one, call).filter(|(rank, _)| *rank < least) else {
                continue;
            };
            match self.hidden_at(one) {
                Some(at) => missing = (AskedOutcome::Hidden, Some(at)),
                None => match &one.body {
                    Some(body) => (best, least) = (Some((one, body, part)), rank),
                    None => missing = (AskedOutcome::Erased, Some(one.at)),
                },
            }
        }
        let (one, body, part) = best.ok_or(missing)?;
        let mut parts = self.parts(name, one);
        if parts.is_empty() {
            return Ok(vec![self.asked(name, one, body, part)]);
        }
        let rest = parts.split_off(PARTS_MAX.min(parts.len()));
        let mut texts: Vec<AskedText> =
            parts.into_iter().map(|(one, body)| self.asked(name, one, body, None)).collect();
        let rest: Vec<String> = rest.iter().map(|(one, _)| format!("#{}", one.at)).take(NOTED_MAX).collect();
        if let Some(first) = texts.first_mut() {
            first.whole.why = format!("{}{}", first.whole.why, said("older parts are at", &rest)).into();
        }
        Ok(texts)
    }

    fn call_of(&self, one: &Candidate) -> Option<&CallOf<'e>> {
        self.calls.get(one.call?)
    }

    /// Returns the position at which a text, or the call for it, was hidden.
    fn hidden_at(&self, one: &Candidate) -> Option<Seq> {
        let seqs = [Some(one.at), self.call_of(one).map(|call| call.seq)];
        seqs.into_iter().flatten().find(|seq| self.hidden.contains(seq))
    }

    /// Returns the parts of a file that were read, newest first, the newest of each range, if `newest` is one of them: those
    /// with the line that is asked for, if there are any.
    fn parts(&self, name: &Name, newest: &Candidate) -> Vec<(&Candidate, &Body)> {
        let is_part = |one: &Candidate| {
            let call = self.call_of(one).filter(|call| one.origin == Origin::Output && is_partial(call.gist));
            call.filter(|call| name.kind == NameKind::Path && !call.reads.is_empty())
        };
        let Some(file) =
            is_part(newest).and_then(|call| call.reads.iter().find(|path| same_file(path, &name.text)))
        else {
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        let all = self.candidates.iter().filter_map(|one| {
            let call = is_part(one).filter(|call| call.reads.iter().any(|path| same_file(path, file)))?;
            let body = one.body.as_ref().filter(|_| self.hidden_at(one).is_none())?;
            seen.insert(call.gist).then_some((one, body))
        });
        let all: Vec<(&Candidate, &Body)> = all.collect();
        let has_line = |(_, body): &&(&Candidate, &Body)| {
            name.line
                .is_some_and(|line| self.texts.of(body).is_some_and(|text| lines(text, line, line).is_some()))
        };
        let with_line: Vec<_> = all.iter().filter(has_line).copied().collect();
        if with_line.is_empty() { all } else { with_line }
    }

    /// Returns a text as it enters for a name.
    fn asked(&self, name: &Name, one: &Candidate, body: &Body, part: Option<Stretch>) -> AskedText {
        let call = self.call_of(one);
        let who = if one.origin == Origin::Said { "a message" } else { "output" };
        let mut what = plain(call.map_or(who, |call| call.gist));
        if matches!(name.kind, NameKind::Word | NameKind::Phrase) {
            what = format!("{} in {what}", plain(&name.text));
        }
        let note = call.map(|call| self.note(name, call, one.at)).unwrap_or_default();
        let part = part.or_else(|| name.line.and_then(|line| lines(self.texts.of(body)?, line, line)));
        let mut found = text(name, one.at, body.clone(), part, &what);
        found.whole.why = format!("{}{note}", found.whole.why).into();
        found.whole.part_of = one.part_of;
        found
    }

    /// Returns how well a text answers a name, the lowest rank best, and the part that does. `None` if it does not.
    fn rank(
        &self,
        name: &Name,
        one: &Candidate,
        call: Option<&CallOf<'_>>,
    ) -> Option<(u64, Option<Stretch>)> {
        let is_it = |paths: &[String]| paths.iter().any(|path| same_file(path, &name.text));
        let gist = call.map_or("", |call| call.gist);
        let rank = |rank: u64| Some((rank, None));
        match (name.kind, one.origin) {
            (NameKind::Path, Origin::Output) if is_it(&call?.reads) => rank(u64::from(is_partial(gist))),
            (NameKind::Path, Origin::Written) if is_it(&call?.writes) => rank(0),
            (NameKind::Path, Origin::Input) if is_it(&call?.writes) => rank(2),
            (NameKind::Path, Origin::Output)
                if name.firm && gist.split_whitespace().any(|word| same_file(word, &name.text)) =>
            {
                rank(3)
            }
            (NameKind::Path, _) => None,
            (NameKind::Url, Origin::Output) => {
                call?.input.contains(name.text.trim_end_matches('/')).then_some((0, None))
            }
            (NameKind::Command, Origin::Output | Origin::Failed) if name.firm => {
                gist.contains(&name.text).then_some((0, None))
            }
            (NameKind::Command, Origin::Output | Origin::Failed) => {
                words_in_common(gist, &name.text).map(|words| (u64::MAX / 2 - words, None))
            }
            (NameKind::Url | NameKind::Command, _) | (_, Origin::Input) => None,
            (_, origin) => {
                let (part, defines) = place_of(self.texts.of(one.body.as_ref()?)?, name)?;
                let rank = match origin {
                    Origin::Said => 2,
                    _ => u64::from(!defines),
                };
                (rank == 0 || name.firm || name.kind == NameKind::Phrase).then_some((rank, Some(part)))
            }
        }
    }

    /// Returns what has to be said of a file: where it was changed after a position, and which others have its name.
    fn note(&self, name: &Name, call: &CallOf<'_>, at: Seq) -> String {
        let mut files = call.reads.iter().chain(&call.writes);
        let Some(file) = files.find(|path| name.kind == NameKind::Path && same_file(path, &name.text)) else {
            return String::new();
        };
        let later = self.candidates.iter().rev().filter(|one| one.at > at && one.origin == Origin::Input);
        let later = later.filter(|one| {
            one.call
                .and_then(|call| self.calls.get(call))
                .is_some_and(|call| call.writes.iter().any(|path| same_file(path, file)))
        });
        let later: Vec<String> = later.map(|one| format!("#{}", one.at)).take(NOTED_MAX).collect();
        let all = self.calls.iter().flat_map(|call| call.reads.iter().chain(&call.writes));
        let others = all
            .filter(|path| same_file(path, name.base()) && !same_file(path, file) && !same_file(file, path));
        let others: BTreeSet<String> = others.map(|path| plain(path)).collect();
        let others: Vec<String> = others.into_iter().take(NOTED_MAX).collect();
        said("changed since at", &later) + &said("other files of this name:", &others)
    }

    /// Returns the body of a handle, or the text at a position of the session. A handle asks for a text even if it is
    /// hidden.
    fn handle(&self, name: &Name, held: &[(Handle, Seq)]) -> Result<AskedText, Missing> {
        let place = name.text.split_once('#').map(|(_, place)| place).unwrap_or_default();
        if let Some((handle, at)) = held.last().copied() {
            let said = self.texts.text(handle).ok_or((AskedOutcome::Unknown, None))?;
            let body = Body::Blob { blob: handle, bytes: Bytes(said.len() as u64), lines: count_lines(said) };
            return Ok(text(name, at, body, place_in(said, place), &name.text));
        }
        let at = place.split('-').next().and_then(|seq| seq.parse().ok()).map(Seq);
        let event = at.and_then(|at| self.events.get(&at)).ok_or((AskedOutcome::Unknown, None))?;
        if event.fact.is_none() {
            return Err((AskedOutcome::Erased, Some(event.seq)));
        }
        let leaves = message(event).into_iter().flat_map(|said| &said.parts).flat_map(Part::leaves);
        let texts = leaves.filter(|(part, _)| !part.is_data()).map(|(_, body)| body);
        let body = texts.max_by_key(|body| body.bytes()).ok_or((AskedOutcome::Unknown, None))?;
        Ok(text(name, event.seq, body.clone(), None, &name.text))
    }
}

/// Returns words about what a list names, for the end of a label. Empty without a list.
fn said(words: &str, list: &[String]) -> String {
    if list.is_empty() { String::new() } else { format!("; {words} {}", list.join(", ")) }
}

/// Returns a text as it would enter.
fn text(name: &Name, at: Seq, body: Body, part: Option<Stretch>, what: &str) -> AskedText {
    let is_word = matches!(name.kind, NameKind::Word | NameKind::Phrase);
    let whole = Injection {
        section: Section::Recall,
        authority: Authority::Data,
        from_stream: None,
        from_seq: at,
        body,
        what: what.into(),
        why: format!("the newest turn names {}", plain(&name.text)).into(),
        part_of: None,
    };
    AskedText { whole, most: if is_word { WORD_TOKENS } else { Tokens(u64::MAX) }, part }
}

/// Returns the argument of a call that holds a whole file.
fn written(input: &str) -> Option<String> {
    let names = words().map_or(&[][..], |words| &words.contents);
    names.iter().find(|name| input.contains(&format!("\"{name}\"")))?;
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(input).ok()?;
    names.iter().find_map(|name| fields.get(name)?.as_str()).map(str::to_owned)
}

fn text_of(part: &Part) -> Option<&Body> {
    match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    }
}

/// Returns whether two paths are one file, as far as they tell: equal, or one ends with the other.
fn same_file(path: &str, name: &str) -> bool {
    let plain = |path: &str| {
        let path = path.replace('\\', "/");
        let path = path.trim_matches(['"', '\'', '/']);
        path.strip_prefix("./").or_else(|| path.strip_prefix("~/")).unwrap_or(path).to_owned()
    };
    let (path, name) = (plain(path), plain(name));
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    !name.is_empty() && (path == name || ends(&path, &name) || path.contains('/') && ends(&name, &path))
}

/// Returns whether a call read a part of a file.
fn is_partial(gist: &str) -> bool {
    let range = gist.rsplit_once(':').map(|(_, range)| range);
    range.is_some_and(|range| range.starts_with(|c: char| c.is_ascii_digit()))
        || ["sed -n", "head ", "tail "].iter().any(|part| gist.contains(part))
}

/// Returns how many words a command and the beginning of another have in common, at least two.
fn words_in_common(gist: &str, typed: &str) -> Option<u64> {
    let typed: Vec<&str> = typed.split(' ').collect();
    let said: Vec<&str> = gist.split_whitespace().collect();
    let common = |from: usize| {
        let pairs = said.iter().skip(from).zip(&typed);
        pairs.take_while(|(one, other)| one == other).count() as u64
    };
    (0..said.len()).map(common).max().filter(|common| *common >= 2)
}

/// Returns the first stretch of a text with a name, or the one that defines it, and whether it does. The member of a type
/// is defined where the text has both.
fn place_of(text: &str, name: &Name) -> Option<(Stretch, bool)> {
    let is_word = name.kind == NameKind::Word;
    let stretch = |at: usize, len: usize| (Bytes(at as u64), Bytes((at + len) as u64));
    let definition = |word: &str| {
        let place = places(text, word).find(|at| is_word && defines(text, *at, word));
        place.map(|at| (stretch(at, DEFINITION), true))
    };
    let member = || {
        let (owner, member) = name.text.rsplit_once("::")?;
        text.contains(owner.rsplit("::").next()?).then(|| definition(member))?
    };
    let plain = || match is_word {
        true => places(text, &name.text).next(),
        false => text.find(&name.text),
    };
    definition(&name.text).or_else(member).or_else(|| plain().map(|at| (stretch(at, name.text.len()), false)))
}

/// Returns the places of a word outside of longer words.
fn places<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).unwrap_or_default();
        let after = text.get(at + word.len()..).unwrap_or_default();
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// Returns whether the line defines the word at a place: after a word such as `fn`, or as a function with its body.
fn defines(text: &str, at: usize, word: &str) -> bool {
    let before = text.get(..at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let after = text.get(at + word.len()..).unwrap_or_default().lines().next().unwrap_or_default();
    let last = before.split_whitespace().next_back().unwrap_or_default();
    let definers = words().map_or(&[][..], |words| &words.definers);
    let has_body = after.starts_with('(') && after.trim_end().ends_with('{');
    // The receiver of a method in Go stands between.
    definers.iter().any(|definer| last == definer)
        || has_body && (!before.contains(['(', '=', '.']) || before.contains("func ("))
}

/// Returns the bytes that the place of a handle selects: `B600-2006` or `L10-20`.
fn place_in(text: &str, place: &str) -> Option<Stretch> {
    let (from, to) = place.get(1..)?.split_once('-').unwrap_or((place.get(1..)?, place.get(1..)?));
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    match place.get(..1)? {
        "B" => Some((Bytes(from), Bytes(to))),
        "L" => lines(text, from, to),
        _ => None,
    }
}

/// Returns the bytes of lines, counted from 1. If the lines begin with their numbers, as tools print them, the numbers
/// decide.
fn lines(text: &str, from: u64, to: u64) -> Option<Stretch> {
    let number = |line: &str| {
        let line = line.trim_start();
        let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
        line.get(..digits)?.parse::<u64>().ok()
    };
    let first = text.lines().next().and_then(number);
    let mut at = 0;
    let mut found: Option<(u64, u64)> = None;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let no =
            first.and_then(|first| number(line).or(Some(first + index as u64))).unwrap_or(index as u64 + 1);
        if from <= no && no <= to {
            found = Some((found.map_or(at, |(start, _)| start), at + line.len() as u64));
        }
        at += line.len() as u64;
    }
    found.map(|(start, end)| (Bytes(start), Bytes(end)))
}

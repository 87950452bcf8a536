//! Turns a decided trim into a request: entries in order, marks where something is missing, results with their calls.
//!
//! Rendering reads recorded events and bodies and nothing else, so the same record gives the same bytes. Fields a provider
//! added to a message as a whole are not sent: they describe the reply, not what the next request may say. It is
//! versioned: when the text of a mark or the order of anything changes, [`VERSION`] grows and the old form stays.

use crate::budget::{Reason, Treatment};
use crate::cost::{self, MESSAGE_FRAME};
use crate::id::{CallId, Handle};
use crate::message::{Body, Message, Part, Role, Standing};
use crate::pair::{At, Shape, Unit, arrange};
use crate::plan::{Trim, own_parts, treatment};
use crate::ports::{Bodies, Gauge};
use crate::request::{Request, Tool};
use crate::section::Section;
use crate::stub::{self, Stubbed, grouped};
use crate::units::{Bytes, Cost, Seq};
use crate::view::View;
use std::collections::{BTreeSet, HashMap};

/// The version of what this module writes.
pub const VERSION: u32 = 1;

/// What rendering needs beside the view.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The session's own handle: marks name ranges of it.
    pub stream: Handle,
    /// The texts.
    pub bodies: &'a dyn Bodies,
    /// What texts cost.
    pub gauge: &'a dyn Gauge,
    /// The tools to declare.
    pub tools: &'a [Tool],
}

/// What one source put into the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The entry; none for marks and tools.
    pub seq: Option<Seq>,
    /// Where it stands.
    pub section: Section,
    /// In which form.
    pub treatment: Treatment,
    /// What it costs.
    pub cost: Cost,
    /// What it is, in a few words.
    pub what: String,
    /// Its largest body.
    pub handle: Option<Handle>,
}

/// A run of positions that is not in the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// First position.
    pub from: Seq,
    /// Last position.
    pub to: Seq,
    /// Entries and cost, where the view holds them; a run before the frontier is looked up in the ledger's tallies.
    pub known: Option<(u64, Cost)>,
    /// Why.
    pub reason: Reason,
}

/// A request, and the account of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The request. Its model and output limit are the caller's to fill in.
    pub request: Request,
    /// Who put what into it, in its order. The costs add up to [`measure`] of the request.
    pub lines: Vec<Line>,
    /// What is not in it.
    pub missing: Vec<Missing>,
}

/// What a request costs, counted from its text alone.
#[must_use]
pub fn measure(request: &Request, gauge: &dyn Gauge) -> Cost {
    let system: Cost = request.system.iter().map(|part| cost::part(part, gauge)).sum();
    let tools: Cost = request.tools.iter().map(|tool| cost::tool(tool, gauge)).sum();
    let messages = request.messages.iter().map(|message| {
        let results = message.results().count() as u64;
        let frames = Cost::new(MESSAGE_FRAME.tokens.0 * results, MESSAGE_FRAME.bytes.0 * results);
        cost::message(message, gauge) + frames
    });
    system + tools + messages.sum()
}

/// Renders what a trim shows of a view.
#[must_use]
pub fn render(view: &View, trim: &Trim, scene: Scene<'_>) -> Rendered {
    let arrangement = arrange(view);
    let mut writer =
        Writer { view, trim, scene, out: Rendered::default(), ids: HashMap::new(), spoken: false };
    for tool in scene.tools {
        writer.tool(tool);
    }
    let mut gaps = gaps(&arrangement.units, view, trim).into_iter().peekable();
    for unit in &arrangement.units {
        let treatment = treatment(unit, trim, view);
        if treatment == Treatment::LeftOut {
            continue;
        }
        while let Some((from, to)) = gaps.next_if(|(_, to)| *to < unit.key) {
            writer.gap(from, to);
        }
        writer.unit(unit, treatment);
    }
    for (from, to) in gaps {
        writer.gap(from, to);
    }
    writer.aside(&arrangement.aside, &arrangement.loose);
    writer.out
}

/// The runs of positions before the frontier of which nothing is shown.
fn gaps(units: &[Unit], view: &View, trim: &Trim) -> Vec<(Seq, Seq)> {
    let shown: BTreeSet<Seq> = units
        .iter()
        .filter(|unit| treatment(unit, trim, view) != Treatment::LeftOut)
        .flat_map(|unit| unit.members.iter().copied())
        .filter(|seq| *seq < trim.drop_before)
        .collect();
    let mut gaps = Vec::new();
    // The first event of a stream opens it; nothing is missing there.
    let mut next = Seq(2);
    for seq in shown.into_iter().chain([trim.drop_before]) {
        if next < seq {
            gaps.push((next, seq.prev()));
        }
        next = next.max(seq.next());
    }
    gaps
}

struct Writer<'a> {
    view: &'a View,
    trim: &'a Trim,
    scene: Scene<'a>,
    out: Rendered,
    /// How often a call id has been used: providers demand that ids differ within a request.
    ids: HashMap<CallId, u64>,
    spoken: bool,
}

impl<'a> Writer<'a> {
    fn tool(&mut self, tool: &Tool) {
        self.out.lines.push(Line {
            seq: None,
            section: Section::Tools,
            treatment: Treatment::Verbatim,
            cost: cost::tool(tool, self.scene.gauge),
            what: format!("tool {}", tool.name),
            handle: None,
        });
        self.out.request.tools.push(tool.clone());
    }

    fn gap(&mut self, from: Seq, to: Seq) {
        let text = format!("⟨left out: positions {from}–{to} · read {}#{from}-{to}⟩", self.scene.stream);
        let message = Message::text(Role::User, text);
        self.out.lines.push(Line {
            seq: None,
            section: Section::Summaries,
            treatment: Treatment::Stub,
            cost: cost::message(&message, self.scene.gauge),
            what: format!("mark of positions {from}–{to}"),
            handle: None,
        });
        self.spoken = true;
        self.out.request.messages.push(message);
        self.out.missing.push(Missing { from, to, known: None, reason: Reason::Budget });
    }

    fn unit(&mut self, unit: &Unit, treatment: Treatment) {
        match &unit.shape {
            Shape::System => self.words(unit, Role::System, treatment),
            Shape::User => self.words(unit, Role::User, treatment),
            Shape::Exchange { calls } => self.exchange(unit, calls, treatment),
        }
    }

    /// A unit of one speaker's words, no results.
    fn words(&mut self, unit: &Unit, role: Role, treatment: Treatment) {
        for seq in &unit.speakers {
            let Some(said) = self.said(*seq) else { continue };
            let clip = self.trim.clip_of(*seq);
            let mut parts = Vec::new();
            let mut cost = cost::EntryCost::default().verbatim;
            for piece in own_parts(said) {
                let clipped = clip.and_then(|bytes| self::clip(piece, bytes, self.scene.bodies));
                self.put(clipped.as_ref().unwrap_or(piece), treatment, None, (&mut parts, &mut cost));
            }
            if parts.is_empty() {
                self.miss(*seq, Reason::Empty);
                continue;
            }
            let leading = role == Role::System && !self.spoken;
            if leading {
                self.out.request.system.append(&mut parts);
            } else {
                cost += MESSAGE_FRAME;
                self.spoken = true;
                self.out.request.messages.push(Message::new(role, parts));
            }
            let section = self.section(*seq, said, leading);
            self.line(*seq, said, (section, treatment), cost);
        }
    }

    /// A reply and the results of its calls.
    fn exchange(&mut self, unit: &Unit, calls: &[(CallId, Option<At>)], treatment: Treatment) {
        let names = self.names(calls, unit.key);
        let mut next_name = names.iter();
        let mut parts = Vec::new();
        let mut frame = MESSAGE_FRAME;
        for seq in &unit.speakers {
            let Some(said) = self.said(*seq) else { continue };
            let mut cost = std::mem::take(&mut frame);
            for piece in own_parts(said) {
                let renamed = match piece {
                    Part::ToolCall { call, .. } => {
                        let name = next_name.next().unwrap_or(call);
                        (name != call).then(|| rename(piece, name))
                    }
                    _ => None,
                };
                self.put(renamed.as_ref().unwrap_or(piece), treatment, None, (&mut parts, &mut cost));
            }
            self.line(*seq, said, (Section::Transcript, treatment), cost);
        }
        self.spoken = true;
        self.out.request.messages.push(Message::new(Role::Assistant, parts));
        if !calls.is_empty() {
            self.results(calls, &names, treatment);
        }
    }

    fn results(&mut self, calls: &[(CallId, Option<At>)], names: &[CallId], treatment: Treatment) {
        let mut parts = Vec::new();
        let mut frame = MESSAGE_FRAME;
        for ((call, at), name) in calls.iter().zip(names) {
            let mut cost = MESSAGE_FRAME + std::mem::take(&mut frame);
            let found = at.and_then(|(seq, index)| {
                let said = self.said(seq)?;
                Some((seq, said, said.parts.get(index)?))
            });
            let Some((seq, said, piece)) = found else {
                let stand_in = missing_result(name);
                cost += cost::part(&stand_in, self.scene.gauge);
                self.out.lines.push(Line {
                    seq: None,
                    section: Section::Transcript,
                    treatment: Treatment::Stub,
                    cost,
                    what: format!("mark of the missing result of call {}", call.as_str()),
                    handle: None,
                });
                parts.push(stand_in);
                continue;
            };
            let renamed = (name != call).then(|| rename(piece, name));
            let gist = self.view.gist(call, seq);
            self.put(renamed.as_ref().unwrap_or(piece), treatment, gist, (&mut parts, &mut cost));
            self.line(seq, said, (Section::Transcript, treatment), cost);
        }
        self.out.request.messages.push(Message::new(Role::Tool, parts));
    }

    /// Ids for calls that are used before in this request get the position as a suffix.
    fn names(&mut self, calls: &[(CallId, Option<At>)], key: Seq) -> Vec<CallId> {
        let mut names = Vec::with_capacity(calls.len());
        for (call, _) in calls {
            let used = self.ids.entry(call.clone()).or_insert(0);
            *used += 1;
            names.push(match used {
                1 => call.clone(),
                n => format!("{}-{key}-{n}", call.as_str()).into(),
            });
        }
        names
    }

    /// Puts a part into a message in the form its entry has.
    fn put(
        &mut self,
        piece: &Part,
        treatment: Treatment,
        gist: Option<&str>,
        (parts, cost): (&mut Vec<Part>, &mut Cost),
    ) {
        let stubbed = if treatment == Treatment::Stub { stub::part(piece, gist) } else { Stubbed::Kept };
        let form = match &stubbed {
            Stubbed::Kept => piece,
            Stubbed::Part(short) => short,
            Stubbed::Gone => return,
        };
        let mut shown = form.clone();
        let mut erased = false;
        for body in shown.bodies_mut() {
            if let Body::Blob { blob, .. } = body {
                let text = self.scene.bodies.text(*blob);
                erased |= text.is_none();
                *body = Body::Inline(text.unwrap_or(ERASED).to_owned());
            }
        }
        if is_blank(&shown) {
            return;
        }
        *cost += cost::part(if erased { &shown } else { form }, self.scene.gauge);
        parts.push(shown);
    }

    fn said(&self, seq: Seq) -> Option<&'a Message> {
        self.view.entry(seq)?.message.as_ref()
    }

    fn section(&self, seq: Seq, said: &Message, leading: bool) -> Section {
        match &said.standing {
            _ if leading => Section::System,
            Standing::Injected(what) if what.as_ref() == "recall" => Section::Recall,
            _ if self.view.newest_user() == Some(seq) => Section::Prompt,
            _ => Section::Transcript,
        }
    }

    fn line(&mut self, seq: Seq, said: &Message, (section, treatment): (Section, Treatment), cost: Cost) {
        // Parallel results of one record are one line.
        if let Some(last) = self.out.lines.last_mut().filter(|line| line.seq == Some(seq)) {
            last.cost += cost;
            return;
        }
        let handle = said
            .parts
            .iter()
            .flat_map(Part::bodies)
            .filter(|body| body.handle().is_some())
            .max_by_key(|body| body.bytes())
            .and_then(Body::handle);
        let what = describe(seq, said, self.view, self.scene.bodies);
        self.out.lines.push(Line { seq: Some(seq), section, treatment, cost, what, handle });
    }

    fn miss(&mut self, seq: Seq, reason: Reason) {
        let cost = self.said(seq).map_or(Cost::ZERO, |said| cost::message(said, self.scene.gauge));
        self.out.missing.push(Missing { from: seq, to: seq, known: Some((1, cost)), reason });
    }

    /// Lists what no trim left out, but what is in no request.
    fn aside(&mut self, aside: &[(Seq, Reason)], loose: &[(At, Reason)]) {
        let results = loose.iter().map(|((seq, _), reason)| (*seq, *reason));
        let all: BTreeSet<(Seq, Reason)> = aside.iter().copied().chain(results).collect();
        for (seq, reason) in all {
            if seq >= self.trim.drop_before {
                self.miss(seq, reason);
            }
        }
        self.out.missing.sort_by_key(|missing| (missing.from, missing.to));
        self.out.missing.dedup_by(|next, run| {
            let joins = run.reason == next.reason && run.to.next() == next.from;
            match (&mut run.known, next.known) {
                (Some((count, cost)), Some((more, other))) if joins => {
                    *count += more;
                    *cost += other;
                    run.to = next.to;
                    true
                }
                _ => false,
            }
        });
    }
}

/// What stands where content was erased.
const ERASED: &str = "⟨erased⟩";

fn missing_result(call: &CallId) -> Part {
    Part::ToolResult {
        call: call.clone(),
        content: vec![Part::text("⟨no result was recorded for this call⟩")],
        failed: true,
        extra: None,
    }
}

fn rename(piece: &Part, name: &CallId) -> Part {
    let mut piece = piece.clone();
    if let Part::ToolCall { call, .. } | Part::ToolResult { call, .. } = &mut piece {
        *call = name.clone();
    }
    piece
}

fn is_blank(part: &Part) -> bool {
    matches!(part, Part::Text { text: Body::Inline(text), .. } if text.trim().is_empty())
}

/// Head and tail of a text that is longer than `keep` bytes, with a mark between them.
#[must_use]
pub fn clip(piece: &Part, keep: Bytes, bodies: &dyn Bodies) -> Option<Part> {
    let Part::Text { text: body, extra } = piece else { return None };
    if body.bytes() <= keep {
        return None;
    }
    let text = match body {
        Body::Inline(text) => text.as_str(),
        Body::Blob { blob, .. } => bodies.text(*blob)?,
    };
    let half = usize::try_from(keep.0 / 2).unwrap_or(usize::MAX);
    let (head, tail) = (stub::head(text, half), stub::tail(text, half));
    let gone = text.len().saturating_sub(head.len() + tail.len()) as u64;
    let handle = body.handle().map(|handle| format!(" · {handle}")).unwrap_or_default();
    let text = format!("{head}\n⟨{} bytes left out{handle}⟩\n{tail}", grouped(gone));
    Some(Part::Text { text: text.into(), extra: extra.clone() })
}

/// What a message is, in a few words on one line.
#[must_use]
pub fn describe(seq: Seq, said: &Message, view: &View, bodies: &dyn Bodies) -> String {
    let mut words = Vec::new();
    for part in &said.parts {
        match part {
            Part::Text { text, .. } => {
                let text = match text {
                    Body::Inline(text) => text.as_str(),
                    Body::Blob { blob, .. } => bodies.text(*blob).unwrap_or(ERASED),
                };
                words.push(first_words(text));
            }
            Part::Thinking { .. } => words.push("thinking".to_owned()),
            Part::ToolCall { name, gist, .. } => {
                words.push(format!("{name} {}", first_words(gist.as_deref().unwrap_or_default())));
            }
            Part::ToolResult { call, content, failed, .. } => {
                let lines: u64 = content.iter().flat_map(Part::bodies).map(Body::lines).sum();
                let of = first_words(view.gist(call, seq).unwrap_or_default());
                let failed = if *failed { "failed, " } else { "" };
                words.push(format!("→ {of} ({failed}{} lines)", grouped(lines)));
            }
            Part::Media { mime, .. } => words.push(format!("[{mime}]")),
            Part::Opaque { .. } => words.push("[opaque block]".to_owned()),
        }
    }
    let joined = words.join(" · ");
    stub::head(joined.trim(), 160).to_owned()
}

fn first_words(text: &str) -> String {
    let head = stub::head(text.trim_start(), 240);
    let line = head.lines().next().unwrap_or_default();
    let mut out: String = line.chars().take(72).filter(|c| !c.is_control()).collect();
    if out.len() < text.trim().len() {
        out.push('…');
    }
    out
}

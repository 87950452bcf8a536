//! Rendering of a decided trim into a request: entries in order, marks for what is missing, results with their calls.
//!
//! Rendering reads recorded events and bodies and nothing else, so the same record gives the same bytes. Fields that
//! a provider added to a whole message are not sent: they describe the reply, not the next request. Rendering is
//! versioned: if the text of a mark or the order of anything changes, [`VERSION`] is increased and the old form is
//! kept.

mod missing;
mod wanted;

use crate::form::fence;
use crate::form::stub::{self, Stubbed};
use crate::id::{CallId, Handle};
use crate::lane::pair::{Exchange, ExchangeKind, PairedCall, arrange};
use crate::lane::restate;
use crate::lane::trim::{self, GapOrSummary, treatment};
use crate::lane::view::{SummaryNode, View, ViewEntry};
use crate::planning::presentation::{self, Presentation};
use crate::planning::{cost, quote};
use crate::ports::{Bodies, CostModel};
use crate::record::budget::{Reason, Treatment};
use crate::record::decision::{PartPosition, Trim};
use crate::record::message::{Body, Message, MessageOrigin, Part, Role};
use crate::record::preamble::Preamble;
use crate::record::reduction::ShownShorter;
use crate::record::request::{Request, Tool};
use crate::rendering::describe::describe;
pub use crate::rendering::line::{Missing, SourceLine};
use crate::rendering::preamble_text;
use crate::source::section::Section;
use crate::units::{Cost, Seq, Tokens};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
pub use wanted::{edges, handles};

/// Version of the form that this module writes.
///
/// 1: the first version. 2: a lane's preamble precedes the conversation, and specifies the places up to which to
/// cache. 3: tool output that an import could not bind to a call is fenced. 4: the mark in a text that was cut says
/// which bytes are missing, in the form that `read` accepts.
pub const VERSION: u32 = 4;

/// Input for rendering, in addition to the view.
#[derive(Clone, Copy)]
pub struct RenderInput<'a> {
    /// Handle of the session; marks name ranges of the session.
    pub stream: Handle,
    /// The texts.
    pub bodies: &'a dyn Bodies,
    /// Cost of texts.
    pub costs: &'a dyn CostModel,
    /// Tools to declare if the lane has no preamble.
    pub tools: &'a [Tool],
    /// Version to render: [`VERSION`], or an earlier version to reproduce its output.
    pub version: u32,
}

/// A rendered request, with an account of its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedRequest {
    /// The request. The caller fills in the request's model and output limit.
    pub request: Request,
    /// Source and cost of each text, in the order of the request. The costs add up to [`measure`] of the request.
    pub lines: Vec<SourceLine>,
    /// Runs that are not in the request.
    pub missing: Vec<Missing>,
    /// Tokens that the shown entries would take in addition, had each of their parts stood verbatim.
    pub shortened: Tokens,
    /// Whether the last message is the assistant's.
    pub ends_with_reply: bool,
    /// Places of the entries' parts in the request, by message and part. Tool results are not included.
    pub places: BTreeMap<(usize, usize), PartPosition>,
}

/// Returns the cost of a request, counted from its text alone.
///
/// [`render`] leaves model and unknown fields to its caller, who adds a line for their cost.
#[must_use]
pub fn measure(request: &Request, costs: &dyn CostModel) -> Cost {
    let model = request.model.as_deref().map_or(Cost::ZERO, |model| costs.text(model));
    let system: Cost = request.system.iter().map(|part| cost::part(part, costs)).sum();
    let tools: Cost = request.tools.iter().map(|tool| cost::tool(tool, costs)).sum();
    let messages = request.messages.iter().map(|message| {
        let frames: Cost = message.results().map(|_| cost::frame(costs)).sum();
        cost::message(message, costs) + frames
    });
    model + cost::extra(&request.extra, costs) + system + tools + messages.sum()
}

/// Renders the part of a view that a trim shows. The view must have been trimmed with that trim.
#[must_use]
pub fn render(view: &View, trim: &Trim, input: RenderInput<'_>) -> RenderedRequest {
    let arrangement = arrange(view);
    let presentation = Presentation::new(&arrangement, trim, view);
    let newest = view.newest_user();
    let mut writer = RequestWriter {
        view,
        trim,
        input,
        presentation,
        newest,
        out: RenderedRequest::default(),
        spoken: false,
    };
    let system = match view.lane().preamble() {
        Some(preamble) => writer.preamble(preamble),
        None => {
            input.tools.iter().for_each(|tool| writer.tool(tool));
            Vec::new()
        }
    };
    let mut stands = trim::stands(arrangement.exchanges.iter(), trim, view).into_iter().peekable();
    let mut rules = quote::message(trim, view, input.bodies);
    for exchange in &arrangement.exchanges {
        let treatment = treatment(exchange, trim, view);
        if treatment == Treatment::LeftOut {
            continue;
        }
        while let Some(stand) = stands.next_if(|stand| stand.key() < exchange.key) {
            writer.rules(rules.take());
            writer.stand(stand);
        }
        writer.exchange(exchange, treatment);
    }
    for stand in stands {
        writer.rules(rules.take());
        writer.stand(stand);
    }
    writer.rules(rules);
    writer.out.request.system.extend(system);
    let last = writer.out.request.messages.last();
    writer.out.ends_with_reply = last.is_some_and(|said| said.role == Role::Assistant);
    writer.missing(&arrangement);
    writer.out
}

/// A part of a message, with the place of the entry's part that it shows.
type PlacedPart = (Part, Option<PartPosition>);

struct RequestWriter<'a> {
    view: &'a View,
    trim: &'a Trim,
    input: RenderInput<'a>,
    presentation: Presentation<'a>,
    newest: Option<Seq>,
    out: RenderedRequest,
    /// Whether a message has already been written: system text before the first message is not part of the
    /// conversation.
    spoken: bool,
}

/// Lines of one exchange. The parts of one entry share a line.
#[derive(Default)]
struct ExchangeLines {
    lines: Vec<(Option<Seq>, Cost)>,
    places: HashMap<Seq, usize>,
    /// Entries that have a part shown in another form.
    reduced: HashSet<Seq>,
    /// Parts that are shown in a shorter form.
    shorter: Vec<(Seq, ShownShorter)>,
}

impl ExchangeLines {
    fn add(&mut self, seq: Seq, cost: Cost) {
        let place = *self.places.entry(seq).or_insert(self.lines.len());
        match self.lines.get_mut(place) {
            Some((_, sum)) => *sum += cost,
            None => self.lines.push((Some(seq), cost)),
        }
    }
}

impl<'a> RequestWriter<'a> {
    fn tool(&mut self, tool: &Tool) {
        let (what, cost) = (format!("tool {}", tool.name), cost::tool(tool, self.input.costs));
        self.out.lines.push(SourceLine::outside(Section::Tools, what, cost));
        self.out.request.tools.push(tool.clone());
    }

    /// Writes the preamble, and returns the system text that follows the transcript's own.
    fn preamble(&mut self, preamble: &Preamble) -> Vec<Part> {
        let text = preamble_text::preamble_text(preamble, self.input.costs);
        let resolved = |part: &Part| stub::resolve(part, self.input.bodies);
        self.out.lines.extend(text.lines);
        self.out.request.system.extend(text.safety.iter().filter_map(resolved));
        self.out
            .request
            .tools
            .extend(text.tools.iter().map(|tool| preamble_text::declared(tool, self.input.bodies)));
        if let Some(message) = text.message {
            let parts = message.parts.iter().filter_map(resolved).collect();
            self.out.request.messages.push(Message { parts, ..message });
        }
        text.system.iter().filter_map(resolved).collect()
    }

    /// Writes the user's standing rules, which come before the first gap or summary.
    fn rules(&mut self, message: Option<Message>) {
        let Some(message) = message else { return };
        let cost = cost::message(&message, self.input.costs);
        let what = "the user's standing rules".to_owned();
        self.out.lines.push(SourceLine::outside(Section::Summaries, what, cost));
        self.say(message);
    }

    fn stand(&mut self, stand: GapOrSummary<'_>) {
        match stand {
            GapOrSummary::Gap(from, to) => self.mark(from, to),
            GapOrSummary::Node(_, node) => self.summary(node),
        }
    }

    /// Writes a summary. If a summary was erased, its range has the mark of a gap instead.
    fn summary(&mut self, node: &SummaryNode) {
        let message =
            fence::summary(&node.text, self.input.stream, node.from, node.to, node.unchecked.as_deref());
        let cost = cost::message(&message, self.input.costs);
        let parts: Option<Vec<Part>> =
            message.parts.iter().map(|part| stub::resolve(part, self.input.bodies)).collect();
        let by = node.unchecked.as_deref().map(|by| format!(", by {by}, unchecked")).unwrap_or_default();
        let what = format!("summary of positions {}–{}, level {}{by}", node.from, node.to, node.level);
        let line = SourceLine::outside(Section::Summaries, what, cost);
        self.out.lines.push(SourceLine { seq: Some(node.at), handle: node.text.handle(), ..line });
        self.say(Message { parts: parts.unwrap_or_default(), ..message });
    }

    fn mark(&mut self, from: Seq, to: Seq) {
        let handle = self.input.stream.range(from, to);
        let message = Message::text(Role::User, format!("⟨left out: positions {from}–{to} · read {handle}⟩"));
        let cost = cost::message(&message, self.input.costs);
        self.out.lines.push(SourceLine::mark(
            Section::Summaries,
            format!("mark of positions {from}–{to}"),
            cost,
        ));
        self.say(message);
    }

    fn say(&mut self, message: Message) {
        self.spoken = true;
        self.out.request.messages.push(message);
    }

    fn exchange(&mut self, exchange: &Exchange, treatment: Treatment) {
        match &exchange.shape {
            ExchangeKind::System => self.plain_exchange(exchange, Role::System, treatment),
            ExchangeKind::User => self.plain_exchange(exchange, Role::User, treatment),
            ExchangeKind::Exchange { calls } => self.reply(exchange, calls, treatment),
        }
    }

    /// Writes an exchange that consists of one speaker's words, without results.
    fn plain_exchange(&mut self, exchange: &Exchange, role: Role, treatment: Treatment) {
        for entry in exchange.speakers.iter().filter_map(|seq| self.view.entry(*seq)) {
            let mut parts = Vec::new();
            let mut cost = Cost::ZERO;
            let mut reduced = false;
            let own = self.sendable(entry);
            let is_listed = own.is_empty() && !entry.message.parts.is_empty();
            for (index, piece) in own {
                let form = self.form((entry.seq, index), piece, treatment, None);
                reduced |= treatment == Treatment::Verbatim && form != Stubbed::Kept;
                cost += self.put(piece, &form, &mut parts, Some((entry.seq, index)));
            }
            let treatment = if reduced { Treatment::Reduced } else { treatment };
            if !parts.iter().any(|(part, _)| part.speaks()) {
                if !is_listed {
                    self.miss(entry.seq, treatment);
                }
                continue;
            }
            if let Some((open, close)) = fence::output(&entry.message).filter(|_| self.input.version >= 3) {
                cost += cost::part(&open, self.input.costs) + cost::part(&close, self.input.costs);
                parts.insert(0, (open, None));
                parts.push((close, None));
            }
            let leading = role == Role::System && !self.spoken;
            if leading {
                self.out.request.system.extend(parts.into_iter().map(|(part, _)| part));
            } else {
                cost += cost::frame(self.input.costs);
                self.say_of(role, parts);
            }
            let section = self.section(entry, leading);
            self.out.lines.push(self.line(entry, section, treatment, cost));
        }
    }

    /// Returns the form of a part, with the head and tail of what the trim clips.
    fn form(&self, at: PartPosition, piece: &Part, treatment: Treatment, gist: Option<&str>) -> Stubbed {
        let form = self.presentation.of(at, piece, treatment, gist);
        let keep = self.trim.clip_of(at.0).filter(|_| treatment == Treatment::Clipped);
        presentation::cut(form, piece, keep, self.input.bodies, self.input.version)
    }

    /// Writes parts of entries as a message, and records their places.
    fn say_of(&mut self, role: Role, parts: Vec<PlacedPart>) {
        let message = self.out.request.messages.len();
        let places = parts.iter().enumerate().filter_map(|(part, (_, at))| Some(((message, part), (*at)?)));
        self.out.places.extend(places);
        self.say(Message::new(role, parts.into_iter().map(|(part, _)| part).collect()));
    }

    /// Returns the speaker's own parts that are sent, and lists the others as missing.
    fn sendable(&mut self, entry: &'a ViewEntry) -> Vec<(usize, &'a Part)> {
        let mut parts = Vec::new();
        for (index, part) in entry.message.parts.iter().enumerate() {
            match cost::missing(entry, index, part, self.trim, self.input.costs) {
                _ if matches!(part, Part::ToolResult { .. }) => {}
                Some(reason) => self.list(entry.seq, Some(index), reason),
                None if restate::of(self.view, (entry.seq, index)).is_some_and(|one| !one.as_reference) => {
                    self.list(entry.seq, Some(index), Reason::Repeated);
                }
                None => parts.push((index, part)),
            }
        }
        parts
    }

    /// Writes a reply and the results of its calls.
    fn reply(&mut self, exchange: &Exchange, calls: &[PairedCall], treatment: Treatment) {
        let mut account = ExchangeLines::default();
        let mut names = calls.iter().map(|call| &call.name);
        let mut parts = Vec::new();
        let mut frame = cost::frame(self.input.costs);
        let mut silent = Vec::new();
        for entry in exchange.speakers.iter().filter_map(|seq| self.view.entry(*seq)) {
            let mut cost = std::mem::take(&mut frame);
            let own = self.sendable(entry);
            if !own.is_empty() || entry.message.parts.is_empty() {
                silent.push(entry.seq);
            }
            for (index, piece) in own {
                let name = if matches!(piece, Part::ToolCall { .. }) { names.next() } else { None };
                let piece = renamed(piece, name);
                let form = self.form((entry.seq, index), &piece, treatment, None);
                if form != Stubbed::Kept {
                    account.reduced.insert(entry.seq);
                }
                cost += self.put(&piece, &form, &mut parts, Some((entry.seq, index)));
            }
            if cost::is_marked_alone(entry, self.trim, self.input.costs) {
                account.reduced.insert(entry.seq);
                cost += self.put(&presentation::mark(), &Stubbed::Kept, &mut parts, None);
            }
            account.add(entry.seq, cost);
        }
        if !parts.iter().any(|(part, _)| part.speaks()) {
            silent.into_iter().for_each(|seq| self.miss(seq, treatment));
            return;
        }
        self.say_of(Role::Assistant, parts);
        if !calls.is_empty() {
            let results = self.results(calls, treatment, &mut account);
            self.say_of(Role::Tool, results);
        }
        for (seq, cost) in account.lines {
            match seq.and_then(|seq| self.view.entry(seq)) {
                Some(entry) => {
                    let reduced = treatment == Treatment::Verbatim && account.reduced.contains(&entry.seq);
                    let treatment = if reduced { Treatment::Reduced } else { treatment };
                    let shorter = account.shorter.iter().filter(|(seq, _)| *seq == entry.seq);
                    let shorter = shorter.map(|(_, shorter)| shorter.clone()).collect();
                    let line = self.line(entry, Section::Transcript, treatment, cost);
                    self.out.lines.push(SourceLine { reduced: shorter, ..line });
                }
                None => {
                    let what = "mark of a missing result".to_owned();
                    self.out.lines.push(SourceLine::mark(Section::Transcript, what, cost));
                }
            }
        }
    }

    fn results(
        &mut self,
        calls: &[PairedCall],
        treatment: Treatment,
        account: &mut ExchangeLines,
    ) -> Vec<PlacedPart> {
        let mut parts = Vec::with_capacity(calls.len());
        let mut frame = cost::frame(self.input.costs);
        for call in calls {
            let cost = cost::frame(self.input.costs) + std::mem::take(&mut frame);
            match call.result.and_then(|place| Some((place, self.view.part(place)?))) {
                Some((place, piece)) => {
                    let seq = place.0;
                    let gist = cost::gist(self.view.part(call.place));
                    let piece = renamed(piece, Some(&call.name));
                    let form = self.form(place, &piece, treatment, gist);
                    if form != Stubbed::Kept {
                        account.reduced.insert(seq);
                        let shorter = self.presentation.shorter(place, &piece, treatment);
                        account.shorter.extend(shorter.map(|shorter| (seq, shorter)));
                    }
                    account.add(seq, cost + self.put(&piece, &form, &mut parts, None));
                }
                None => {
                    let stand_in = missing_result(&call.name);
                    account.lines.push((None, cost + cost::part(&stand_in, self.input.costs)));
                    parts.push((stand_in, None));
                }
            }
        }
        parts
    }

    /// Puts a part into a message in the given form, and returns the part's cost in the message.
    fn put(
        &mut self,
        piece: &Part,
        form: &Stubbed,
        parts: &mut Vec<PlacedPart>,
        at: Option<PartPosition>,
    ) -> Cost {
        let is_kept = *form == Stubbed::Kept;
        let Some(form) = form.shown(piece) else {
            self.shorten(piece, Cost::ZERO);
            return Cost::ZERO;
        };
        let is_whole = form.bodies().iter().all(|body| body.handle().is_none_or(|blob| self.holds(blob)));
        let Some(shown) = stub::resolve(form, self.input.bodies) else { return Cost::ZERO };
        if matches!(&shown, Part::Text { .. }) && !shown.speaks() {
            return Cost::ZERO;
        }
        // A body in a blob is counted once for all requests. An erased body costs as much as its replacement.
        let cost = cost::part(if is_whole { form } else { &shown }, self.input.costs);
        if !is_kept {
            self.shorten(piece, cost);
        }
        parts.push((shown, at));
        cost
    }

    /// Counts what a part would take in addition, had it stood verbatim.
    fn shorten(&mut self, piece: &Part, shown: Cost) {
        let whole = cost::part(piece, self.input.costs);
        self.out.shortened += whole.tokens.saturating_sub(shown.tokens);
    }

    fn holds(&self, blob: Handle) -> bool {
        self.input.bodies.text(blob).is_some()
    }

    fn section(&self, entry: &ViewEntry, leading: bool) -> Section {
        match &entry.message.standing {
            _ if leading => Section::System,
            MessageOrigin::Injected(what) if self.view.lane().is_ours(entry.seq) => {
                let mut tail = Section::TAIL.into_iter();
                tail.find(|section| section.name() == what.as_ref()).unwrap_or(Section::Recall)
            }
            _ if self.newest == Some(entry.seq) => Section::Prompt,
            _ => Section::Transcript,
        }
    }

    /// Returns the line of an entry, without the records of its shorter parts.
    fn line(&self, entry: &ViewEntry, section: Section, treatment: Treatment, cost: Cost) -> SourceLine {
        let bodies = entry.message.parts.iter().flat_map(Part::bodies);
        let largest = bodies.filter(|body| body.handle().is_some()).max_by_key(|body| body.bytes());
        SourceLine {
            seq: Some(entry.seq),
            section,
            treatment,
            cost,
            what: describe(entry.seq, &entry.message, self.view, self.input.bodies, &|text| {
                Cow::Borrowed(text)
            }),
            handle: largest.and_then(Body::handle),
            reduced: Vec::new(),
        }
    }

    /// Lists an entry as missing if none of its content was left to show.
    fn miss(&mut self, seq: Seq, treatment: Treatment) {
        let reason = match treatment {
            Treatment::Stub => Reason::Budget,
            Treatment::Reduced => Reason::Curated,
            _ => Reason::Empty,
        };
        self.list(seq, None, reason);
    }

    /// Lists an entry, or one of its parts, as missing.
    fn list(&mut self, seq: Seq, part: Option<usize>, reason: Reason) {
        let costs = self.input.costs;
        let cost = match part {
            Some(index) => self.view.part((seq, index)).map(|part| cost::part(part, costs)),
            None => self.view.entry(seq).map(|entry| cost::message(&entry.message, costs)),
        };
        let known = Some((1, cost.unwrap_or_default()));
        let shown_at = match part {
            _ if reason != Reason::Repeated => None,
            Some(index) => restate::of(self.view, (seq, index)).map(|one| one.by.0),
            None => restate::shown_at(self.view, seq),
        };
        self.out.missing.push(Missing { from: seq, to: seq, known, reason, shown_at });
    }
}

fn missing_result(call: &CallId) -> Part {
    Part::ToolResult {
        call: call.clone(),
        content: vec![Part::text("⟨no result was recorded for this call⟩")],
        failed: true,
        extra: None,
    }
}

/// Returns a call or result with the id that it has in the request.
fn renamed<'p>(piece: &'p Part, name: Option<&CallId>) -> Cow<'p, Part> {
    let (Part::ToolCall { call, .. } | Part::ToolResult { call, .. }, Some(name)) = (piece, name) else {
        return Cow::Borrowed(piece);
    };
    if call == name {
        return Cow::Borrowed(piece);
    }
    let mut piece = piece.clone();
    if let Part::ToolCall { call, .. } | Part::ToolResult { call, .. } = &mut piece {
        *call = name.clone();
    }
    Cow::Owned(piece)
}

//! Costs of texts for one model, from stored counts and from new ones.

use crate::rules::tokens::{Class, Counted, Counter, escaped_len};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use wunderblock_core::budget::Reason;
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Dialect, Extra, Part, Role};
use wunderblock_core::ports::{CostModel, Framing};
use wunderblock_core::units::{Bytes, Cost, Tokens};
use wunderblock_core::usage::Calibration;
use wunderblock_store::BodyCount;
use wunderblock_wire::{refusal, sent_fields};

/// Maximum number of bytes in a text whose count is remembered. Inline texts are weighed several times in a build:
/// when estimates are calibrated, when the request is planned, and when it is rendered.
const MEMO_MAX: usize = wunderblock_store::codec::INLINE_MAX;

/// Cost of the short notice that replaces a body that was erased.
const ERASED: Cost = Cost::new(16, 64);

/// Token counts of bodies and of short texts. The counts are shared by the cost models of all builds of a lane or a
/// ledger.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// The counts are behind a lock, because a build may continue on another thread after waiting for its driver.
    bodies: RwLock<HashMap<Handle, BodyCount>>,
    memo: Arc<Memo>,
}

/// Token counts of short texts, keyed by the first half of the BLAKE3 hash of each text. The texts themselves are not
/// kept.
#[derive(Debug, Default)]
pub(crate) struct Memo(Mutex<HashMap<[u8; 16], BodyCount>>);

/// Maximum number of short texts that are remembered. When this number is reached, all counts are forgotten.
const MEMO_TEXTS: usize = 1 << 16;

impl Counts {
    /// Creates counts that contain no bodies and share the counts of short texts with earlier builds.
    pub(crate) fn remembering(memo: Arc<Memo>) -> Self {
        Self { memo, ..Self::default() }
    }

    /// Records the count of a body.
    pub(crate) fn learn(&self, handle: Handle, count: BodyCount) {
        self.bodies.write().unwrap_or_else(PoisonError::into_inner).insert(handle, count);
    }

    /// Returns the count of a body, if known.
    pub(crate) fn of(&self, handle: Handle) -> Option<BodyCount> {
        self.bodies.read().unwrap_or_else(PoisonError::into_inner).get(&handle).copied()
    }

    fn texts(&self) -> MutexGuard<'_, HashMap<[u8; 16], BodyCount>> {
        self.memo.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cost model of one build. Cloning is cheap: clones share the counts.
#[derive(Clone, Debug)]
pub(crate) struct TokenCosts {
    counter: Counter,
    dialect: Dialect,
    calibration: Option<Calibration>,
    counts: Arc<Counts>,
}

fn key(text: &str) -> [u8; 16] {
    let hash = blake3::hash(text.as_bytes());
    std::array::from_fn(|at| hash.as_bytes().get(at).copied().unwrap_or_default())
}

impl TokenCosts {
    /// Creates a cost model for a model and a request format.
    #[must_use]
    pub(crate) fn new(counter: Counter, dialect: Dialect, counts: Arc<Counts>) -> Self {
        Self { counter, dialect, calibration: None, counts }
    }

    /// Returns the cost model with its estimates corrected by the provider's counts.
    ///
    /// The correction applies to texts, though never below their o200k count, and to what the provider adds around
    /// messages. The correction does not apply to the frames of a dialect or to media, which are constants, or to a
    /// model whose own vocabulary is available.
    #[must_use]
    pub(crate) fn calibrated(self, calibration: Option<Calibration>) -> Self {
        let calibration = calibration.filter(|_| self.estimates());
        Self { calibration, ..self }
    }

    /// Returns a cost model with the same settings that knows no bodies, for use on another thread.
    #[must_use]
    pub(crate) fn alike(&self) -> Self {
        Self { counts: Arc::default(), ..self.clone() }
    }

    /// Returns the correction of the estimates, if any.
    #[must_use]
    pub(crate) fn calibration(&self) -> Option<Calibration> {
        self.calibration
    }

    /// Returns whether the counts are estimates, because the model's own vocabulary is not part of the program.
    #[must_use]
    pub(crate) fn estimates(&self) -> bool {
        self.counter.model().vocabulary.is_none()
    }

    /// Records the count of a body.
    pub(crate) fn learn(&self, handle: Handle, count: BodyCount) {
        self.counts.learn(handle, count);
    }

    /// Returns whether the count of a body is known in the vocabulary that this model needs.
    #[must_use]
    pub(crate) fn knows(&self, handle: Handle) -> bool {
        // The count of an empty text shows whether this model needs cl100k counts.
        let needs_own = self.counter.count_cl100k("").is_some();
        self.counts.of(handle).is_some_and(|count| !needs_own || count.cl100k.is_some())
    }

    /// Counts a body for this model.
    #[must_use]
    pub(crate) fn measure(&self, text: &str) -> BodyCount {
        let cl100k = self.counter.count_cl100k(text);
        BodyCount { cl100k, ..count_body(text) }
    }

    fn correct(&self, estimate: Tokens) -> Tokens {
        self.calibration.map_or(estimate, |calibration| calibration.of(estimate))
    }

    fn cost(&self, count: BodyCount) -> Cost {
        let class = Class::from_number(count.class).unwrap_or(Class::Code);
        let estimate = self.counter.scale(Counted { o200k: count.o200k, class }, count.cl100k);
        let tokens = self.correct(estimate).max(Tokens(u64::from(count.o200k)));
        Cost { tokens, bytes: Bytes(count.escaped) }
    }
}

/// Counts a body for all models.
#[must_use]
pub(crate) fn count_body(text: &str) -> BodyCount {
    let counted = Counted::of(text);
    BodyCount {
        o200k: counted.o200k,
        cl100k: None,
        class: counted.class.number(),
        escaped: escaped_len(text),
        quotes: quotes(text),
    }
}

fn quotes(text: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'"', text.as_bytes()).count()).unwrap_or(u32::MAX)
}

/// Adds a token per string value to the cost of JSON that may be sent as a value or as a string. A string value can
/// take one more token by itself than within the whole JSON, because vocabularies have tokens that begin with a
/// quote.
fn as_json(cost: Cost, quotes: u32) -> Cost {
    Cost { tokens: cost.tokens + Tokens(u64::from(quotes / 2)), bytes: cost.bytes }
}

impl CostModel for TokenCosts {
    fn framing(&self) -> Framing {
        let framing = self.counter.framing();
        Framing { message: self.correct(framing.message), call: self.correct(framing.call) }
    }

    fn binds_thinking(&self) -> bool {
        self.dialect == Dialect::Anthropic
    }

    fn refuses(&self, role: Role, part: &Part) -> Option<Reason> {
        refusal(self.dialect, role, part).map(|(reason, _)| reason)
    }

    fn fields(&self, extra: &Extra) -> Cost {
        sent_fields(self.dialect, extra).map_or(Cost::ZERO, |fields| self.json(&fields))
    }

    fn text(&self, text: &str) -> Cost {
        if text.len() > MEMO_MAX {
            return self.cost(self.measure(text));
        }
        let key = key(text);
        let needs_own = self.counter.count_cl100k("").is_some();
        let known = self.counts.texts().get(&key).copied();
        if let Some(count) = known.filter(|count| !needs_own || count.cl100k.is_some()) {
            return self.cost(count);
        }
        let count = self.measure(text);
        let mut memo = self.counts.texts();
        if memo.len() >= MEMO_TEXTS {
            memo.clear();
        }
        memo.insert(key, count);
        drop(memo);
        self.cost(count)
    }

    fn json(&self, text: &str) -> Cost {
        as_json(self.text(text), quotes(text))
    }

    fn blob(&self, handle: Handle) -> Cost {
        self.counts.of(handle).map_or(ERASED, |count| self.cost(count))
    }

    fn json_blob(&self, handle: Handle) -> Cost {
        self.counts.of(handle).map_or(ERASED, |count| as_json(self.cost(count), count.quotes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::catalog::Catalog;
    use proptest::prelude::*;
    use wunderblock_core::cost::MEDIA_TOKENS;
    use wunderblock_core::message::{Body, MediaForm, Message};
    use wunderblock_core::request::Request;

    fn scales(model: &str, per_mille: Option<u16>) -> TokenCosts {
        let row = Catalog::embedded().lookup(model).row.clone();
        let calibration = per_mille.map(|per_mille| Calibration { per_mille, replies: 8 });
        TokenCosts::new(row.counter(), row.dialect, Arc::default()).calibrated(calibration)
    }

    #[test]
    fn what_is_counted_is_not_corrected() {
        for model in ["gpt-4o", "gpt-4"] {
            let (plain, corrected) = (scales(model, None), scales(model, Some(2_000)));
            assert_eq!(corrected.calibration(), None, "{model}");
            assert_eq!(corrected.text("not an estimate"), plain.text("not an estimate"), "{model}");
            assert_eq!(corrected.framing(), plain.framing(), "{model}");
        }
    }

    #[test]
    fn what_a_provider_adds_is_corrected_as_texts_are() {
        let framing = |per_mille| scales("claude-sonnet-4-5", per_mille).framing();
        let of = |message, call| Framing { message: Tokens(message), call: Tokens(call) };
        assert_eq!(framing(None), of(12, 50));
        assert_eq!(framing(Some(1_250)), of(15, 63));
        assert_eq!(framing(Some(500)), of(6, 25));
    }

    const DIALECTS: [Dialect; 5] = [
        Dialect::Anthropic,
        Dialect::OpenaiChat,
        Dialect::OpenaiResponses,
        Dialect::Gemini,
        Dialect::Neutral,
    ];

    /// Returns a text of 60 tokens or more, so that a part that is weighed and not sent exceeds every frame.
    fn long() -> impl Strategy<Value = String> {
        "[a-z]{3,9}".prop_map(|word| format!("{word} is said again; ").repeat(12))
    }

    /// Returns fields of a provider, or of no provider, or forms of ours.
    fn fields() -> impl Strategy<Value = Extra> {
        let from =
            proptest::sample::select(vec!["", "anthropic", "openai-chat", "openai-responses", "gemini"]);
        let name = proptest::sample::select(vec!["title", "thoughtSignature", "wb:reply", "new"]);
        let some = (from, name, long()).prop_map(|(from, name, text)| {
            // Whether a known field without its provider is written depends on its place.
            let name = if from.is_empty() { "new" } else { name };
            let from = if from.is_empty() { String::new() } else { format!("\"wb:from\":\"{from}\",") };
            Some(format!("{{{from}\"{name}\":\"{text}\"}}").into_boxed_str())
        });
        prop_oneof![2 => Just(None), 1 => some]
    }

    fn medium() -> impl Strategy<Value = Part> {
        let types = vec!["image/png", "image/tiff", "application/pdf", "audio/wav", "text/html", ""];
        let data = vec![
            (MediaForm::Base64, "QUJD"),
            (MediaForm::Base64, ""),
            (MediaForm::Base64, "%%"),
            (MediaForm::Url, "https://example.org/a.png"),
            (MediaForm::Url, "data:image/png;base64,QUJD"),
            (MediaForm::File, "file-1"),
        ];
        let (types, data) = (proptest::sample::select(types), proptest::sample::select(data));
        (types, data.prop_map(|(form, body)| (form, Body::from(body))), fields())
            .prop_map(|(mime, (form, body), extra)| Part::Media { mime: mime.into(), form, body, extra })
    }

    /// Returns a part of any kind.
    fn any_part() -> impl Strategy<Value = Part> {
        let text = || (long(), fields()).prop_map(|(text, extra)| Part::Text { text: text.into(), extra });
        let signature = proptest::option::of(Just("c2lnbmVk".into()));
        let thinking = (long(), signature, fields()).prop_map(|(text, signature, extra)| Part::Thinking {
            text: text.into(),
            signature,
            extra,
        });
        let opaque = (proptest::sample::select(&DIALECTS[..]), long()).prop_map(|(dialect, text)| {
            let raw = format!("{{\"type\":\"strange\",\"executableCode\":\"{text}\"}}").into();
            Part::Opaque { dialect, raw }
        });
        let bare = long().prop_map(Part::text);
        let content = proptest::collection::vec(prop_oneof![bare, medium()], 0..4);
        let result = (content, fields()).prop_map(|(content, extra)| Part::ToolResult {
            call: "c1".into(),
            content,
            failed: false,
            extra,
        });
        prop_oneof![text(), thinking, medium(), opaque, result]
    }

    fn o200k(text: &str) -> u64 {
        u64::from(Counted::of(text).o200k)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        /// What the encoder leaves out weighs nothing: a message weighs no less than the texts of its encoded form, and
        /// no more than the whole form with its frames.
        #[test]
        fn a_message_weighs_what_its_encoded_form_holds(
            role in proptest::sample::select(vec![Role::User, Role::Assistant, Role::Tool]),
            parts in proptest::collection::vec(any_part(), 1..4),
        ) {
            for dialect in DIALECTS {
                let fits = |part: &&Part| matches!(part, Part::ToolResult { .. }) == (role == Role::Tool);
                // Reasoning that leads to nothing is left out for its place, not for what it is.
                let end = (role == Role::Assistant).then(|| Part::text("Done."));
                let parts: Vec<Part> = parts.iter().filter(fits).cloned().chain(end).collect();
                let message = Message::new(role, parts);
                let row = Catalog::embedded().lookup("gpt-4o").row.clone();
                let costs = TokenCosts::new(row.counter(), dialect, Arc::default());
                let weight = wunderblock_core::usage::Weight::of(&message, &costs).total().0;

                let empty = Request { cache: Some(Vec::new()), ..Request::default() };
                let request = Request { messages: vec![message.clone()], ..empty.clone() };
                let encode = |request| wunderblock_wire::encode(dialect, request).unwrap().bytes;
                let (body, frame) = (encode(&request), encode(&empty));
                let least: u64 = wunderblock_wire::string_values(&body).unwrap().map(|text| o200k(&text)).sum();
                let all = |body: &[u8]| o200k(std::str::from_utf8(body).unwrap());
                let count = |part: &Part| part.leaves().len() as u64 + 1;
                let frames = message.parts.iter().map(count).sum::<u64>() * 32 + 32;
                // Our own form holds each medium, whatever its data.
                let own = "\"type\":\"media\"";
                let shown = if dialect == Dialect::Neutral { vec![own] } else { vec!["QUJD", "a.png", "file-1"] };
                let text = String::from_utf8(body.clone()).unwrap();
                let media: usize = shown.iter().map(|data| text.matches(data).count()).sum();
                let most = all(&body) - all(&frame) + frames + media as u64 * MEDIA_TOKENS.0;
                let encoded = String::from_utf8_lossy(&body);
                prop_assert!(weight >= least || weight == 0, "{dialect:?}: {weight} of {least}: {encoded}");
                prop_assert!(weight <= most, "{dialect:?}: {weight}, at most {most}: {encoded} of {message:?}");
            }
        }

        #[test]
        fn a_corrected_count_is_never_below_o200k_and_grows_with_the_factor(
            text in "(?s).{0,200}", model in proptest::sample::select(vec!["claude-sonnet-4-5", "claude-opus-4-8", "gemini-2.5-pro", "who"]),
            per_mille in 500..=2_000_u16, more in 0..500_u16,
        ) {
            let least = Tokens(u64::from(Counted::of(&text).o200k));
            let corrected = scales(model, Some(per_mille));
            let cost = corrected.text(&text);
            prop_assert!(cost.tokens >= least);
            prop_assert_eq!(cost.bytes, scales(model, None).text(&text).bytes);
            prop_assert!(scales(model, Some(per_mille + more)).text(&text).tokens >= cost.tokens);
            prop_assert!(scales(model, Some(1_000)).text(&text) == scales(model, None).text(&text));
            prop_assert_eq!(corrected.text(&text), cost, "the second time");
        }

        #[test]
        fn a_stored_count_is_corrected_as_one_made_now(
            text in "(?s).{0,200}", per_mille in 500..=2_000_u16, before in any::<bool>(),
        ) {
            let handle = Handle(7);
            let costs = scales("claude-sonnet-4-5", None);
            if before {
                costs.learn(handle, count_body(&text));
                // The remembered count must not contain the correction.
                costs.text(&text);
            }
            let costs = costs.calibrated(Some(Calibration { per_mille, replies: 8 }));
            costs.learn(handle, count_body(&text));
            prop_assert_eq!(costs.blob(handle), costs.text(&text));
            prop_assert_eq!(costs.json_blob(handle), costs.json(&text));
        }
    }
}

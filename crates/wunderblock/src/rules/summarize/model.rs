//! A catalog model that is used as a summariser.

use crate::rules::catalog::{BilledTokens as Billed, Catalog, ModelRow};
use crate::rules::model::Client;
use wunderblock_core::compaction::SummarySpend;
use wunderblock_core::message::{Dialect, Message, Role};
use wunderblock_core::request::Request;
use wunderblock_core::units::{Bytes, Millis, Tokens};
use wunderblock_summary::CallFailure;
use wunderblock_summary::task::{Summarise, SummaryTask, SummaryText};
use wunderblock_wire::{ModelReply, StopReason, encode};

/// Output tokens added for reasoning, which all providers but Anthropic count as output. A model that does not reason
/// leaves these tokens unused, because the prompt states the maximum length of the text, and the caller checks that
/// length.
const REASONING: Tokens = Tokens(4_096);
/// Tokens that a request adds around its texts.
const FRAME: Tokens = Tokens(32);

/// A model that writes summaries.
#[derive(Clone, Debug)]
pub struct ModelSummariser {
    client: Client,
    model: String,
    row: ModelRow,
    at: Millis,
}

/// Approximate number of bytes per token of prose. This number is used to estimate the output of a call that broke
/// off.
const TOKEN_BYTES: u64 = 4;

impl ModelSummariser {
    /// Makes a summariser from a catalog model. Costs are computed with the prices at the time `at`.
    #[must_use]
    pub fn new(client: Client, catalog: &Catalog, model: &str, at: Millis) -> Self {
        let row = catalog.lookup(model).row.clone();
        Self { client, model: model.to_owned(), row, at }
    }

    fn count(&self, text: &str) -> Tokens {
        let counter = self.row.counter();
        counter.scale(counter.count(text), counter.count_cl100k(text))
    }

    /// Encodes the request. Fails if the request exceeds the model's limits or cannot be expressed in the dialect.
    fn request(&self, task: &SummaryTask) -> Result<Vec<u8>, CallFailure> {
        let reasoning = if self.client.dialect() == Dialect::Anthropic { Tokens::ZERO } else { REASONING };
        let extra = match self.client.dialect() {
            Dialect::OpenaiChat => r#"{"stream":true,"stream_options":{"include_usage":true}}"#,
            // `store` is off, because our requests leave nothing stored with the provider.
            Dialect::OpenaiResponses => r#"{"stream":true,"store":false}"#,
            // For Gemini, the URL selects streaming.
            Dialect::Gemini => "{}",
            _ => r#"{"stream":true}"#,
        };
        let input = self.input(task);
        let most = task.most.min(self.row.max_output);
        let fits = input + most <= self.row.window && self.row.max_input.is_none_or(|limit| input <= limit);
        if !fits {
            return Err(CallFailure::TooLarge);
        }
        let room = self.row.window.saturating_sub(input);
        let request = Request {
            model: Some(self.model.as_str().into()),
            max_output: Some((most + reasoning).min(self.row.max_output).min(room)),
            system: vec![wunderblock_core::message::Part::text(task.system.as_str())],
            messages: vec![Message::text(Role::User, task.prompt.as_str())],
            extra: Some(extra.into()),
            ..Request::default()
        };
        let encoded = encode(self.client.dialect(), &request)
            .map_err(|error| CallFailure::Refused(error.to_string()))?;
        if Bytes(encoded.bytes.len() as u64) > self.row.max_bytes {
            Err(CallFailure::TooLarge)
        } else {
            Ok(encoded.bytes)
        }
    }

    fn input(&self, task: &SummaryTask) -> Tokens {
        self.count(&task.system) + self.count(&task.prompt) + FRAME
    }

    /// Estimates the cost of a call that broke off, from the request and the number of bytes received.
    fn spent_by_count(&self, task: &SummaryTask, seen: usize) -> SummarySpend {
        let billed = Billed {
            input: self.input(task),
            output: Tokens(seen as u64 / TOKEN_BYTES),
            ..Billed::default()
        };
        self.spend(billed, 1)
    }

    fn spend(&self, billed: Billed, calls: u32) -> SummarySpend {
        SummarySpend {
            model: self.model.as_str().into(),
            calls,
            input: billed.prompt(),
            output: billed.output,
            micro_dollars: self.row.price_at(self.at).map(|price| price.cost(billed).0),
        }
    }

    /// Returns the cost of a reply, calculated from the usage that the reply reports, or from our own count if it
    /// reports none.
    fn spent(&self, task: &SummaryTask, reply: &ModelReply, calls: u32) -> SummarySpend {
        let billed = reply.usage.as_ref().map_or_else(
            || Billed { input: self.input(task), output: self.count(&reply.text()), ..Billed::default() },
            Billed::from,
        );
        self.spend(billed, calls)
    }
}

/// Returns whether a failed call is billed, that is, whether the provider read the request and began to answer.
fn is_billed(failure: &CallFailure, seen: usize) -> bool {
    match failure {
        CallFailure::Empty | CallFailure::Broken(_) => true,
        CallFailure::TimedOut | CallFailure::Stopped => seen > 0,
        _ => false,
    }
}

impl Summarise for ModelSummariser {
    fn name(&self) -> String {
        self.model.clone()
    }

    fn window(&self) -> Option<Tokens> {
        Some(self.row.window)
    }

    fn summarise(
        &self,
        task: &SummaryTask,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, CallFailure> {
        let body = self.request(task)?;
        let mut seen = 0;
        let asked = self.client.ask(&self.model, &body, task.most, &mut |bytes| {
            seen = seen.max(bytes);
            progress(bytes)
        });
        let (reply, calls) = match asked {
            Ok(answer) => answer,
            Err(failure) if is_billed(&failure, seen) => {
                let spent = Some(self.spent_by_count(task, seen));
                return Ok(SummaryText { spent, failure: Some(failure), ..SummaryText::default() });
            }
            Err(failure) => return Err(failure),
        };
        let text = reply.text();
        let failure = match reply.stop {
            StopReason::Length => Some(CallFailure::CutOff),
            _ if text.trim().is_empty() => Some(CallFailure::Empty),
            _ => None,
        };
        Ok(SummaryText { spent: Some(self.spent(task, &reply, calls)), text, failure })
    }
}

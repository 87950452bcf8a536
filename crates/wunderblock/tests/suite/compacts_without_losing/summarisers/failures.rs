//! Each misbehaviour of a provider is reported as one failure, and a summary is made nevertheless.

use crate::compacts_without_losing::summarisers::scene::{
    DIALECTS, GOOD, KEY, draft, limits, model, patient,
};
use std::time::{Duration, Instant};
use wunderblock::catalog::Catalog;
use wunderblock::model::ModelLimits;
use wunderblock::summarize::{CallFailure, Manner, Summarise, SummaryTask, SummaryText};
use wunderblock_core::message::Dialect;
use wunderblock_core::units::{Bytes, Millis, Tokens};
use wunderblock_testkit::server::{Behaviour, ScriptedProvider};

fn task() -> SummaryTask {
    SummaryTask {
        system: "Condense.".into(), prompt: "⟨a: it⟩ … ⟨a: end⟩".into(), most: Tokens(300)
    }
}

fn good() -> String {
    GOOD.to_owned()
}

/// Returns the kind of a failure.
fn kind(failure: &CallFailure) -> &'static str {
    match failure {
        CallFailure::TimedOut => "timed out",
        CallFailure::Empty => "empty",
        CallFailure::TooLarge => "too large",
        CallFailure::Unauthorised(_) => "unauthorised",
        CallFailure::Limited(_) => "limited",
        CallFailure::Server(_) => "server",
        CallFailure::Refused(_) => "refused",
        CallFailure::Unreachable(_) => "unreachable",
        CallFailure::Broken(_) => "broken",
        CallFailure::CutOff => "cut off",
        CallFailure::TooLong => "too long",
        CallFailure::Stopped => "stopped",
    }
}

/// Returns the failure and its cost in input tokens, which is zero if nothing was billed.
fn failed(answer: Result<SummaryText, CallFailure>) -> (CallFailure, Tokens) {
    match answer {
        Ok(text) => (text.failure.unwrap(), text.spent.unwrap().input),
        Err(failure) => (failure, Tokens::ZERO),
    }
}

#[test]
fn each_misbehaviour_is_one_failure_and_the_floor_holds() {
    let table = [
        (Behaviour::Empty, "empty"),
        (Behaviour::Hang, "timed out"),
        (Behaviour::HangMidStream(good()), "timed out"),
        (Behaviour::Slow(good(), 600), "timed out"),
        (Behaviour::Status(400, None), "refused"),
        (Behaviour::Status(401, None), "unauthorised"),
        (Behaviour::Status(403, None), "unauthorised"),
        (Behaviour::Status(404, None), "refused"),
        (Behaviour::Status(408, None), "timed out"),
        (Behaviour::Status(413, None), "too large"),
        (Behaviour::Status(429, Some(3_600)), "limited"),
        (Behaviour::Status(429, None), "limited"),
        (Behaviour::Status(500, None), "server"),
        (Behaviour::Status(504, None), "timed out"),
        (Behaviour::Status(529, None), "server"),
        (Behaviour::Status(302, None), "refused"),
        (Behaviour::Overflow, "too large"),
        (Behaviour::Declines, "refused"),
        (Behaviour::CutMidStream(good()), "broken"),
        (Behaviour::MalformedJson, "broken"),
        (Behaviour::WrongContentType, "broken"),
        (Behaviour::ErrorEventMidStream(good()), "server"),
    ];
    for (number, (behaviour, expected)) in table.into_iter().enumerate() {
        // What has to be waited for is waited for in one dialect each.
        let waits = matches!(behaviour, Behaviour::Hang | Behaviour::HangMidStream(_) | Behaviour::Slow(..));
        let in_turn = |at: usize| !waits || at == number % DIALECTS.len();
        for dialect in DIALECTS.into_iter().enumerate().filter(|(at, _)| in_turn(*at)).map(|(_, it)| it) {
            let provider = ScriptedProvider::start([behaviour.clone()]).unwrap();
            let limits = if expected == "timed out" { limits() } else { patient() };
            let summariser = model(&provider, dialect, limits);
            let (failure, input) = failed(summariser.summarise(&task(), &mut |_| true));
            let began = matches!(
                behaviour,
                Behaviour::Empty | Behaviour::CutMidStream(_) | Behaviour::HangMidStream(_)
            );
            assert!(!began || input > Tokens::ZERO, "{behaviour:?} was billed");
            assert_eq!(kind(&failure), expected, "{behaviour:?}: {failure}");
            assert!(!failure.to_string().contains(KEY));
            let draft = draft(&summariser);
            assert_eq!((draft.manner, &*draft.producer), (Manner::Fallback, "extractive"), "{behaviour:?}");
            assert_eq!(*draft.rejected[0].why, *failure.to_string(), "{behaviour:?}");
            assert_eq!(&*draft.rejected[0].producer, dialect.1);
        }
    }
}

#[test]
fn what_is_slow_or_comes_in_crumbs_but_comes_is_taken() {
    for behaviour in [Behaviour::Good(good()), Behaviour::Slow(good(), 10), Behaviour::DripOneByte(good())] {
        for dialect in DIALECTS {
            let provider = ScriptedProvider::start([behaviour.clone()]).unwrap();
            let written = model(&provider, dialect, patient()).summarise(&task(), &mut |_| true).unwrap();
            assert_eq!(written.text, GOOD, "{behaviour:?}");
            let spent = written.spent.unwrap();
            assert_eq!((&*spent.model, spent.calls), (dialect.1, 1));
            assert!(spent.input > Tokens::ZERO && spent.output == Tokens(GOOD.len() as u64 / 4));
            assert!(spent.micro_dollars.is_some_and(|cost| cost > 0));
        }
    }
}

#[test]
fn a_stream_of_crumbs_ends_with_the_time_for_everything() {
    let provider = ScriptedProvider::start([Behaviour::DripOneByte("word ".repeat(20_000))]).unwrap();
    let limits = ModelLimits { total: Millis(500), ..patient() };
    let failure = model(&provider, DIALECTS[0], limits).summarise(&task(), &mut |_| true);
    assert_eq!(failed(failure).0, CallFailure::TimedOut);
}

#[test]
fn the_time_for_everything_grows_with_what_is_to_be_written() {
    for (per_token, answers) in [(Millis(0), false), (Millis(10_000), true)] {
        let provider = ScriptedProvider::start([Behaviour::Good(good())]).unwrap();
        let limits = ModelLimits { total: Millis(0), per_token, ..patient() };
        let asked = model(&provider, DIALECTS[0], limits).summarise(&task(), &mut |_| true);
        assert_eq!(asked.is_ok_and(|written| written.text == GOOD), answers, "{per_token:?} a token");
    }
}

#[test]
fn a_stream_that_stops_is_waited_for_no_longer_than_between_two_pieces() {
    let provider = ScriptedProvider::start([Behaviour::HangMidStream(good())]).unwrap();
    // Only the time limit between two pieces of the answer can end this call.
    let limits =
        ModelLimits { idle: Millis(300), first_byte: Millis(600_000), total: Millis(600_000), ..patient() };
    let failure = model(&provider, DIALECTS[0], limits).summarise(&task(), &mut |_| true);
    assert_eq!(failed(failure).0, CallFailure::TimedOut);
}

#[test]
fn an_answer_without_end_is_not_read_on() {
    for dialect in DIALECTS {
        let provider = ScriptedProvider::start([Behaviour::TenTimes]).unwrap();
        let limits = ModelLimits { response: Bytes(5_000), ..patient() };
        let (failure, input) = failed(model(&provider, dialect, limits).summarise(&task(), &mut |_| true));
        assert_eq!(failure, CallFailure::Broken("the reply exceeds the maximum of 5000 bytes".into()));
        assert!(input > Tokens::ZERO, "what came was billed");
    }
}

#[test]
fn new_tries_are_made_where_they_may_help_and_only_there() {
    let again = |status| Behaviour::Status(status, Some(0));
    let table: [(Vec<Behaviour>, &str, usize); 8] = [
        (vec![again(429), Behaviour::Good(good())], "", 2),
        (vec![again(500), again(529), Behaviour::Good(good())], "", 3),
        (vec![Behaviour::ErrorEventMidStream(good()), Behaviour::Good(good())], "", 2),
        (vec![again(503)], "server", 3),
        (vec![Behaviour::Status(429, Some(3_600))], "limited", 1),
        (vec![again(401)], "unauthorised", 1),
        (vec![again(400)], "refused", 1),
        (vec![Behaviour::CutMidStream(good())], "broken", 1),
    ];
    for (script, expected, calls) in table {
        let provider = ScriptedProvider::start(script.clone()).unwrap();
        // At most two retries are made, whatever the option asks for.
        let summariser = model(&provider, DIALECTS[0], ModelLimits { retries: 9, ..patient() });
        match summariser.summarise(&task(), &mut |_| true) {
            Ok(SummaryText { failure: Some(failure), .. }) => {
                assert_eq!(kind(&failure), expected, "{script:?}")
            }
            Ok(written) => assert_eq!((expected, written.spent.unwrap().calls), ("", calls as u32)),
            Err(failure) => assert_eq!(kind(&failure), expected, "{script:?}"),
        }
        assert_eq!(provider.requests().len(), calls, "{script:?}");
    }
}

#[test]
fn nobody_there_is_said_and_not_waited_for() {
    let provider = ScriptedProvider::start([Behaviour::Empty]).unwrap();
    let url = provider.url(Dialect::Anthropic);
    let gone = model(&provider, DIALECTS[0], patient());
    drop(provider);
    // The thread that listens closes its port only when it wakes up.
    std::thread::sleep(Duration::from_millis(100));
    let failure = gone.summarise(&task(), &mut |_| true).unwrap_err();
    assert_eq!(kind(&failure), "unreachable", "{failure}");
    let draft = draft(&gone);
    assert_eq!(draft.manner, Manner::Fallback, "{url}");
}

#[test]
fn the_caller_can_stop_at_any_time() {
    for behaviour in [Behaviour::Hang, Behaviour::HangMidStream(good()), Behaviour::Status(429, Some(2))] {
        let provider = ScriptedProvider::start([behaviour.clone()]).unwrap();
        let limits = ModelLimits { retries: 2, ..patient() };
        let started = Instant::now();
        let mut go_on = |_| started.elapsed() < Duration::from_millis(300);
        let failure = model(&provider, DIALECTS[0], limits).summarise(&task(), &mut go_on);
        assert_eq!(failed(failure).0, CallFailure::Stopped, "{behaviour:?}");
    }
}

#[test]
fn requests_are_what_providers_take() {
    for (dialect, name) in DIALECTS {
        let provider = ScriptedProvider::start([Behaviour::Good(good())]).unwrap();
        let big = SummaryTask { most: Tokens(1 << 40), ..task() };
        let summariser = model(&provider, (dialect, name), patient());
        // A range that cannot fit is not sent.
        assert_eq!(summariser.summarise(&big, &mut |_| true).unwrap().text, GOOD);
        let row = Catalog::embedded().lookup(name).row.clone();
        let long = SummaryTask { prompt: "word ".repeat(row.window.0 as usize + 1), ..task() };
        assert_eq!(summariser.summarise(&long, &mut |_| true), Err(CallFailure::TooLarge));
        let requests = provider.requests();
        assert_eq!(requests.len(), 1);
        assert_eq!(wunderblock_wire::validate(dialect, &requests[0].body), []);
        let sent = wunderblock_wire::decode(dialect, &requests[0].body).unwrap();
        assert_eq!(sent.max_output, Some(row.max_output), "the most the model can write");
        let asks = |field: &str| sent.extra.as_deref().is_some_and(|extra| extra.contains(field));
        let is_gemini = dialect == Dialect::Gemini;
        assert_ne!(asks("\"stream\":true"), is_gemini, "its address says that it streams");
        assert_eq!(requests[0].path.ends_with(":streamGenerateContent?alt=sse"), is_gemini);
        assert_eq!(asks("\"store\":false"), dialect == Dialect::OpenaiResponses);
        let key = match dialect {
            Dialect::Anthropic => "x-api-key",
            Dialect::Gemini => "x-goog-api-key",
            _ => "authorization",
        };
        assert!(requests[0].header(key).unwrap().contains(KEY));
        assert_eq!(requests[0].header("anthropic-version").is_some(), dialect == Dialect::Anthropic);
    }
}

//! Users' own programs as summarisers.

use crate::compacts_without_losing::summarisers::scene::{GOOD, draft};
use wunderblock::summarize::{CallFailure, CommandSummariser, Manner, Summarise, SummaryTask};
use wunderblock_core::units::{Bytes, Millis, Tokens};

fn shell(script: &str) -> CommandSummariser {
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    CommandSummariser::new(argv, None).limited(Millis(1_500), Bytes(100_000))
}

fn task() -> SummaryTask {
    SummaryTask { system: "Condense \"it\".".into(), prompt: "line\nline".into(), most: Tokens(300) }
}

#[test]
fn a_program_is_given_one_json_object_and_writes_a_text() {
    let written = shell("cat").summarise(&task(), &mut |_| true).unwrap();
    let given: serde_json::Value = serde_json::from_str(&written.text).unwrap();
    let expected =
        serde_json::json!({"system": "Condense \"it\".", "prompt": "line\nline", "most_tokens": 300});
    assert_eq!(given, expected);
    let draft = draft(&shell(&format!("cat >/dev/null; printf '{}'", GOOD.replace('\n', "\\n"))));
    assert_eq!(
        (draft.text.as_str(), draft.manner, &*draft.producer),
        (GOOD.trim(), Manner::Normal, "command:sh")
    );
}

#[test]
fn a_program_that_fails_fails_in_one_way_and_the_floor_holds() {
    let missing = CommandSummariser::new(vec!["/no/such/program".to_owned()], None);
    let table = [
        (shell("sleep 60"), "it took too long"),
        (shell("echo no such model >&2; exit 1"), "command:sh ended with exit status: 1: no such model"),
        (shell("exit 7"), "command:sh ended with exit status: 7"),
        (shell("kill -9 $$"), "command:sh ended with signal: 9"),
        (shell("true"), "it answered nothing"),
        (shell("echo; echo"), "it answered nothing"),
        (missing, "`/no/such/program` does not start"),
        (shell("exec >&-; sleep 60"), "it took too long"),
    ];
    for (summariser, expected) in table {
        let failure = summariser.summarise(&task(), &mut |_| true).unwrap_err();
        assert!(failure.to_string().contains(expected), "{expected}: {failure}");
        let draft = draft(&summariser);
        assert_eq!((draft.manner, draft.rejected.len()), (Manner::Fallback, 1), "{expected}");
        assert!(draft.rejected[0].why.contains(expected), "{}", draft.rejected[0].why);
    }
}

#[test]
fn a_program_that_writes_without_end_is_stopped_and_asked_once_more() {
    let failure = shell("yes").summarise(&task(), &mut |_| true).unwrap_err();
    assert!(failure.to_string().contains("`sh` wrote more than 100000 bytes"), "{failure}");
    let draft = draft(&shell("yes"));
    assert_eq!((draft.manner, draft.rejected.len()), (Manner::Fallback, 2));
    assert!(draft.rejected.iter().all(|no| no.why.contains("twice its maximum")), "{:?}", draft.rejected);
}

#[test]
fn what_a_program_repeats_or_invents_is_not_taken() {
    assert_eq!(draft(&shell("cat")).manner, Manner::Fallback);
    assert_eq!(
        draft(&shell("cat >/dev/null; echo '## Goal'; echo '## Files'; echo '- a/b/never.rs'")).manner,
        Manner::Fallback
    );
    let binary = draft(&shell("head -c 3000 /dev/urandom"));
    assert_eq!(binary.manner, Manner::Fallback);
}

#[test]
fn a_line_names_a_program_or_says_why_not() {
    let parse = |text| CommandSummariser::parse(text);
    assert!(parse("extractive").is_none());
    assert_eq!(parse("command:my-sum --fast 'a b'").unwrap().unwrap().name(), "command:my-sum");
    for (wrong, why) in [("command:", "names no program"), ("command:a 'b", "is not closed")] {
        assert!(parse(wrong).unwrap().unwrap_err().contains(why));
    }
    let failure = shell("sleep 60").limited(Millis(60_000), Bytes(1)).summarise(&task(), &mut |_| false);
    assert_eq!(failure, Err(CallFailure::Stopped));
}

//! Tests which texts from a summariser are accepted, and what replaces rejected texts.

use crate::compacts_without_losing::summarisers::scene::{
    DIALECTS, FLOOR, GOOD, Scale, brief, draft, material, model, options, patient, redactor, session,
    template, valid,
};
use wunderblock::summarize::attempt::{EXTRACTIVE, write};
use wunderblock::summarize::{
    Brief, CallFailure, Detail, Extract, Floor, Manner, ReadMaterial, Summarise, SummaryDraft, SummaryTask,
    SummaryText,
};
use wunderblock_core::compaction::SummarySpend;
use wunderblock_core::ports::CostModel;
use wunderblock_core::units::Tokens;
use wunderblock_testkit::server::{Behaviour, INVENTED, ScriptedProvider};

fn good() -> String {
    GOOD.to_owned()
}

/// Runs a script, and returns the draft and the requests that were sent.
fn run(script: &[Behaviour]) -> (SummaryDraft, Vec<String>) {
    let provider = ScriptedProvider::start(script.to_vec()).unwrap();
    let draft = draft(&model(&provider, DIALECTS[0], patient()));
    let sent = provider.requests().into_iter().map(|request| String::from_utf8(request.body).unwrap());
    (draft, sent.collect())
}

#[test]
fn a_good_summary_is_taken_as_it_is() {
    for dialect in DIALECTS {
        let provider =
            ScriptedProvider::start([Behaviour::Good(format!("Here you are:\n\n{GOOD}"))]).unwrap();
        let draft = draft(&model(&provider, dialect, patient()));
        assert_eq!(
            (draft.text.as_str(), draft.manner, &*draft.producer),
            (GOOD.trim(), Manner::Normal, dialect.1)
        );
        assert_eq!((draft.rejected.len(), draft.spent.unwrap().calls), (0, 1));
        assert_eq!(draft.prompt.unwrap().len(), 16);
    }
}

#[test]
fn what_is_refused_is_tried_again_in_the_way_that_may_help() {
    use Behaviour::{Echo, Good, Injection, InventsFiles, Overflow, Status, TenTimes};
    let table: [(&str, Vec<Behaviour>, Manner, usize, usize); 12] = [
        ("too large, twice", vec![Overflow, Status(413, None), Good(good())], Manner::Normal, 2, 3),
        // A quarter of the range is shorter than a task's frame.
        ("too large, always", vec![Overflow], Manner::Fallback, 4, 3),
        ("invents, then not", vec![InventsFiles(good()), Good(good())], Manner::Normal, 1, 2),
        ("invents, always", vec![InventsFiles(good())], Manner::Fallback, 2, 2),
        ("gives orders", vec![Injection(good())], Manner::Fallback, 2, 2),
        ("repeats what it is given", vec![Echo, Good(good())], Manner::Aggressive, 1, 2),
        ("repeats it always", vec![Echo], Manner::Fallback, 2, 2),
        ("ten times as much", vec![TenTimes, Good(good())], Manner::Aggressive, 1, 2),
        ("ten times as much, always", vec![TenTimes], Manner::Fallback, 2, 2),
        ("no parts", vec![Good("It went well.".into()), Good(good())], Manner::Normal, 1, 2),
        (
            "everything at once",
            vec![Overflow, InventsFiles(good()), TenTimes, Good(good())],
            Manner::Aggressive,
            3,
            4,
        ),
        ("not let in", vec![Status(401, None), Good(good())], Manner::Fallback, 1, 1),
    ];
    for (name, script, manner, rejected, calls) in table {
        let (draft, sent) = run(&script);
        assert_eq!(
            (draft.manner, draft.rejected.len(), sent.len()),
            (manner, rejected, calls),
            "{name}: {draft:?}"
        );
        let producer = if manner == Manner::Fallback { EXTRACTIVE } else { DIALECTS[0].1 };
        assert_eq!(&*draft.producer, producer, "{name}");
        assert!(draft.rejected.iter().all(|one| !one.why.is_empty()), "{name}");
    }
}

#[test]
fn half_is_less_and_a_correction_says_what_was_wrong() {
    let (_, sent) = run(&[Behaviour::Overflow, Behaviour::Overflow, Behaviour::Good(good())]);
    assert!(sent[1].len() < sent[0].len() && sent[2].len() < sent[1].len());
    assert!(sent[2].contains("And what of step 0?") && sent[2].contains("And what of step 7?"));

    let (draft, sent) = run(&[Behaviour::InventsFiles(good()), Behaviour::Good(good())]);
    assert!(!sent[0].contains("was not taken") && sent[1].contains("was not taken"));
    assert!(INVENTED.iter().all(|file| sent[1].contains(&format!("`{}` is not in the range", file))));
    assert!(draft.rejected[0].why.contains(INVENTED[0]));

    let (_, sent) = run(&[Behaviour::TenTimes, Behaviour::Good(good())]);
    assert!(sent[0].contains("about 200 tokens") && sent[1].contains("about 110 tokens"));
}

#[test]
fn without_a_summariser_or_for_mere_numbers_nobody_is_asked() {
    let (entries, template, redactor) = (session(), template(), redactor());
    let (material, brief) = (material(&entries, Vec::new()), brief(&template));
    let plain = write(&ReadMaterial::of(&material), &brief, &Scale, None, &options(&redactor));
    valid(&plain, &brief, &ReadMaterial::of(&material));
    assert_eq!((plain.manner, plain.rejected.len(), plain.spent), (Manner::Normal, 0, None));

    let provider = ScriptedProvider::start([Behaviour::Good(good())]).unwrap();
    let summariser = model(&provider, DIALECTS[0], patient());
    let numbers = Brief { detail: Detail::Statistics, ..brief };
    let counted =
        write(&ReadMaterial::of(&material), &numbers, &Scale, Some(&summariser), &options(&redactor));
    assert_eq!((&*counted.producer, provider.requests().len()), (EXTRACTIVE, 0));
}

/// A summariser with a fixed answer and window.
struct Scripted {
    window: Option<Tokens>,
    text: &'static str,
    spent: Option<SummarySpend>,
}

impl Summarise for Scripted {
    fn name(&self) -> String {
        "scripted".to_owned()
    }
    fn window(&self) -> Option<Tokens> {
        self.window
    }
    fn summarise(
        &self,
        _: &SummaryTask,
        _: &mut dyn FnMut(usize) -> bool,
    ) -> Result<SummaryText, CallFailure> {
        Ok(SummaryText { text: self.text.to_owned(), spent: self.spent.clone(), failure: None })
    }
}

#[test]
fn a_window_that_holds_nothing_leads_to_the_floor() {
    for window in [0, 1, 300, 700] {
        let tiny = Scripted { window: Some(Tokens(window)), text: GOOD, spent: None };
        let draft = draft(&tiny);
        assert_eq!((draft.manner, draft.rejected.len()), (Manner::Fallback, 1), "{window}");
        assert!(draft.rejected[0].why.contains("holds nothing"), "{}", draft.rejected[0].why);
    }
    for window in [Some(Tokens(2_000)), None] {
        assert_eq!(draft(&Scripted { window, text: GOOD, spent: None }).manner, Manner::Normal);
    }
}

#[test]
fn what_was_refused_is_paid_for_as_well() {
    let spent = |micro_dollars| SummarySpend {
        model: "scripted".into(),
        calls: 1,
        input: Tokens(100),
        output: Tokens(10),
        micro_dollars,
    };
    let twice = draft(&Scripted { window: None, text: "no parts", spent: Some(spent(Some(7))) });
    let expected = SummarySpend { calls: 2, input: Tokens(200), output: Tokens(20), ..spent(Some(14)) };
    assert_eq!((twice.manner, twice.spent), (Manner::Fallback, Some(expected)));
    let unknown = draft(&Scripted { window: None, text: "no parts", spent: Some(spent(None)) });
    assert_eq!(unknown.spent.unwrap().micro_dollars, None);
}

#[test]
fn a_floor_that_is_too_long_is_cut() {
    let (entries, template, redactor) = (session(), template(), redactor());
    let material = material(&entries, Vec::new());
    type Floored = dyn Fn(&ReadMaterial<'_>, &Brief<'_>, &dyn CostModel) -> Extract;
    let lines: &Floored = &|_, _, _| {
        let text = "- one line of many\n".repeat(1_000);
        Extract { text, items: Some("[]".to_owned()) }
    };
    let one: &Floored = &|_, _, _| Extract { text: "汉字".repeat(5_000), items: None };
    for extract in [lines, one] {
        for most in [1, 10, 300] {
            let brief = Brief { most: Tokens(most), ..brief(&template) };
            let options = wunderblock::summarize::AttemptOptions {
                floor: Floor { extract, ..FLOOR },
                ..options(&redactor)
            };
            let draft = write(&ReadMaterial::of(&material), &brief, &Scale, None, &options);
            assert_eq!((draft.manner, &draft.items), (Manner::Capped, &None));
            let tokens = Scale.text(&draft.text).tokens;
            assert!(tokens <= brief.most, "{most}: {tokens} {}", draft.text);
            assert_eq!(draft.text.ends_with("⟨cut⟩"), most >= 10);
        }
    }
}

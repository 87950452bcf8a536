//! Compares the same documents in different segments, and checks what a person would expect.

use crate::ranking::weights::{ARMS, Arm, Profiles, Weights};
use crate::searching::score::{Statistics, cover, strength, weigh};
use crate::*;
use proptest::prelude::*;
use std::convert::Infallible;

/// A document of a test.
#[derive(Clone, Debug)]
struct Said {
    key: DocKey,
    /// Speaker: a name, or `user` or `assistant`; empty for the output of a tool.
    who: &'static str,
    day: u32,
    text: String,
}

impl Said {
    fn voice(&self) -> Option<Voice<'static>> {
        let (role, name) = match self.who {
            "" => return None,
            "user" => (VoiceRole::User, None),
            "assistant" => (VoiceRole::Assistant, None),
            name => (VoiceRole::Other, Some(name)),
        };
        Some(Voice { role, name, day: Day(self.day) })
    }
}

fn segment(all: &[Said]) -> Segment {
    let mut builder = SegmentBuilder::new();
    for said in all {
        match said.voice() {
            Some(voice) => builder.add_spoken(&voice, &said.text).unwrap(),
            None => builder.add_text(&said.text).unwrap(),
        }
        builder.end_document(said.key).unwrap();
    }
    builder.finish().unwrap()
}

fn tail(question: &Question, all: &[Said]) -> Tail {
    let mut writer = TailWriter::of(question.query());
    for said in all {
        match said.voice() {
            Some(voice) => writer.add_spoken(&voice, &said.text),
            None => writer.add_text(&said.text),
        }
        writer.end_document(said.key);
    }
    writer.finish()
}

/// What a search is made with.
#[derive(Clone, Debug)]
struct Setting {
    scope: DocScope,
    windows: bool,
    is_similar: bool,
    fill: usize,
    limit: usize,
}

impl Default for Setting {
    fn default() -> Self {
        Self { scope: DocScope::everything(), windows: true, is_similar: false, fill: 0, limit: 10 }
    }
}

/// Returns a similarity that depends only on the passage.
fn similarity(key: DocKey, part: u32) -> u16 {
    (key.seq * 389 + u64::from(key.stream) * 71 + u64::from(part) * 13) as u16 % 1024
}

/// Searches segments, oldest first, and documents that are not indexed.
fn search(question: &Question, segments: &[Segment], waiting: &[Said], setting: &Setting) -> Vec<PassageHit> {
    let headers: Vec<Header> =
        segments.iter().rev().map(|one| Header::decode(&one.header).unwrap()).collect();
    let headers: Vec<&Header> = headers.iter().collect();
    let tail = tail(question, waiting);
    let order = PassageOrder::of(&headers, &setting.scope).with_tail(&tail, &setting.scope);
    let mut similar = vec![0; order.len()];
    order.passages().for_each(|(at, doc, part)| {
        similar[at] = similarity(doc, part);
        let places = [0, at, at + 1].map(|guess| order.place(PassageKey { doc, part }, guess as u32));
        assert_eq!(places, [Some(at as u32); 3]);
    });
    let search = PassageSearch {
        question,
        order: &order,
        similarity: setting.is_similar.then_some(similar.as_slice()),
        profiles: &Profiles::FITTED,
        windows: setting.windows,
        fill: setting.fill,
        passing: None,
        limit: setting.limit,
    };
    let fetch = |at: usize, block: u32| {
        Ok::<_, Infallible>(&segments[segments.len() - 1 - at].blocks[block as usize])
    };
    rank(&search, &headers, Some(&tail), fetch).unwrap()
}

const WORDS: [&str; 22] = [
    "build",
    "builds",
    "failed",
    "failing",
    "because",
    "I",
    "always",
    "yesterday",
    "Lisbon",
    "seven",
    "?",
    ".",
    "\n",
    "cat",
    "cats",
    "parse_config",
    "数据库",
    "连接",
    "the",
    "Ada",
    "lovely",
    "garden",
];
const NAMES: [&str; 5] = ["Ada", "Berta", "user", "assistant", ""];
const QUESTIONS: [&str; 9] = [
    "why did the build fail?",
    "When did Ada go to Lisbon?",
    "what did you say about my cats",
    "数据库什么时候连接",
    "+build lovely",
    "garden -cat",
    "How many cats in 1971?",
    "parseConfig",
    "garden lisbon cat build seven",
];

fn records(most: usize) -> impl Strategy<Value = Vec<Said>> {
    let words = prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..9);
    let times = prop_oneof![6 => Just(1), 1 => 2usize..40];
    let said =
        (0u32..3, words, times, 0usize..5, 300u32..500).prop_map(|(stream, words, times, who, day)| {
            let text = vec![words.join(" "); times].join(" ");
            Said { key: DocKey { stream, seq: 0 }, who: NAMES[who], day, text }
        });
    prop::collection::vec(said, 0..most).prop_map(|mut all| {
        (0..).zip(&mut all).for_each(|(seq, said)| said.key.seq = seq);
        all
    })
}

fn questions() -> impl Strategy<Value = Question> {
    prop::sample::select(QUESTIONS.to_vec()).prop_map(|text| Question::parse(text).unwrap())
}

fn settings() -> impl Strategy<Value = Setting> {
    let ranges = prop::collection::vec((0u32..3, 0u64..30, 0u64..60), 1..4);
    let some = ranges
        .prop_map(|all| DocScope::of(all.into_iter().map(|(stream, from, len)| (stream, from..=from + len))));
    let scope = prop_oneof![Just(DocScope::everything()), some];
    let setting =
        |(scope, windows, is_similar, fill, limit)| Setting { scope, windows, is_similar, fill, limit };
    (scope, any::<bool>(), any::<bool>(), prop_oneof![Just(0usize), 1usize..60], 0usize..40).prop_map(setting)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn hits_do_not_depend_on_where_passages_are_stored(
        all in records(50), cuts in prop::collection::vec(0usize..100, 0..5), question in questions(), setting in settings(),
    ) {
        let expected = search(&question, &[segment(&all)], &[], &setting);
        prop_assert_eq!(&search(&question, &[], &all, &setting), &expected);
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (all.len() + 1)).collect();
        places.sort_unstable();
        let (mut segments, mut from) = (Vec::new(), 0);
        for to in places {
            segments.push(segment(&all[from..to]));
            from = to;
        }
        prop_assert_eq!(&search(&question, &segments, &all[from..], &setting), &expected);
    }

    #[test]
    fn what_others_say_changes_no_hit(all in records(30), others in records(30), question in questions(), is_similar: bool) {
        let setting = Setting { scope: DocScope::of((0..3).map(|stream| (stream, 0..=u64::MAX))), is_similar, ..Setting::default() };
        let expected = search(&question, &[segment(&all)], &[], &setting);
        let mut mixed = all.clone();
        for (at, mut other) in others.into_iter().enumerate() {
            other.key.stream += 3;
            mixed.insert((at * 7) % (mixed.len() + 1), other);
        }
        let (a, b) = mixed.split_at(mixed.len() / 2);
        prop_assert_eq!(search(&question, &[segment(a)], b, &setting), expected);
    }

    #[test]
    fn operators_judge_whole_documents_as_the_search_for_the_newest_does(all in records(40), at in 0usize..5) {
        let text = ["+cat", "+build +lovely", "+parse_config -garden", "+cats -seven", "+连接"][at];
        let (question, query) = (Question::parse(text).unwrap(), ParsedQuery::parse(text).unwrap());
        let setting = Setting { limit: 100, ..Setting::default() };
        let found = search(&question, &[segment(&all)], &[], &setting);
        let segment = segment(&all);
        let header = Header::decode(&segment.header).unwrap();
        let request = IndexSearch { query: &query, scope: &setting.scope, limit: 100 };
        let fetch = |_: usize, block: u32| Ok::<_, Infallible>(&segment.blocks[block as usize]);
        let newest = crate::search(&request, &[&header], None, fetch).unwrap();
        let keys = |mut keys: Vec<DocKey>| {
            keys.sort();
            keys
        };
        prop_assert_eq!(keys(found.iter().map(|hit| hit.doc).collect()), keys(newest.iter().map(|hit| hit.doc).collect()));
    }

    #[test]
    fn a_hit_is_as_strong_as_its_whole_document(all in records(40), at in 0usize..3) {
        // The words are their own stems, and none is left out.
        let words = [["garden", "lisbon"].as_slice(), &["seven"], &["lovely", "garden", "seven"]][at];
        let question = Question::parse(&words.join(" ")).unwrap();
        let counted: Vec<(Vec<u32>, u32)> = all.iter().map(|said| {
            let (mut counts, mut len) = (vec![0; words.len()], 0);
            words::terms(&said.text, |term| {
                len += 1;
                words.iter().zip(&mut counts).for_each(|(word, count)| *count += u32::from(word.as_bytes() == term));
            });
            (counts, len)
        }).collect();
        let statistics = Statistics { docs: all.len() as u64, terms: counted.iter().map(|(_, len)| u64::from(*len)).sum() };
        let df = |at: usize| counted.iter().filter(|(counts, _)| counts[at] > 0).count() as u64;
        let idfs: Vec<u64> = (0..words.len()).map(|at| statistics.idf(df(at))).collect();
        let found = search(&question, &[segment(&all)], &[], &Setting { limit: 100, ..Setting::default() });
        for (said, (counts, len)) in all.iter().zip(&counted).filter(|(_, (counts, _))| counts.iter().any(|count| *count > 0)) {
            let has: Vec<usize> = (0..words.len()).filter(|at| counts[*at] > 0).collect();
            let sum = has.iter().map(|at| weigh(idfs[*at], statistics.slope(), counts[*at], *len)).sum();
            let score = cover(sum, has.len(), words.len());
            let contained = has.iter().map(|at| idfs[*at]).sum();
            let hit = found.iter().find(|hit| hit.doc == said.key).unwrap();
            prop_assert_eq!(hit.strength, strength(&statistics, score, contained, idfs.iter().sum()));
            prop_assert_eq!(&hit.matched, &has.iter().map(|at| words[*at].into()).collect::<Vec<Box<str>>>());
        }
    }
}

fn chat(lines: &[(&'static str, &str)]) -> Vec<Said> {
    (0..)
        .zip(lines)
        .map(|(seq, (who, text))| Said {
            key: DocKey { stream: 1, seq },
            who,
            day: 20_000 + seq as u32,
            text: (*text).to_owned(),
        })
        .collect()
}

fn found(all: &[Said], question: &str) -> Vec<u64> {
    let question = Question::parse(question).unwrap();
    search(&question, &[segment(all)], &[], &Setting::default()).iter().map(|hit| hit.doc.seq).collect()
}

#[test]
fn a_question_as_typed_finds_its_answer() {
    let all = chat(&[
        ("user", "Please look at the pipeline."),
        ("assistant", "The build is failing: a symbol is missing in the linker's input."),
        ("", "error: undefined reference to `frobnicate`"),
        ("user", "Thanks. What is for lunch?"),
        ("assistant", "I cannot eat, but soup is a classic."),
    ]);
    assert_eq!(found(&all, "why did the build fail")[0], 1);
    assert_eq!(found(&all, "+frobnicate"), [2]);
    assert_eq!(found(&all, "nothing matches this zebra"), [0u64; 0]);
}

#[test]
fn an_answer_is_found_by_the_words_of_its_question() {
    let filler = |n: usize| format!("We talked about item {n} for a while.");
    let mut lines: Vec<(&str, String)> = (0..20).map(|n| (["Ada", "Berta"][n % 2], filler(n))).collect();
    lines[9].1 = "Which instrument did you play as a child?".into();
    lines[10].1 = "Mostly the oboe, until I was twelve.".into();
    let lines: Vec<(&'static str, &str)> = lines.iter().map(|(who, text)| (*who, text.as_str())).collect();
    let all = chat(&lines);
    assert!(found(&all, "What instrument did Ada play?")[..2].contains(&10));
}

#[test]
fn a_hit_says_which_arms_made_it() {
    let all = chat(&[
        ("Ada", "I moved to Lisbon last week."),
        ("Berta", "Lisbon sounds lovely."),
        ("Ada", "It is."),
    ]);
    let question = Question::parse("When did Ada move to Lisbon?").unwrap();
    let hits = search(&question, &[segment(&all)], &[], &Setting::default());
    let best = &hits[0];
    assert_eq!((best.doc.seq, best.part), (0, 0));
    assert_eq!(best.matched, ["move".into(), "Lisbon".into()]);
    let reasons = best.reasons();
    assert_eq!(reasons.iter().map(|(_, part)| part).sum::<i64>(), best.score);
    for arm in [Arm::Speaker, Arm::When, Arm::Covered, Arm::Window] {
        assert!(reasons.iter().any(|(found, part)| *found == arm && *part > 0), "{arm:?}");
    }
    assert_eq!(Arm::ALL.map(|arm| arm as usize), std::array::from_fn::<usize, ARMS, _>(|at| at));
    assert_eq!(Weights([0; ARMS]).score(&best.arms), 0);
}

//! Properties of any text: segments tile it, encodings decode to the same bytes, and gaps are where their marks say
//! they are.

mod generate;

use generate::{any_text, document};
use proptest::prelude::*;

use super::*;
use crate::encode;
use crate::result::segment;

fn segments(text: &str, target: SizeTarget, query: &QueryTerms) -> Vec<TextSegment> {
    JsonReading::of(text, 0).segments(target, query)
}

/// Returns the text that segments represent: the source, with marks for gaps.
fn meant(segments: &[TextSegment], text: &str) -> String {
    let mut out = String::new();
    for segment in segments {
        match segment {
            TextSegment::Keep(span) | TextSegment::Coded { span, .. } => {
                mark::escape(&text[span.clone()], &mut out)
            }
            TextSegment::Gap { gap, .. } => out.push_str(&gap.mark(None)),
            TextSegment::Note(_) => {}
        }
    }
    out
}

/// Reduces marks to their places, because the first mark of a text states more than the others.
fn placed(text: &str) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for found in mark::gaps(text) {
        out.push_str(&text[at..found.span.start]);
        out.push_str(found.place);
        at = found.span.end;
    }
    out.push_str(&text[at..]);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_in_fewer_words(text in any_text()) {
        let segments = segments(&text, SizeTarget::Exact, &QueryTerms::default());
        prop_assert!(segment::tiles_source(&segments, text.len()));
        let written = segment::write_segments(&segments, &text, None);
        prop_assert_eq!(encode::invert(&written), Some(text.clone()), "{}", written);
        prop_assert!(written_size(&segments) <= text.len());
    }

    #[test]
    fn what_is_left_says_what_the_source_said(text in any_text(), room in 1usize..3_000, query in "[a-z]{0,3}") {
        for target in [SizeTarget::Fold, SizeTarget::Bytes(room)] {
            let segments = segments(&text, target, &QueryTerms::of(Some(&query)));
            prop_assert!(segment::tiles_source(&segments, text.len()), "{:?}", segments);
            let written = segment::write_segments(&segments, &text, None);
            let undone = encode::decode(&written).map(|text| placed(&text));
            for segment in &segments {
                let TextSegment::Gap { gap, .. } = segment else { continue };
                if gap.place().starts_with('$') && gap.place().find("#B").is_none() {
                    prop_assert_eq!(find_json(&text, &gap.place()).map(|place| place.span), Ok(gap.span.clone()), "{}", gap.place());
                }
            }
            prop_assert_eq!(undone, Some(placed(&meant(&segments, &text))), "{}", written);
        }
    }

    #[test]
    fn a_document_is_known_whatever_its_white_space(text in document()) {
        prop_assert_eq!(is_document(&text), text.trim_start().starts_with(['{', '[']));
    }
}

fn shown(text: &str, target: SizeTarget) -> String {
    let segments = segments(text, target, &QueryTerms::default());
    assert!(segment::tiles_source(&segments, text.len()));
    segment::write_segments(&segments, text, Some("wb:0123456789abcdef"))
}

#[test]
fn alike_objects_become_a_table() {
    let text = r#"{
  "orders": [
    {"id": 7, "name": "Ann", "address": {"city": "Paris", "zip": "75001"}, "status": "ok", "note": null},
    {"id": 8, "name": "Bob, Jr.", "address": {"city": "Rome", "zip": "00100"}, "status": "ok", "note": ""},
    {"id": 9, "name": "Cem", "address": null, "status": "ok"},
    {"id": 9, "name": "Dan", "address": {"city": "Oslo", "zip": "12"}, "status": "failed", "note": "x"},
    {"id": 10, "name": "Eva", "address": {"city": "Bonn", "zip": "53111"}, "status": "ok", "note": null},
    {"id": 11, "name": "Fay", "address": {"city": "Graz", "zip": "8010"}, "status": "ok", "note": null}
  ]
}
"#;
    // White space that no program writes is not encoded.
    assert_eq!(shown(text, SizeTarget::Exact), text);
    let text = text.replace(['\n', ' '], "");
    let short = shown(&text, SizeTarget::Exact);
    assert_eq!(
        short,
        "⟨=json⟩{\"orders\":[6 items: id,name,address.city,address.zip,status=ok,note\n\
         7,Ann,Paris,\"75001\",null\n\
         8,\"Bob,Jr.\",Rome,00100,\"\"\n\
         9,Cem,address=null,!address.city,!address.zip,!note\n\
         9,Dan,Oslo,\"12\",status=failed,x\n\
         10,Eva,Bonn,\"53111\",null\n\
         11,Fay,Graz,\"8010\",null\n\
         ]}⟨=⟩"
    );
    assert_eq!(encode::invert(&short), Some(text));
}

#[test]
fn lists_of_alike_objects_stand_side_by_side() {
    let leg =
        |n: usize, from: &str| format!(r#"{{"flight":"A{n}","from":"{from}","seats":{{"economy":{n}}}}}"#);
    let trip = |n: usize| format!("[{},{}]", leg(n, "ATL"), leg(n + 10, "LGA"));
    let text = format!("[{},{},[],{},[{}]]", trip(1), trip(2), trip(3), leg(4, "ATL"));
    let short = shown(&text, SizeTarget::Exact);
    assert_eq!(
        short,
        "⟨=json⟩[5 lists: flight,from,seats.economy\nA1,ATL,1;A11,LGA,11\nA2,ATL,2;A12,LGA,12\n~=[]\n\
         A3,ATL,3;A13,LGA,13\nA4,ATL,4\n]⟨=⟩"
    );
    assert_eq!(encode::invert(&short), Some(text));
}

#[test]
fn what_is_rare_wrong_or_extreme_stays() {
    let row = |n: u32| {
        let status = if n == 120 { "failed" } else { "ok" };
        let extra = if n == 77 { ",\"retries\":3" } else { "" };
        let took = if n == 150 { 9_000 } else { 20 + n % 7 };
        let note = if n == 33 { "connection refused by peer" } else { "served from the cache" };
        format!("{{\"id\":{n},\"status\":\"{status}\",\"took\":{took},\"note\":\"{note}\"{extra}}}")
    };
    let rows: Vec<String> = (0..200).map(row).collect();
    let text = format!("[{}]", rows.join(","));
    let short = shown(&text, SizeTarget::Fold);
    for kept in ["0,20", "199,", "failed", "retries=3", "9000", "refused"] {
        assert!(short.contains(kept), "{kept} in {short}");
    }
    assert!(short.len() * 5 < text.len(), "{short}");
}

#[test]
fn what_is_asked_for_stays_wherever_it_stands() {
    let item = |n: usize| {
        let note = match n {
            317 => "the pump of 北京水站 lost its prime",
            _ => "all is well with this one, and with the next",
        };
        let name = if n == 205 { "getValveById" } else { "open" };
        format!("{{\"id\":{n},\"call\":{{\"name\":\"{name}\",\"took\":{}}},\"note\":\"{note}\"}}", n % 7)
    };
    let items: Vec<String> = (0..400).map(item).collect();
    let text = format!("{{\"page\":1,\"result\":{{\"calls\":[{}]}}}}", items.join(","));
    for (query, wanted) in
        [("lost prime", "317"), ("get_valve_by_id", "205"), ("水站", "317"), ("317", "317")]
    {
        for target in [SizeTarget::Fold, SizeTarget::Bytes(1_500)] {
            let segments = segments(&text, target, &QueryTerms::of(Some(query)));
            let short = segment::write_segments(&segments, &text, None);
            assert!(short.lines().any(|line| line.starts_with(wanted)), "{query}: {short}");
        }
    }
}

/// Values that are rare across all lists must be shown or stated in a mark.
#[test]
fn what_is_rare_in_all_lists_together_is_shown_or_said() {
    let group = |g: usize| {
        let member = |n: usize| {
            let state = if g == 31 && n == 4 {
                r#"broken \"off\""#
            } else if (g + n).is_multiple_of(3) {
                "idle"
            } else {
                "busy"
            };
            let extra = if g == 17 && n == 2 { ",\"overdue\":true" } else { "" };
            let level = if g == 40 && n == 1 { 990 } else { 10 + (g * n) % 5 };
            format!("{{\"state\":\"{state}\",\"level\":{level}{extra}}}")
        };
        let members: Vec<String> = (0..6).map(member).collect();
        format!("{{\"group\":\"g{g}\",\"members\":[{}]}}", members.join(","))
    };
    let groups: Vec<String> = (0..60).map(group).collect();
    let text = format!("[{}]", groups.join(","));
    for target in [SizeTarget::Fold, SizeTarget::Bytes(text.len() / 4), SizeTarget::Bytes(text.len() / 10)] {
        let short = shown(&text, target);
        for wanted in ["broken", "990", "overdue"] {
            assert!(short.contains(wanted), "{target:?} {wanted}: {short}");
        }
        assert!(mark::gaps(&short).count() > 0, "{short}");
    }
}

#[test]
fn a_budget_is_filled() {
    let rows: Vec<String> = (0..2_000)
        .map(|n| format!("{{\"id\":{n},\"name\":\"user {}\",\"on\":{}}}", n * 7, n % 3 == 0))
        .collect();
    let text = format!("{{\"users\":[{}]}}", rows.join(","));
    for room in [600, 2_000, 8_000, 20_000] {
        let short = shown(&text, SizeTarget::Bytes(room));
        assert!(short.len() <= room && short.len() * 100 >= room * 90, "{} of {room}", short.len());
    }
}

#[test]
fn long_strings_lose_their_middle_and_small_lists_nothing() {
    let blob = "QUJD".repeat(2_000);
    let text = format!("{{\"name\":\"a\",\"tags\":[1,2,3,4,5,6,7,8],\"data\":\"{blob}\\n\"}}");
    let short = shown(&text, SizeTarget::Fold);
    assert!(
        short.starts_with("⟨=json⟩{\"name\":\"a\",\"tags\":[1,2,3,4,5,6,7,8],\"data\":\"QUJDQUJD"),
        "{short}"
    );
    assert!(short.contains("$.data#B"), "{short}");
    assert!(short.len() < 1_500);
}

#[test]
fn json_is_found_in_other_text() {
    let rows: Vec<String> = (0..40).map(|n| format!("{{\"id\":{n},\"name\":\"n{n}\"}}")).collect();
    let text = format!("Warning: no settings\n\n{{\"a\":[{}]}}\ndone\n", rows.join(","));
    assert!(!is_document(&text));
    let short = shown(&text, SizeTarget::Exact);
    assert!(short.starts_with("Warning: no settings\n\n⟨=json⟩{\"a\":[40 items: id,name\n0,n0\n"), "{short}");
    assert!(short.ends_with("]}⟨=⟩\ndone\n"));
    assert_eq!(encode::invert(&short), Some(text));
}

#[test]
fn what_was_cut_is_read_to_its_end() {
    let row = |n: usize| format!("{{\"id\":{n},\"name\":\"book {n}\",\"price\":{}.50}}", n % 9);
    let rows: Vec<String> = (0..80).map(row).collect();
    let compact = format!("{{\"page\":1,\"books\":[{}]}}", rows.join(","));
    let spaced = compact.replace(',', ", ").replace("\":", "\": ");
    for text in [compact, spaced] {
        let cut = &text[..text.len() * 2 / 3];
        for note in ["", "\n[output truncated]", "\n... 1234 more characters\n"] {
            let text = format!("{cut}{note}");
            assert!(is_document(&text), "{text}");
            let short = shown(&text, SizeTarget::Exact);
            assert!(short.contains("cut=2⟩{\"page\":1,\"books\":["), "{short}");
            assert!(short.contains("+ items: id,name,price\n0,book 0,0.50\n"), "{short}");
            assert!(short.ends_with(note) && short.len() * 2 < text.len(), "{short}");
            assert_eq!(encode::invert(&short).as_ref(), Some(&text));
            let folded = segments(&text, SizeTarget::Fold, &QueryTerms::default());
            let gaps = folded.iter().filter_map(|segment| match segment {
                TextSegment::Gap { gap, .. } => Some(gap),
                _ => None,
            });
            for gap in gaps {
                assert_eq!(find_json(&text, &gap.place()).map(|place| place.span), Ok(gap.span.clone()));
            }
        }
    }
}

#[test]
fn invalid_json_lines_keep_their_place() {
    let line = |n: usize| match n % 50 {
        49 => format!("{{\"id\":{n},\"sta"),
        _ => format!("{{\"id\":{n},\"status\":\"ok\",\"path\":\"/books/{n}\"}}"),
    };
    let text: String = (0..3_000).map(|n| line(n) + "\n").collect();
    let short = shown(&text, SizeTarget::Exact);
    assert!(short.contains("\n48,/books/48\n~~{\"id\":49,\"sta\n50,"), "{short}");
    assert_eq!(encode::invert(&short).as_ref(), Some(&text));
    for room in [2_000, 6_000] {
        let short = shown(&text, SizeTarget::Bytes(room));
        assert!(
            short.len() <= room + 60 && short.len() * 100 >= room * 85,
            "{} of {room}: {short}",
            short.len()
        );
        assert!(mark::gaps(&short).all(|found| found.place.starts_with('L')), "{short}");
    }
}

#[test]
fn depth_is_the_inputs_to_choose() {
    for (open, close, deep) in [("[", "]", 100_000), ("{\"a\":", "}", 20_000), ("[1,[2],", "]", 20_000)] {
        let text = format!("{}1{}", open.repeat(deep), close.repeat(deep));
        for target in [SizeTarget::Exact, SizeTarget::Fold, SizeTarget::Bytes(5_000)] {
            let segments = segments(&text, target, &QueryTerms::default());
            assert!(segment::tiles_source(&segments, text.len()));
        }
        let cut = &text[..text.len() / 2];
        assert!(segment::tiles_source(&segments(cut, SizeTarget::Fold, &QueryTerms::default()), cut.len()));
    }
}

#[test]
fn what_is_not_json_is_refused_where_it_stops() {
    for (text, stop) in [
        ("[1,]", 3),
        ("{\"a\" 1}", 5),
        ("[01]", 2),
        ("[1.]", 3),
        ("[\"\\x\"]", 2),
        ("[\"\u{1}\"]", 2),
        ("[nul]", 1),
        ("{a:1}", 1),
        ("[\"\\u12g4\"]", 2),
        ("[1", 2),
        ("", 0),
        ("[+1]", 1),
        ("{\"a\":1,}", 7),
        ("[\"a", 3),
    ] {
        assert_eq!(JsonTree::value(text, 0, false).map(|_| ()), Err(tree::JsonStop(stop)), "{text}");
    }
    for text in
        ["{\"a\":1,\"a\":2}", "[1e400,18446744073709551616,-0.0E-1]", "[\"\\ud800\"]", " \n[]", "\u{feff}{}"]
    {
        assert!(is_document(text), "{text}");
    }
    for text in ["{}}", "[1] x", "plain", "12", "\"a\"", "{\"a\":1}\n{\"b\""] {
        assert!(!is_document(text), "{text}");
    }
    assert!(is_document("{\"a\":1}\n{\"b\":2}\n"));
}

#[test]
fn what_no_path_names_is_named_by_its_bytes() {
    let rows: Vec<String> = (0..90).map(|n| format!("{{\"id\":{n},\"at\":\"shelf {n}\"}}")).collect();
    let text = format!("{{\"a\":[{0}],\"a\":[{0}],\"b c\":[{0}]}}", rows.join(","));
    let places: Vec<String> =
        mark::gaps(&shown(&text, SizeTarget::Fold)).map(|found| found.place.to_owned()).collect();
    assert!(places[0].starts_with('B') && places[1..] == ["$.a[8..87]", "$[\"b c\"][8..87]"], "{places:?}");
}

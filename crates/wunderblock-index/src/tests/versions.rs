//! The stored form, and segments that earlier versions wrote.

use super::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

#[test]
fn the_stored_form_is_what_it_was() {
    let mut texts = numbered(&["", "parse_config 中文", "the config: configs!"]);
    texts[1].text = format!("{} 1.", vec!["a"; 95].join(" ")) + " parse_config 中文";
    texts[2].key = DocKey { stream: 300, seq: 70_000 };
    let segment = build(&texts);
    let shown: Vec<String> =
        std::iter::once(&segment.header).chain(&segment.blocks).map(|part| hex(part)).collect();
    let expected = [
        "0368002b04020103ac0201000001e0c50800600503010341646180042202800400c2b80200c1b80200010100010131973b30d5",
        "0362004308000000000500000001010605060306033161636f6e6669677061727365636f6e666967746865e4b8ade69687e69687010203010101010102035f040102040406040496f0b202",
    ];
    assert_eq!(shown, expected);
    verify(&segment).unwrap();
}

/// A segment that version 1 wrote, of the texts "parse_config 中文" at `(1, 0)` and "the config: configs!" at
/// `(300, 70_000)`.
const VERSION_1: [&str; 2] = [
    "0168001502020101ac020100e0c50805030106636f6e666967b49920a2",
    "0162003806000005000000060506030603636f6e6669677061727365636f6e666967746865e4b8ade69687e69687020101010101000102000002000028cb6a2f",
];

/// A segment that version 2 wrote, of a text of two passages at `(1, 1)` and "the config: configs!" at `(300, 70_000)`.
const VERSION_2: [&str; 2] = [
    "0268002b04020103ac0201000001e0c50800600503010341646180042202800400c2b80200c1b8020001010001013160d96fde",
    "0262004308000000000500000001010605060306033161636f6e6669677061727365636f6e666967746865e4b8ade69687e69687010102010101010102035f04010204040604046f06391f",
];

#[test]
fn segments_of_version_2_answer_and_join_later_ones() {
    let old = Segment { header: unhex(VERSION_2[0]), blocks: vec![unhex(VERSION_2[1])] };
    verify(&old).unwrap();
    let joined = merge(std::slice::from_ref(&old)).unwrap();
    verify(&joined).unwrap();
    assert_eq!((joined.header[0], joined.blocks[0][0]), (3, 3));
    let query = ParsedQuery::parse("config").unwrap();
    let scope = DocScope::everything();
    for segment in [&old, &joined] {
        let header = Header::decode(&segment.header).unwrap();
        let request = IndexSearch { query: &query, scope: &scope, limit: 9 };
        let fetch = |_: usize, block: u32| Ok::<_, Infallible>(&segment.blocks[block as usize]);
        let hits = search(&request, &[&header], None, fetch).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.doc.seq).collect::<Vec<_>>(), [70_000, 1]);
    }
}

#[test]
fn segments_of_version_1_answer_and_join_later_ones() {
    let old = Segment { header: unhex(VERSION_1[0]), blocks: vec![unhex(VERSION_1[1])] };
    verify(&old).unwrap();
    let header = Header::decode(&old.header).unwrap();
    let rows: Vec<Row> = header.docs.rows.iter().map(|row| Row { len: 0, ..*row }).collect();
    assert_eq!(rows, [Row::WHOLE; 2]);
    let new = build(&[Text { key: DocKey { stream: 301, seq: 1 }, text: "config of the new".to_owned() }]);
    let joined = merge(&[old.clone(), new]).unwrap();
    verify(&joined).unwrap();
    assert_eq!((joined.header[0], joined.blocks[0][0]), (3, 3));
    let query = ParsedQuery::parse("config").unwrap();
    for (segment, expected) in [(&old, vec![70_000, 0]), (&joined, vec![1, 70_000, 0])] {
        let header = Header::decode(&segment.header).unwrap();
        let scope = DocScope::everything();
        let request = IndexSearch { query: &query, scope: &scope, limit: 9 };
        let fetch = |_: usize, block: u32| Ok::<_, Infallible>(&segment.blocks[block as usize]);
        let hits = search(&request, &[&header], None, fetch).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.doc.seq).collect::<Vec<_>>(), expected);
    }
}

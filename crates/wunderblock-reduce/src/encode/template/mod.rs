//! Encodes lines that share a template: the template once, and then the values of each line.
//!
//! ```text
//! ⟨=t 2⟩
//! a 081109 {} {} INFO dfs.DataNode: Receiving block blk_{} src: /{}
//! b 081109 {} {} INFO dfs.FSNamesystem: {} is added to { }
//! a 203518 143 -1608999687919862906 10.250.19.102:54106
//! b 203519 26 10.251.73.220:50010   blk_7128370237687728475
//! ⟨=⟩
//! ```
//!
//! `⟨=t N⟩` is followed by N template lines, each named by a letter, and then by the rows. A row begins with the
//! letter of its template, and its values are separated by a space. `{}` is a value. `{ }` is a value with all but
//! one of the spaces before it. A `{` of the text is doubled. A line that begins with none of the letters is an
//! unchanged line, after its leading `\` is removed. `⟨=t⟩` has one template, no letters and no unchanged lines.
//!
//! A row can be read with its template alone. It would save more to leave out values that equal those of the row
//! above, or to write them as `"`. But rows such as `a 4 " 43` or a bare `c` cannot be understood alone.

mod columns;
mod keys;
mod reader;
mod writer;

pub(super) use reader::decode;
pub(super) use writer::encode;

#[cfg(test)]
mod tests {
    use crate::encode::decode;

    use super::encode;

    fn check(text: &str, expected: &str) {
        let packed = encode(text, false).unwrap();
        assert_eq!(packed, expected);
        assert_eq!(decode(&packed).as_deref(), Some(text));
    }

    #[test]
    fn a_log_is_its_templates_and_what_differs() {
        let mut text = String::new();
        for n in 0..6 {
            text += &format!("2024-01-02 10:00:{n:02} INFO pool: job {} queued on worker-7\n", n * 77);
            text += &format!("2024-01-02 10:00:{n:02} WARN pool: job {} took {}ms\n", n * 77, n * 13);
        }
        text += "and that was all";
        check(
            &text,
            "⟨=t 2⟩\na 2024-01-02 10:00:{} INFO pool: job {} queued on worker-7\nb 2024-01-02 10:00:{} WARN pool: job {} took {}ms\na 00 0\nb 00 0 0\na 01 77\nb 01 77 13\na 02 154\nb 02 154 26\na 03 231\nb 03 231 39\na 04 308\nb 04 308 52\na 05 385\nb 05 385 65\n⟨=⟩\nand that was all",
        );
    }

    #[test]
    fn columns_keep_their_width() {
        let files =
            [("lib1", 90, 1), ("tests2", 12800, 12), ("readme3", 7, 3), ("docs4", 4096, 30), ("src5", 11, 2)];
        let text: String = files
            .map(|(name, size, day)| format!("-rw-r--r-- 1 root root {size:>8} Nov {day:>2} 10:24 {name}\n"))
            .concat();
        check(
            &text,
            "⟨=t⟩\n-rw-r--r-- 1 root root { } Nov { } 10:24 {}\n      90  1 lib1\n   12800 12 tests2\n       7  3 readme3\n    4096 30 docs4\n      11  2 src5\n⟨=⟩\n",
        );
    }

    #[test]
    fn other_lines_stand_between_rows_as_they_were() {
        let row = |n: u32| format!("connection from 10.0.0.{n} accepted by listener four\n");
        let text = (0..4).map(row).collect::<String>() + "a b\n\\\n" + &(4..8).map(row).collect::<String>();
        check(
            &text,
            "⟨=t 1⟩\na connection from 10.0.0.{} accepted by listener four\na 0\na 1\na 2\na 3\n\\a b\n\\\\\na 4\na 5\na 6\na 7\n⟨=⟩\n",
        );
    }

    #[test]
    fn a_row_says_all_its_values() {
        let hosts: String =
            (0..6).map(|n| format!("skipping: [shop{:02}.example.org] for {}\n", n / 3, n % 2)).collect();
        check(
            &hosts,
            "⟨=t⟩\nskipping: [shop{}.example.org] for {}\n00 0\n00 1\n00 0\n01 1\n01 0\n01 1\n⟨=⟩\n",
        );
    }

    #[test]
    fn a_text_of_many_templates_is_not_taken_apart() {
        let text = |sorts: usize| -> String {
            let line = |n: usize, sort: usize| {
                format!("07:11:{n:02} the reader at the desk took {}volume {n}\n", "one long ".repeat(sort))
            };
            (0..9).flat_map(|n| (0..sorts).map(move |sort| line(n, sort))).collect()
        };
        assert!(encode(&text(4), false).is_some());
        assert_eq!(encode(&text(12), false), None);
        assert!(encode(&text(12), true).is_some());
    }
}

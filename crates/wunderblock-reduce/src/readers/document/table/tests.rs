use super::*;
use crate::readers::property;

fn csv(rows: usize) -> String {
    let mut text = String::from("id,name,status,price,note\n");
    for n in 0..rows {
        let (status, price) = match n {
            77 => ("refunded", 12),
            130 => ("ok", 99_999),
            _ => (if n % 3 == 0 { "ok" } else { "sent" }, 10 + n * 7 % 50),
        };
        let note = if n == 55 { "payment error: card refused" } else { "plain" };
        text.push_str(&format!("{n},customer {n},{status},{price},\"{note}, with a comma\"\n"));
    }
    text
}

fn drawn(rows: usize) -> String {
    let mut text = String::from(" id | name | state\n----+------+-------\n");
    (0..rows).for_each(|n| {
        text.push_str(&format!(" {n} | user {n} | {}\n", if n == 40 { "locked" } else { "active" }))
    });
    text.push_str(&format!("({rows} rows)\n"));
    text
}

#[test]
fn tables_of_each_form_are_recognised() {
    let markdown = format!("| a | b |\n|---|---|\n{}", "| x | y |\n".repeat(9));
    let mysql =
        format!("+----+-----+\n| id | n   |\n+----+-----+\n{}+----+-----+\n", "|  1 | two |\n".repeat(6));
    let boxed =
        format!("┌────┬─────┐\n│ id │  n  │\n├────┼─────┤\n{}└────┴─────┘\n", "│ 1  │ two │\n".repeat(6));
    let tsv = format!("id\tname\tcity\n{}", "1\tx\ty z\n".repeat(9));
    let spaced = format!("id  name\n--  ----\n{}", "1   two\n".repeat(9));
    for text in [csv(50).as_str(), &drawn(9), &markdown, &mysql, &boxed, &tsv, &spaced] {
        assert!(vote(&LineSample::of(text)) >= 60, "{} {text}", vote(&LineSample::of(text)));
    }
}

#[test]
fn text_with_commas_is_not_detected_as_a_table() {
    let prose =
        "First, we go home. Then, we sleep.\nIt was, as they say, late, and dark.\nNothing else, of note.\n"
            .repeat(9);
    let code = "let a = f(b, c);\nlet d = g(e, h);\nif x { y } else { z }\nreturn;\n".repeat(9);
    let log = "12:00:01 INFO a=1, b=2\n12:00:02 WARN it failed\n".repeat(20);
    for text in [prose.as_str(), &code, &log, "a|b\n", ""] {
        assert!(vote(&LineSample::of(text)) < 30, "{text}");
    }
}

#[test]
fn what_stands_out_stays() {
    for (text, atoms) in [
        (
            csv(400),
            vec![
                "id,name,status,price,note",
                "\n0,customer 0",
                "\n399,",
                "\n77,customer 77,refunded",
                "\n130,",
                "\n55,",
            ],
        ),
        (
            drawn(200),
            vec![
                " id | name | state",
                "\n 0 | user 0",
                " 199 | user 199",
                " 40 | user 40 | locked",
                "(200 rows)",
            ],
        ),
    ] {
        let folded = property::fold(&text, spans);
        assert!(folded.len() * 2 < text.len(), "{folded}");
        let short = property::within(&text, spans, text.len() / 4);
        assert!(short.len() * 10 >= text.len() / 4 * 9, "{} of {}", short.len(), text.len() / 4);
        for atom in atoms {
            assert!(folded.contains(atom), "{atom} in {folded}");
            assert!(short.contains(atom), "{atom} in {short}");
        }
    }
    let folded = property::fold(&csv(400), spans);
    assert!(
        folded.contains("status: 267 sent / 132 ok / 1 refunded") || folded.contains("sent /"),
        "{folded}"
    );
}

#[test]
fn a_record_with_line_breaks_is_one_row() {
    let text = "a,b,c\n1,\"two\nlines\",3\n2,x,y\n3,x,y\n4,x,y\n";
    let lines = TextLines::of(text);
    assert_eq!(spans(&lines).len(), 5);
    // A quote that never ends does not include any other row.
    let text = "a,b,c\n1,\"two,3\n2,x,y\n3,x,y\n4,x,y\n5,x,y\n";
    assert_eq!(rows::split_rows(&TextLines::of(text), TableFormat::Separated(b',')).len(), 6);
}

#[test]
fn few_rows_stay_whole() {
    assert_eq!(property::fold(&csv(20), spans), csv(20));
}

#[test]
fn any_text_is_tiled() {
    property::tiles(&[&csv(60), &drawn(50), "a\tb\n1\t\"2\n3\"\t4\n"], spans);
}

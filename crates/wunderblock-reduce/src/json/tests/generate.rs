//! Generates texts that are JSON, contain JSON, or almost are JSON.

use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Value {
    Plain(String),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

/// Contents of strings, as JSON writes them between quotes.
fn content() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,8}",
        1 => "[0-9]{1,4}",
        2 => "https://host[.]example/[a-c]{1,2}/[0-9]{1,2}(/x\\{y\\})?",
        2 => "~?[1-3]?https://host[.]example/a long way below/[0-9](/long)?/[0-9]?|https://host[.]example/long/way/below/[0-9~/]{0,3}",
        1 => Just(String::new()),
        1 => prop::sample::select(vec![
            "true", "null", "-1", "1e9", "a,b", "a;b", "k=v", "a.b=c", "~x", "~~", " led", "trail ", "[x]", "{x}",
            "x]", "⟨", "⟨⟨", "⟨… lines 1–2: 2 lines⟩", "⟨=⟩", "⟨=json⟩", "@key", "#7", "a: b", ":str", "\\\"", "\\\\",
            "\\ud800", "\\n", "\\u00e9", "é", "日本", "4 items: x", "k:", "-", "01", "1.", "…", "–",
        ]).prop_map(str::to_owned),
    ]
}

fn plain() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => content().prop_map(|text| format!("\"{text}\"")),
        3 => (0u32..50).prop_map(|number| number.to_string()),
        1 => prop::sample::select(vec!["true", "false", "null", "1.10", "1e400", "18446744073709551616", "-0", "[]", "{}"])
            .prop_map(str::to_owned),
    ]
    .prop_map(Value::Plain)
}

/// Objects with mostly the same keys: some keys are missing, some are out of order, and some occur twice.
fn record(keys: Vec<String>) -> impl Strategy<Value = Value> {
    let count = keys.len();
    (prop::collection::vec(0..count, 1..=count + 1), any::<bool>(), prop::collection::vec(plain(), count + 2))
        .prop_map(move |(picked, regular, values)| {
            let keys: Vec<&String> = if regular {
                keys.iter().collect()
            } else {
                picked.iter().filter_map(|at| keys.get(*at)).collect()
            };
            Value::Object(keys.into_iter().cloned().zip(values).collect())
        })
}

fn table() -> impl Strategy<Value = Value> {
    prop::collection::vec(content(), 2..6).prop_flat_map(|keys| {
        let inner = keys.clone();
        let rows = prop::collection::vec(
            (record(keys), prop::option::of(record(inner)), content()).prop_map(|(row, nested, key)| match (
                row, nested,
            ) {
                (Value::Object(mut members), Some(nested)) => {
                    members.push(("in".into(), nested.clone()));
                    members.push(("list".into(), Value::Array(vec![nested.clone(), nested])));
                    (key, Value::Object(members))
                }
                (row, _) => (key, row),
            }),
            3..24,
        );
        (rows, 0usize..4).prop_map(|(rows, side_by_side)| {
            let items = |rows: &[(String, Value)]| rows.iter().map(|(_, row)| row.clone()).collect();
            match side_by_side {
                0 => Value::Object(rows),
                1 => Value::Array(items(&rows)),
                wide => Value::Array(rows.chunks(wide).map(|rows| Value::Array(items(rows))).collect()),
            }
        })
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![1 => plain(), 3 => table()].prop_recursive(3, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((content(), inner), 0..5).prop_map(Value::Object),
        ]
    })
}

/// A style of white space.
#[derive(Clone, Debug)]
struct Style {
    indent: Option<&'static str>,
    newline: &'static str,
    colon: &'static str,
    sep: &'static str,
    pad: &'static str,
    /// Containers shorter than this number of bytes are on one line.
    inline: usize,
}

fn print(value: &Value, style: &Style, depth: usize, flat: bool) -> String {
    let (open, close, members): (_, _, Vec<String>) = match value {
        Value::Plain(text) => return text.clone(),
        Value::Array(items) if items.is_empty() => return "[]".into(),
        Value::Object(members) if members.is_empty() => return "{}".into(),
        Value::Array(items) => {
            ("[", "]", items.iter().map(|item| print(item, style, depth + 1, flat)).collect())
        }
        Value::Object(members) => {
            let member = |(key, value): &(String, Value)| {
                format!("\"{key}\"{}{}", style.colon, print(value, style, depth + 1, flat))
            };
            ("{", "}", members.iter().map(member).collect())
        }
    };
    if !flat && style.indent.is_some() && style.inline > 0 {
        let line = print(value, style, depth, true);
        if line.len() < style.inline {
            return line;
        }
    }
    match (flat, style.indent) {
        (false, Some(indent)) => {
            let line = format!("{}{}", style.newline, indent.repeat(depth + 1));
            let end = format!("{}{}", style.newline, indent.repeat(depth));
            format!("{open}{line}{}{end}{close}", members.join(&format!(",{line}")))
        }
        _ => format!("{open}{}{}{}{close}", style.pad, members.join(&format!(",{}", style.sep)), style.pad),
    }
}

fn style() -> impl Strategy<Value = Style> {
    let indent = prop::sample::select(vec![None, Some("  "), Some("    "), Some("\t"), Some("")]);
    let newline = prop::sample::select(vec!["\n", "\r\n"]);
    let colon = prop::sample::select(vec![":", ": ", " : "]);
    let sep = prop::sample::select(vec!["", " "]);
    (indent, newline, colon, sep, prop::sample::select(vec!["", " "]), prop::sample::select(vec![0usize, 40]))
        .prop_map(|(indent, newline, colon, sep, pad, inline)| Style {
            indent,
            newline,
            colon,
            sep,
            pad,
            inline,
        })
}

pub(super) fn document() -> impl Strategy<Value = String> {
    (prop_oneof![3 => table(), 1 => value()], style(), prop::sample::select(vec!["", "\n", "\n\n"]))
        .prop_map(|(value, style, end)| print(&value, &style, 0, false) + end)
}

fn lines() -> impl Strategy<Value = String> {
    (
        prop::collection::vec(content(), 2..5)
            .prop_flat_map(|keys| prop::collection::vec(record(keys), 2..30)),
        style(),
    )
        .prop_map(|(rows, style)| {
            let rows: Vec<String> = rows.iter().map(|row| print(row, &style, 0, true)).collect();
            rows.join("\n") + "\n"
        })
}

fn inside() -> impl Strategy<Value = String> {
    ("(\\PC{0,30}\n){0,3}", document(), "(\n\\PC{0,30}){0,3}")
        .prop_map(|(head, json, tail)| head + &json + &tail)
}

/// A document with an error in it.
fn broken() -> impl Strategy<Value = String> {
    (document(), any::<prop::sample::Index>(), "\\PC{0,3}", any::<bool>()).prop_map(|(text, at, new, cut)| {
        let mut at = at.index(text.len().max(1));
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let rest = if cut { "" } else { text.get(at + 1..).unwrap_or("") };
        format!("{}{new}{rest}", &text[..at])
    })
}

/// A document that is cut off somewhere, with or without a note about the cut.
fn cut_off_text() -> impl Strategy<Value = String> {
    let note = prop::sample::select(vec!["", "\n[output truncated]", "\n... 1234 more characters\n"]);
    (document(), any::<prop::sample::Index>(), note).prop_map(|(text, at, note)| {
        let mut at = at.index(text.len().max(1));
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text[..at].to_owned() + note
    })
}

/// Documents on separate lines, with other lines among them.
fn broken_lines() -> impl Strategy<Value = String> {
    let line = "[a-z~{}\\[\"1⟨]{0,9}|~~x|\\[3 items: a|\\{\"id\":[0-9]";
    (lines(), prop::collection::vec((any::<prop::sample::Index>(), line), 0..4)).prop_map(|(text, broken)| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (at, line) in broken {
            let at = at.index(lines.len());
            lines.insert(at, line);
        }
        lines.join("\n") + "\n"
    })
}

pub(super) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![2 => cut_off_text(), 2 => broken_lines(), 4 => document(), 2 => lines(), 1 => inside(), 1 => broken(), 1 => "\\PC{0,60}"]
}

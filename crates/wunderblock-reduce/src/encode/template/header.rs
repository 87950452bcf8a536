//! A template as it is shown: what lines say, with a field for each value: `Receiving block blk_{} src: /{}`.
//!
//! | field | its value in a row |
//! |---|---|
//! | `{}` | as it is |
//! | `{8}` | 8 bytes; written shorter, it begins as the value above did |
//! | `{>8}`, `{<8}` | filled up with spaces to 8 bytes, on the left, on the right |
//! | `{ }` | with the spaces before it, all but one |
//! | `{*}` | the rest of the row |
//!
//! A `{` of the text is doubled.

use super::value_format::ValueFormat;

/// The names of the templates: a row begins with one of these letters.
pub(super) const KEYS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// A value that equals the one above.
pub(super) const SAME: &str = "\"";

/// A field of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateField {
    Value(ValueFormat),
    Rest,
}

/// A template: text, and after each but the last of them a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TemplateHeader {
    pub(super) texts: Vec<String>,
    pub(super) fields: Vec<TemplateField>,
}

/// Maximum width of a column: wider ones are never written.
const MAX_WIDTH: usize = 4096;

impl TemplateHeader {
    /// Adds text.
    pub(super) fn push_text(&mut self, text: &str) {
        if self.texts.len() == self.fields.len() {
            self.texts.push(String::new());
        }
        if let Some(last) = self.texts.last_mut() {
            last.push_str(text);
        }
    }

    /// Adds a field.
    pub(super) fn push_field(&mut self, field: TemplateField) {
        self.push_text("");
        self.fields.push(field);
    }

    pub(super) fn write(&self, out: &mut String) {
        let mut fields = self.fields.iter();
        for text in &self.texts {
            for c in text.chars() {
                out.push(c);
                if c == '{' {
                    out.push(c);
                }
            }
            if let Some(field) = fields.next() {
                write_field(*field, out);
            }
        }
        for field in fields {
            write_field(*field, out);
        }
    }

    /// The template that was written so.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut header = Self::default();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            header.push_text(rest.get(..at)?);
            let inner = rest.get(at + 1..)?;
            if let Some(after) = inner.strip_prefix('{') {
                header.push_text("{");
                rest = after;
                continue;
            }
            let (field, after) = inner.split_once('}')?;
            header.push_field(read_field(field)?);
            rest = after;
        }
        header.push_text(rest);
        Some(header)
    }
}

fn write_field(field: TemplateField, out: &mut String) {
    let (sign, width) = match field {
        TemplateField::Value(ValueFormat::Loose) => (" ", None),
        TemplateField::Rest => ("*", None),
        TemplateField::Value(ValueFormat::Plain | ValueFormat::Said) => ("", None),
        TemplateField::Value(ValueFormat::Fixed(width)) => ("", Some(width)),
        TemplateField::Value(ValueFormat::Right(width)) => (">", Some(width)),
        TemplateField::Value(ValueFormat::Left(width)) => ("<", Some(width)),
    };
    out.push('{');
    out.push_str(sign);
    if let Some(width) = width {
        out.push_str(&width.to_string());
    }
    out.push('}');
}

fn read_field(field: &str) -> Option<TemplateField> {
    let width = |text: &str| text.parse().ok().filter(|width| *width <= MAX_WIDTH);
    Some(match field {
        "" => TemplateField::Value(ValueFormat::Plain),
        "*" => TemplateField::Rest,
        " " => TemplateField::Value(ValueFormat::Loose),
        field => TemplateField::Value(match (field.strip_prefix('>'), field.strip_prefix('<')) {
            (Some(right), _) => ValueFormat::Right(width(right)?),
            (_, Some(left)) => ValueFormat::Left(width(left)?),
            (None, None) => ValueFormat::Fixed(width(field)?),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_read_as_it_was_written() {
        for text in ["", "a {} b", "{{x}} {8}{>3}{<12} {*}", "{ }", "}{{"] {
            let mut again = String::new();
            TemplateHeader::read(text).unwrap().write(&mut again);
            assert_eq!(again, text);
        }
        for text in ["{", "{x}", "{-1}", "{>99999999999}"] {
            assert_eq!(TemplateHeader::read(text), None, "{text}");
        }
    }
}

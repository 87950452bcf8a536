//! Decodes characters that markup writes by name or number.
use crate::part::PartOfText;

/// Entities found in pages, each with its text. Other entities stay as they are written.
#[rustfmt::skip]
const NAMED: [(&str, &str); 62] = [
    ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("copy", "©"), ("reg", "®"),
    ("trade", "™"), ("hellip", "…"), ("mdash", "—"), ("ndash", "–"), ("lsquo", "‘"), ("rsquo", "’"),
    ("ldquo", "“"), ("rdquo", "”"), ("laquo", "«"), ("raquo", "»"), ("bull", "•"), ("middot", "·"),
    ("times", "×"), ("larr", "←"), ("rarr", "→"), ("uarr", "↑"), ("darr", "↓"), ("harr", "↔"),
    ("deg", "°"), ("plusmn", "±"), ("para", "¶"), ("sect", "§"), ("euro", "€"), ("pound", "£"),
    ("yen", "¥"), ("cent", "¢"), ("minus", "−"), ("le", "≤"), ("ge", "≥"), ("ne", "≠"), ("infin", "∞"),
    ("auml", "ä"), ("ouml", "ö"), ("uuml", "ü"), ("Auml", "Ä"), ("Ouml", "Ö"), ("Uuml", "Ü"),
    ("szlig", "ß"), ("eacute", "é"), ("egrave", "è"), ("agrave", "à"), ("ccedil", "ç"),
    ("ntilde", "ñ"), ("aacute", "á"), ("oacute", "ó"), ("iacute", "í"), ("check", "✓"),
    ("lbrace", "{"), ("nbsp", " "), ("ensp", " "), ("emsp", " "), ("thinsp", " "), ("shy", ""),
    ("zwj", ""), ("zwnj", ""),
];

/// Appends the text to `into`, with its entities decoded.
pub(super) fn decode(text: &str, into: &mut String) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        let (before, after) = rest.split_at(at);
        into.push_str(before);
        match parse_entity(after) {
            Some((length, resolved)) => {
                match resolved {
                    EntityText::Name(name) => into.push_str(name),
                    EntityText::Char(c) => into.push(c),
                }
                rest = after.part(length..);
            }
            None => {
                into.push('&');
                rest = after.part(1..);
            }
        }
    }
    into.push_str(rest);
}

enum EntityText {
    Name(&'static str),
    Char(char),
}

/// Returns the length in bytes of the entity that a text starts with, and the text of the entity.
fn parse_entity(text: &str) -> Option<(usize, EntityText)> {
    let end = text.bytes().take(12).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let number = name.strip_prefix('#').map(|number| match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    });
    if let Some(number) = number {
        let c = char::from_u32(number.ok()?)?;
        let c = if c == '\u{a0}' { ' ' } else { c };
        return (!c.is_control() || c == '\n' || c == '\t').then_some((end + 1, EntityText::Char(c)));
    }
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, stands)| (end + 1, EntityText::Name(stands)))
}

//! A layout as the arguments of its code: what differs from what is usual.

use super::layout::{InlineRule, JsonLayout};

/// White space in letters: a mark stands on one line.
fn encode_space(space: &str) -> String {
    let letter = |c| match c {
        ' ' => '_',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        other => other,
    };
    space.chars().map(letter).collect()
}

fn decode_space(spelled: &str) -> String {
    let space = |c| match c {
        '_' => ' ',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        other => other,
    };
    spelled.chars().map(space).collect()
}

fn encode_rule(fit: InlineRule) -> String {
    match fit {
        InlineRule::Never => "never".into(),
        InlineRule::Always => "always".into(),
        InlineRule::Width(max) => format!("width{max}"),
        InlineRule::Height(max) => format!("height{max}"),
    }
}

fn decode_rule(text: &str) -> Option<InlineRule> {
    match text {
        "never" => Some(InlineRule::Never),
        "always" => Some(InlineRule::Always),
        _ => match text.strip_prefix("width") {
            Some(max) => max.parse().ok().map(InlineRule::Width),
            None => text.strip_prefix("height")?.parse().ok().map(InlineRule::Height),
        },
    }
}

impl JsonLayout {
    /// The usual layout: with an indent, everything broken and `": "`; without, no white space at all.
    fn usual(indent: Option<String>) -> Self {
        let mut layout = Self::compact();
        if indent.is_some() {
            layout.colon = ": ".into();
            layout.sep = " ".into();
            layout.objects = InlineRule::Never;
            layout.arrays = InlineRule::Never;
        }
        layout.indent = indent;
        layout
    }

    /// As the arguments of a code.
    pub(super) fn args(&self) -> String {
        let usual = Self::usual(self.indent.clone());
        let mut words: Vec<String> = Vec::new();
        if self.lines {
            words.push("lines".into());
        }
        if let Some(indent) = &self.indent {
            let spaces = indent.bytes().all(|byte| byte == b' ');
            words.push(if spaces {
                format!("indent={}", indent.len())
            } else {
                format!("indent={}", encode_space(indent))
            });
        }
        let mut spelled = |name: &str, is: &str, usual: &str| {
            if is != usual {
                words.push(format!("{name}={}", encode_space(is)));
            }
        };
        spelled("newline", &self.newline, &usual.newline);
        spelled("colon", &self.colon, &usual.colon);
        spelled("sep", &self.sep, &usual.sep);
        spelled("pad", &self.object_pad, &usual.object_pad);
        spelled("arraypad", &self.array_pad, &usual.array_pad);
        if let Some(own) = &self.root {
            let plain = self.lines && own[0].is_empty() && own[1] == "\n" && own[2].is_empty();
            if !plain {
                words.push(format!("root={}", own.each_ref().map(|space| encode_space(space)).join("|")));
            }
        }
        if self.objects != usual.objects {
            words.push(format!("objects={}", encode_rule(self.objects)));
        }
        if self.arrays != usual.arrays {
            words.push(format!("arrays={}", encode_rule(self.arrays)));
        }
        if !self.but.is_empty() {
            let mut last = 0;
            let steps: Vec<String> = self
                .but
                .iter()
                .map(|at| {
                    let step = at - last;
                    last = *at;
                    step.to_string()
                })
                .collect();
            words.push(format!("but={}", steps.join(",")));
        }
        words.join(" ")
    }

    /// The layout of a code's arguments.
    pub(super) fn read(args: &str) -> Option<Self> {
        let words = || args.split(' ').filter(|word| !word.is_empty());
        let indent = words().find_map(|word| word.strip_prefix("indent="));
        let mut layout = Self::usual(indent.map(|text| match text.parse::<usize>() {
            Ok(count) => " ".repeat(count.min(64)),
            Err(_) => decode_space(text),
        }));
        for word in words() {
            let Some((name, value)) = word.split_once('=') else {
                if word != "lines" {
                    return None;
                }
                layout.lines = true;
                layout.root.get_or_insert_with(|| ["", "\n", ""].map(str::to_owned));
                continue;
            };
            match name {
                "indent" => {}
                "newline" => layout.newline = decode_space(value),
                "colon" => layout.colon = decode_space(value),
                "sep" => layout.sep = decode_space(value),
                "pad" => layout.object_pad = decode_space(value),
                "arraypad" => layout.array_pad = decode_space(value),
                "root" => {
                    let mut own = value.split('|').map(decode_space);
                    layout.root = Some([own.next()?, own.next()?, own.next()?]);
                }
                "objects" => layout.objects = decode_rule(value)?,
                "arrays" => layout.arrays = decode_rule(value)?,
                "but" => {
                    let mut at = 0u32;
                    for step in value.split(',') {
                        at = at.checked_add(step.parse().ok()?)?;
                        layout.but.push(at);
                    }
                }
                _ => return None,
            }
        }
        Some(layout)
    }
}

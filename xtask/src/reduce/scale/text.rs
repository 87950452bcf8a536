//! Generates texts of any size and of every kind, from the templates in `xtask/reduce/inputs.toml`.

use crate::program::ChoreResult;
use serde::Deserialize;
use wunderblock_testkit::generate::Random;

const SEED: u64 = 0x5742_6c6b;

/// All templates, and the words they use.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputTemplates {
    words: String,
    input: Vec<InputTemplate>,
}

/// Template of a text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputTemplate {
    name: String,
    #[serde(default)]
    head: String,
    #[serde(default)]
    tail: String,
    #[serde(default)]
    separator: String,
    lines: Vec<LinePattern>,
}

/// Pattern of a line, and the condition under which the line is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinePattern {
    every: Option<usize>,
    per_mille: Option<usize>,
    text: String,
}

impl InputTemplates {
    pub(super) fn read() -> ChoreResult<Self> {
        Ok(toml::from_str(include_str!("../../../reduce/inputs.toml"))?)
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.input.iter().map(|input| input.name.as_str()).collect()
    }

    /// Returns a text of about `bytes` bytes, the same in every run.
    pub(super) fn text(&self, name: &str, bytes: usize) -> ChoreResult<String> {
        let input = self.input.iter().find(|input| input.name == name).ok_or("unknown input")?;
        let words: Vec<&str> = self.words.split_whitespace().collect();
        let mut random = Random::new(SEED);
        let mut text = String::with_capacity(bytes + 4_096);
        text.push_str(&input.head);
        for number in 0.. {
            let is_due = |line: &&LinePattern, random: &mut Random| match (line.every, line.per_mille) {
                (Some(every), _) => number % every == every - 1,
                (None, Some(share)) => random.below(1_000) < share,
                (None, None) => true,
            };
            // The first pattern that is due is used, so a pattern without a condition must come last.
            let line = input.lines.iter().find(|line| is_due(line, &mut random));
            let same = random.pick(&words);
            let mut places = Places { words: &words, random: &mut random, number, same };
            places.fill(&line.ok_or("no pattern of a line applies")?.text, &mut text)?;
            if text.len() >= bytes {
                break;
            }
            text.push_str(&input.separator);
        }
        text.push_str(&input.tail);
        Ok(text)
    }
}

/// Values that fill the places of a line.
struct Places<'a> {
    words: &'a [&'a str],
    random: &'a mut Random,
    number: usize,
    same: &'a str,
}

impl Places<'_> {
    /// Writes a line with its places filled.
    fn fill(&mut self, line: &str, out: &mut String) -> ChoreResult<()> {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("{{") {
            let (place, after) =
                after.split_once("}}").ok_or_else(|| format!("missing `}}}}` after `{{{{` in `{line}`"))?;
            out.push_str(before);
            out.push_str(&self.padded(place).ok_or_else(|| format!("unknown place `{place}`"))?);
            rest = after;
        }
        out.push_str(rest);
        Ok(())
    }

    fn padded(&mut self, place: &str) -> Option<String> {
        let (mut argument, mut padding) = (None, None);
        let mut parts = place.split(' ');
        let what = parts.next()?;
        for part in parts {
            match part.as_bytes().first()? {
                sign @ (b'0' | b'<' | b'>') => padding = Some((*sign, part.get(1..)?.parse::<usize>().ok()?)),
                _ => argument = Some(part.parse().ok()?),
            }
        }
        let value = self.value(what, argument)?;
        Some(match padding {
            Some((b'0', width)) => format!("{value:0>width$}"),
            Some((b'<', width)) => format!("{value:<width$}"),
            Some((_, width)) => format!("{value:>width$}"),
            None => value,
        })
    }

    fn value(&mut self, what: &str, argument: Option<usize>) -> Option<String> {
        Some(match what {
            "word" => self.random.pick(self.words).to_owned(),
            "words" => {
                let words: Vec<&str> = (0..argument?).map(|_| self.random.pick(self.words)).collect();
                words.join(" ")
            }
            "same" => self.same.to_owned(),
            "below" => self.random.below(argument?).to_string(),
            "hex" => format!("{:016x}", self.random.next_u64()).get(..argument.unwrap_or(16))?.to_owned(),
            "number" => argument.map_or(self.number, |modulus| self.number % modulus).to_string(),
            "clock" => {
                let (minutes, hours) = (self.number / 60, self.number / 3_600);
                format!("{:02}:{:02}:{:02}", hours % 24, minutes % 60, self.number % 60)
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_can_be_written() {
        let templates = InputTemplates::read().unwrap();
        for name in templates.names() {
            let text = templates.text(name, 200_000).unwrap();
            assert!(
                (200_000..210_000).contains(&text.len()) && !text.contains("{{"),
                "{name}: {}",
                text.len()
            );
            assert_eq!(templates.text(name, 200_000).unwrap(), text, "the same in every run");
        }
        for name in ["json", "json-line"] {
            let document: Vec<serde_json::Value> =
                serde_json::from_str(&templates.text(name, 20_000).unwrap()).unwrap();
            assert!(document.len() > 50, "{name}");
        }
    }

    #[test]
    fn places_are_filled_and_padded() {
        let mut random = Random::new(1);
        let mut places = Places { words: &["book"], random: &mut random, number: 3_725, same: "room" };
        let mut out = String::new();
        places.fill("{{clock}} {{number 60 03}}|{{words 2 >11}}|{{same <6}}|", &mut out).unwrap();
        assert_eq!(out, "01:02:05 005|  book book|room  |");
        assert!(places.fill("{{nothing}}", &mut out).is_err());
        assert!(places.fill("{{below}}", &mut out).is_err());
    }
}

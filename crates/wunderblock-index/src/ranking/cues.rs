//! Cues: what the form of a question says about its answer.

use crate::passages::lists::is_stop_word;
use crate::passages::voice::VoiceRole;
use crate::ranking::dates::NamedDate;

/// Cues of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cues {
    text: Box<str>,
    /// Role of the speaker who is asked about.
    pub(crate) role: Option<VoiceRole>,
    /// A time is asked for.
    pub(crate) when: bool,
    /// A number is asked for.
    pub(crate) how_many: bool,
    pub(crate) dates: Vec<NamedDate>,
}

const FIRST_PERSON: &str = "i me my mine we us our ours myself";
const SECOND_PERSON: &str = "you your yours";
/// Words before `you` in a request, which is not about what a model said.
const REQUEST: &str = "can could would will do are if thank";
const TIMES: &str = "time date day year month week";
const AMOUNTS: &str = "many much often old far big tall large high heavy fast";
const COUNTED: &str = "number percentage percent amount price cost total count";

const CHINESE_WHEN: &str = "何时 时候 几点 哪天 哪年 哪一年 哪一天 几月 几号 多久 日期";
const CHINESE_HOW_MANY: &str = "多少 几 多大 多长 多高 多远 数量";
const CHINESE_REQUEST: &str = "请你 你能 你可以 你会";

fn is_in(word: &str, list: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

impl Cues {
    /// Reads the cues of a question.
    pub(crate) fn of(text: &str) -> Self {
        let words: Vec<String> = words(text).map(str::to_lowercase).collect();
        let has = |list: &str| words.iter().any(|word| is_in(word, list));
        let after = |first: &str, second: &str| {
            words.iter().zip(words.iter().skip(1)).any(|(a, b)| is_in(a, first) && is_in(b, second))
        };
        let wide = |list: &str| list.split(' ').any(|word| text.contains(word));
        Self {
            text: text.into(),
            role: role(&words, text),
            when: has("when") || after("what which", TIMES) || after("how", "long") || wide(CHINESE_WHEN),
            how_many: after("how", AMOUNTS) || has(COUNTED) || wide(CHINESE_HOW_MANY),
            dates: NamedDate::all(text),
        }
    }

    /// Returns which of some names the question has. A word of at least three letters with a capital may be the
    /// beginning of a name, but only of one.
    pub(crate) fn named(&self, names: &[Box<str>]) -> Vec<bool> {
        let mut named: Vec<bool> =
            names.iter().map(|name| !name.is_ascii() && self.text.contains(&**name)).collect();
        for word in words(&self.text).filter(|word| word.len() > 2) {
            let folded = word.to_lowercase();
            if is_stop_word(folded.as_bytes()) {
                continue;
            }
            let is_capital = word.starts_with(char::is_uppercase);
            let is_named = |name: &str| {
                words(name)
                    .map(str::to_lowercase)
                    .any(|part| part == folded || is_capital && part.starts_with(&folded))
            };
            let mut found = names.iter().zip(&mut named).filter(|(name, _)| is_named(name.as_ref()));
            if let (Some((_, named)), None) = (found.next(), found.next()) {
                *named = true;
            }
        }
        named
    }
}

/// Returns the role of the speaker that a question is about.
fn role(words: &[String], text: &str) -> Option<VoiceRole> {
    let before = [""].into_iter().chain(words.iter().map(String::as_str));
    let is_asked =
        words.iter().zip(before).any(|(word, before)| is_in(word, SECOND_PERSON) && !is_in(before, REQUEST));
    let requests = CHINESE_REQUEST.split(' ').any(|word| text.contains(word));
    // "What did you say about my cat" is about what was said, so the second person decides.
    if is_asked || text.contains('你') && !requests {
        return Some(VoiceRole::Assistant);
    }
    let is_first = words.iter().any(|word| is_in(word, FIRST_PERSON)) || text.contains('我');
    is_first.then_some(VoiceRole::User)
}

/// Returns the words of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_question_says_what_is_asked_for() {
        for (text, expected) in [
            ("When did I move to Lisbon?", "user when"),
            ("How many cats does Melanie have?", "many"),
            ("Where did you suggest to stay?", "assistant"),
            ("Can you summarise my project?", "user"),
            ("What is your advice on which day to start?", "assistant when"),
            ("why did the build fail", ""),
            ("你建议我去哪里？", "assistant"),
            ("我什么时候买的书？", "user when"),
            ("请你总结项目的经过", ""),
            ("她有几个孩子", "many"),
        ] {
            let cues = Cues::of(text);
            let role = cues.role.map(|role| if role == VoiceRole::User { "user" } else { "assistant" });
            let flags = [(cues.when, "when"), (cues.how_many, "many")];
            let flags = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name);
            assert_eq!(role.into_iter().chain(flags).collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_person_is_named_by_a_beginning_that_nobody_else_has() {
        let names = ["Caroline", "Melanie Jones", "Marc", "Maria Jones", "小明"].map(Box::from);
        for (text, expected) in [
            ("What did Caroline buy?", vec![0].as_slice()),
            ("what did melanie buy?", &[1]),
            ("Mel's dog and Car", &[0, 1]),
            ("Which car did she buy?", &[]),
            ("Mar or Jones", &[]),
            ("Marc and Maria", &[2, 3]),
            ("小明买了什么", &[4]),
        ] {
            let named = Cues::of(text).named(&names);
            assert_eq!((0..5).filter(|at| named[*at]).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}

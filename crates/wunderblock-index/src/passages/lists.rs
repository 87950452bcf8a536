//! Words from which the traits of passages and the kinds of questions are read, in English and Chinese.
//!
//! English lists are looked up by word. Chinese has no spaces, so its lists are looked for as strings.

use crate::passages::traits::Traits;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// English and Chinese words by the trait that they give.
const LISTS: [(Traits, &str, &str); 5] = [
    (Traits::FIRST_PERSON, "i me mine my myself our ours ourselves us we", "我 咱"),
    (Traits::QUESTION, "", "？ 吗"),
    (Traits::TIME, TIME, CHINESE_TIME),
    (Traits::NUMBER, NUMBER, "两 三 四 五 六 七 八 九 十 百 千 万 几个 一半"),
    (
        Traits::INSTRUCTION,
        "always avoid ensure instead must never only prefer preferred remember should",
        "总是 始终 永远 一律 务必 必须 不要 不得 禁止 避免 优先 记住 以后 从现在起 今后 应该",
    ),
];

const TIME: &str = "
afternoon ago april august autumn birthday christmas day days december evening february friday hour hours january july
june last lately later minutes monday month months morning next night november october recently saturday september since
soon spring summer sunday thursday today tomorrow tonight tuesday until wednesday week weekend weeks winter year years
yesterday
";

const CHINESE_TIME: &str = "
今天 明天 昨天 前天 后天 昨晚 今晚 早上 上午 中午 下午 晚上 凌晨 周末 上周 下周 这周 本周 星期 礼拜 周一 周二 周三 周四
周五 周六 周日 上个月 下个月 这个月 月份 去年 今年 明年 前年 春天 夏天 秋天 冬天 生日 小时 分钟 年前 天前 月前 最近 刚才
以前 月底 月初 年底 年初 春节 点钟
";

const NUMBER: &str = "
billion couple dozen eight eighteen eighty eleven fifteen fifty five forty four fourteen half hundred hundreds million
nine nineteen ninety once seven seventeen seventy several six sixteen sixty ten thirteen thirty thousand thousands three
twelve twenty twice two
";

/// English words that say nothing about a subject, question words included: they are cues, and no terms.
const STOP_WORDS: &str = "
a about above after again all also am an and any are aren as at be because been before being below between both but by
can cannot could couldn d did didn do does doesn doing don down during each ever few for from further get gets getting
give got had hadn has hasn have haven having he her here hers herself him himself his how however i if in into is isn it
its itself just let ll m many may me might mine more most much must my myself need no nor not now of off on once one only
or other ought our ours ourselves out over own please re s same shall shan she should shouldn since so some such t tell
than that the their theirs them themselves then there these they this those through to too under until up upon us ve very
was wasn we were weren what whatever when where whether which while who whom whose why will with won would wouldn yes you
your yours yourself yourselves
";

static STOP: LazyLock<HashSet<&'static [u8]>> =
    LazyLock::new(|| STOP_WORDS.split_whitespace().map(str::as_bytes).collect());

/// Chinese words that say nothing about a subject, longer ones first.
const CHINESE_STOP_WORDS: &str = "
为什么 什么时候 是什么 有什么 什么样 什么 怎么样 怎么 怎样 如何 为何 何时 何处 哪里 哪儿 哪个 哪些 哪一 哪位 多少 是否
请问 告诉 吗 呢 吧 谁 的 了
";

static ENGLISH: LazyLock<HashMap<&'static [u8], Traits>> = LazyLock::new(|| {
    let words =
        LISTS.iter().flat_map(|(traits, words, _)| words.split_whitespace().map(|word| (word, *traits)));
    words.map(|(word, traits)| (word.as_bytes(), traits)).collect()
});

/// Maximum length of a listed word in bytes.
const MAX_WORD: usize = 12;

/// Returns the traits that an English word gives.
pub(crate) fn english(word: &[u8]) -> Traits {
    let mut folded = [0; MAX_WORD];
    let Some(folded) = folded.get_mut(..word.len()) else { return Traits::NONE };
    folded.copy_from_slice(word);
    folded.make_ascii_lowercase();
    ENGLISH.get(&*folded).copied().unwrap_or_default()
}

/// Returns the traits that a text gives by its Chinese words.
pub(crate) fn chinese(text: &str) -> Traits {
    let has = |words: &str| words.split_whitespace().any(|word| text.contains(word));
    let given = LISTS.iter().filter(|(_, _, words)| has(words));
    given.fold(Traits::NONE, |all, (traits, ..)| all | *traits)
}

/// Returns whether a folded English word says nothing about a subject.
pub(crate) fn is_stop_word(word: &[u8]) -> bool {
    STOP.contains(word)
}

/// Returns a text with spaces in place of Chinese words that say nothing about a subject. All of them could be part of
/// other words, so a question loses a pair of characters at times, and a text never does.
pub(crate) fn without_chinese_stop_words(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut replaced = Cow::Borrowed(text);
    for word in CHINESE_STOP_WORDS.split_whitespace() {
        if replaced.contains(word) {
            replaced = replaced.replace(word, " ").into();
        }
    }
    // Nothing else was asked.
    if replaced.chars().any(char::is_alphanumeric) { replaced } else { text.into() }
}

//! The vocabulary: a few thousand words whose frequencies fall as they do in real text.

use super::random::Random;
use std::sync::LazyLock;

const FREQUENT: &str = "the to a of in and is it for that this be on with not as we if are at from or an by was \
     so when can has but then should now there which have no all only one will same new each do still already before \
     after because where more also both two into out first let me see need run check look next fix found still why";

const STEMS: &str = "account adapt anchor append arena assert atom batch block bound branch bucket buffer build bundle \
     byte cache call cargo chain channel check chunk clock clone cluster codec column command commit compact config \
     connect context convert count crate credit cursor daemon data debug decode default delta deploy depth diff digest \
     dispatch domain drain drop edge emit encode engine entry epoch error event evict expand export fetch field file \
     filter flag flush fold footer format forward frame fuse gate glob graph group guard handle hash head heap hint \
     hook host hover index init inline input insert invoke item iter join journal kernel key label lane latch layer \
     layout ledger lease length level limit line link list load lock log loop macro map mark match merge metric mock \
     model module mount mutex name node notify offset open option order output owner pack page pair panic parse patch \
     path pause peer pin pipe plan point poll pool port prefix probe proxy prune push query queue quota range read \
     record redact reduce ref region render repair replay request reserve reset resolve retry return ring roll root \
     route row rule scan schema scope score seal search section seed segment select sender serve session shard share \
     shift signal sink slice slot snap socket sort source span spawn split stack stage stamp state step stop store \
     stream string stub suffix swap switch sync table tail task template tenant test text thread throttle tick token \
     trace track trait transfer tree trigger trim tuple type union unit update usage user value vector verify view \
     wait walk watch wire worker wrap write yield zone";

const ENDINGS: &str = " s ed er ing able _id _len _count _key _map _error _test _path _state _config _ref";

const CHINESE: &str = "测试 失败 请 检查 一下 为什么 修复 这个 错误 函数 返回 缓存 数据库 迁移 的 了 在 是 和 我们 需要 先 \
     再 运行 然后 提交 代码 配置 文件 日志 超时 线程 死锁 内存 索引 查询 接口 版本 更新 用户 会话 消息 压缩 上下文 不要 \
     修改 其他 部分 谢谢 可以 看到 问题 原因 已经 解决 并发 写入 读取 性能 下降 之前 之后 结果";

/// How finely the distribution is cut.
const SLOTS: usize = 1 << 14;

struct WordFrequencies {
    words: Vec<String>,
    /// How many of them, at the beginning, are no names.
    plain: usize,
    /// For each slot a word; frequent words have many slots.
    slots: Vec<u16>,
    chinese: Vec<&'static str>,
}

static FREQUENCIES: LazyLock<WordFrequencies> = LazyLock::new(|| {
    let mut words: Vec<String> = FREQUENT.split_whitespace().map(str::to_owned).collect();
    let plain = words.len();
    // Ending by ending, so that plain stems are more frequent than composed ones.
    for ending in ENDINGS.split(' ') {
        words.extend(STEMS.split_whitespace().map(|stem| format!("{stem}{ending}")));
    }
    // Zipf: the word of rank r has a share in proportion to 1 / r; 2.7 flattens the top, as in running text.
    let weight = |rank: usize| 1.0 / (rank as f64 + 2.7);
    let total: f64 = (0..words.len()).map(weight).sum();
    let mut slots = Vec::with_capacity(SLOTS);
    let mut sum = 0.0;
    for rank in 0..words.len() {
        sum += weight(rank) / total;
        let upto = ((sum * SLOTS as f64) as usize).clamp(slots.len(), SLOTS);
        slots.resize(upto, u16::try_from(rank).unwrap_or(0));
    }
    slots.resize(SLOTS, 0);
    WordFrequencies { words, plain, slots, chinese: CHINESE.split_whitespace().collect() }
});

/// A word as frequent as its rank.
pub(super) fn word(random: &mut Random) -> &'static str {
    let vocabulary = &*FREQUENCIES;
    let slot = random.below(SLOTS);
    let rank = vocabulary.slots.get(slot).copied().map_or(0, usize::from);
    vocabulary.words.get(rank).map_or("", String::as_str)
}

/// Any word that could be a name; all are equally frequent.
pub(super) fn name(random: &mut Random) -> &'static str {
    let WordFrequencies { words, plain, .. } = &*FREQUENCIES;
    let rank = random.between(*plain, words.len());
    words.get(rank).map_or("", String::as_str)
}

/// Words with spaces between, about so many bytes.
pub(super) fn words(random: &mut Random, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 16);
    while out.len() < bytes {
        out.push_str(word(random));
        out.push(' ');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Sentences, about so many bytes, with names, paths and numbers among the words.
pub(crate) fn prose(random: &mut Random, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 64);
    while out.len() < bytes {
        out.push_str(&words(random, 30));
        out.push_str(&match random.below(8) {
            0 => format!(" `{}::{}`", name(random), name(random)),
            1 => format!(" {}:{}", path(random), random.between(1, 2000)),
            2 => format!(" {:09x}", random.next_u64() & 0xf_ffff_ffff),
            _ => String::new(),
        });
        out.push_str(random.pick(&[". ", ", ", " — ", ". ", ".\n\n", ": "]));
    }
    out.truncate(out.trim_end_matches([' ', '\n', ',', ':', '—']).len());
    out
}

/// Chinese, about so many bytes.
pub(super) fn chinese(random: &mut Random, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 64);
    let mut since = 0;
    while out.len() < bytes {
        out.push_str(random.pick(&FREQUENCIES.chinese));
        since += 1;
        if random.chance(8) {
            out.push_str(name(random));
        }
        if since > 7 {
            out.push_str(random.pick(&["，", "。", "，"]));
            since = 0;
        }
    }
    out.push('。');
    out
}

/// A path of a source file.
pub(super) fn path(random: &mut Random) -> String {
    let root = random.pick(&["crates/", "src/", "tests/", "packages/", "lib/"]);
    let package = name(random);
    let inner = if random.chance(60) { format!("src/{}/", name(random)) } else { String::new() };
    let end = [".rs", ".rs", ".ts", ".py", ".toml"];
    format!("{root}{package}/{inner}{}{}", name(random), random.pick(&end))
}

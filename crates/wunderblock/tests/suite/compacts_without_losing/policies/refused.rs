//! Invalid policy files and their messages, which must help the person who edits the file.

use wunderblock::policy::Policies;

fn error(text: &str) -> String {
    match Policies::embedded().parse(text, "mine.toml") {
        Ok(parsed) => panic!("{text:?} is taken for {parsed:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
#[rustfmt::skip]
#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn the_error_of_a_refused_file_says_what_to_fix() {
    let table: &[(&str, &str)] = &[
        (
            "",
            "mine.toml: name: this key is missing",
        ),
        (
            r#"name = "mine"
extend = "balanced"
"#,
            "mine.toml: line 2: extend: unknown key; did you mean `extends`? expected one of `name`, `about`, `extends`, `trigger`, `protect`, `split`, `reduce`, `step`, `summary`, `limits`",
        ),
        (
            r#"name = "mine"

[trigger.soft]
fracton = 0.9
"#,
            "mine.toml: line 4: trigger.soft.fracton: unknown key; did you mean `fraction`? expected one of `fraction`, `tokens`, `unsummarised`, `free`, `messages`, `age_s`, `cache_s`",
        ),
        (
            r#"name = "mine"
[trigger]
fraction = 0.9
leaves = 3
[trigger.soft]
template = 1
"#,
            r#"mine.toml cannot be used as a policy:
  line 3: trigger.fraction: unknown key here; it belongs in `trigger.soft`
  line 4: trigger.leaves: unknown key; expected one of `soft`, `hard`, `of`, `boundary`, `down_to`, `cold`, `idle`, `regrow`
  line 6: trigger.soft.template: unknown key here; it belongs in `summary`"#,
        ),
        (
            r#"name = "mine"
[reduce]
level = "folds"
leasst = 100
except = ["code", "logs"]
"#,
            r#"mine.toml cannot be used as a policy:
  line 3: reduce.level: unknown value `folds`; did you mean `fold`? expected one of `off`, `lossless`, `fold`
  line 4: reduce.leasst: unknown key; did you mean `least`? expected one of `level`, `least`, `except`
  line 5: reduce.except: unknown value `logs`; did you mean `log`? expected one of `json`, `diff`, `html`, `tests`, `build`, `infra`, `trace`, `search`, `log`, `table`, `listing`, `blob`, `code`, `markdown`, `prose`"#,
        ),
        (
            r#"name = "mine"
[reduce]
level = "fold"
except = ["json", "diff", "html", "tests", "build", "infra", "trace", "search", "log", "table", "listing", "blob", "code", "markdown", "prose"]
"#,
            r#"mine.toml: line 4: reduce.except: no kind of text is left to reduce: set `level = "off"` instead"#,
        ),
        (
            r#"name = "mine"
[trigger.soft]
fraction = "0.9"
"#,
            r#"mine.toml: line 3: trigger.soft.fraction: found the text "0.9", expected a ratio such as 0.92"#,
        ),
        (
            r#"name = "mine"
[trigger.soft]
fraction = 92
"#,
            "mine.toml: line 3: trigger.soft.fraction: found `92`, expected a ratio; 92 % is written 0.92",
        ),
        (
            r#"name = "mine"
[trigger.soft]
fraction = nan
tokens = -1
messages = 1.5
age_s = 18446744073709551615
"#,
            r#"mine.toml cannot be used as a policy:
  line 3: trigger.soft.fraction: found `nan`, expected a ratio such as 0.92
  line 4: trigger.soft.tokens: found `-1`, expected a whole number from 0 to 9223372036854775807
  line 5: trigger.soft.messages: found `1.5`, expected a whole number
  line 6: trigger.soft.age_s: found `18446744073709551615`, expected a whole number from 0 to 9223372036854775807"#,
        ),
        (
            r#"name = "mine"
[trigger]
boundary = "turns"
of = 3
"#,
            r#"mine.toml cannot be used as a policy:
  line 3: trigger.boundary: unknown value `turns`; did you mean `turn`? expected one of `exchange`, `turn`, `task`
  line 4: trigger.of: found `3`, expected one of `budget`, `window`"#,
        ),
        (
            r#"name = "mine"
trigger = 0.9
about = 7
protect = []
[step]
do = "stub"
"#,
            r#"mine.toml cannot be used as a policy:
  line 2: trigger: found `0.9`, expected a table: write `[trigger]` before its keys
  line 3: about: found `7`, expected a text in quotation marks
  line 4: protect: found a list, expected a table: write `[protect]` before its keys
  line 5: step: found a table, expected a list of tables: write `[[step]]` before the keys of each"#,
        ),
        (
            r#"name = "mine"
[[step]]
do = "stubb"
[[step]]
keep = 4
[[step]]
do = "shrink"
over = 1_000
head = 0.9
over_all = true
"#,
            r#"mine.toml cannot be used as a policy:
  line 3: step.1.do: unknown value `stubb`; did you mean `stub`? expected one of `curate`, `dedupe`, `stub`, `shrink`, `summarise`, `condense`, `archive`, `drop`
  line 4: step.2.do: this key is missing; expected one of `curate`, `dedupe`, `stub`, `shrink`, `summarise`, `condense`, `archive`, `drop`
  line 6: step.3.to: this key is missing
  line 10: step.3.over_all: unknown key; expected one of `do`, `over`, `to`, `head`, `keep`, `min_gain`, `min_tokens`"#,
        ),
        (
            r#"name = "mine"
step = [1]
[protect]
to_newest_user = "yes"
[limits]
calls_per_hour = 4294967296
"#,
            r#"mine.toml cannot be used as a policy:
  line 2: step.1: found `1`, expected a table
  line 4: protect.to_newest_user: found the text "yes", expected `true` or `false`
  line 6: limits.calls_per_hour: found `4294967296`, expected a whole number from 0 to 4294967295"#,
        ),
        (
            r#"name = "mine"
[[summary.template.section]]
name = "A"
fill = ["intents"]
[[summary.template.section]]
fill = "intent"
"#,
            r#"mine.toml cannot be used as a policy:
  line 4: summary.template.section.1.fill: unknown value `intents`; did you mean `intent`? expected one of `intent`, `outcomes`, `constraints`, `concepts`, `decisions`, `files-read`, `files-modified`, `commands`, `errors`, `findings`, `user-messages`, `todos`, `done`, `current`, `next`, `recent`, `identifiers`, `statistics`
  line 5: summary.template.section.2.name: this key is missing
  line 6: summary.template.section.2.fill: found the text "intent", expected a list of `intent`, `outcomes`, `constraints`, `concepts`, `decisions`, `files-read`, `files-modified`, `commands`, `errors`, `findings`, `user-messages`, `todos`, `done`, `current`, `next`, `recent`, `identifiers`, `statistics`"#,
        ),
        (
            r#"name = "mine"
name = "mine"
"#,
            "mine.toml: line 2: invalid TOML: duplicate key",
        ),
        (
            r#"name = "mine
"#,
            r#"mine.toml: line 1: invalid TOML: invalid basic string, expected `"`"#,
        ),
        (
            r#"name = "mine"
extends = "balenced"
"#,
            "mine.toml: line 2: extends: unknown policy `balenced`; did you mean `balanced`? expected one of `balanced`, `frugal`, `observations`, `fresh-window`, `claude-code`, `gemini-cli`, `codex`, `pi`, `manus`, `openmanus`, `letta-static`, `letta-partial`, `hermes`, `openclaw`, `lossless`, `headroom`, `leon-summary`, `layered`, `selective`, `minimal`, `always`, `never`",
        ),
        (
            r#"name = "mine"
extends = "off"
"#,
            "mine.toml: line 2: extends: unknown policy `off`; expected one of `balanced`, `frugal`, `observations`, `fresh-window`, `claude-code`, `gemini-cli`, `codex`, `pi`, `manus`, `openmanus`, `letta-static`, `letta-partial`, `hermes`, `openclaw`, `lossless`, `headroom`, `leon-summary`, `layered`, `selective`, `minimal`, `always`, `never`",
        ),
        (
            r#"name = "mine"
extends = "balanced"
[trigger.hard]
fraction = 0.9
"#,
            "mine.toml: line 4: trigger.hard.fraction: the hard level (0.9) is below the soft level (0.95), which could never fire",
        ),
        (
            r#"name = "mine"
extends = "balanced"
[trigger]
down_to = 0.95
regrow = 0.2
[trigger.soft]
fraction = 0.9
[protect]
at_least = 50_000
"#,
            r#"mine.toml cannot be used as a policy:
  line 4: trigger.down_to: 0.95 is not below 0.9, where the policy fires: it would fire again immediately
  line 4: trigger.down_to: must be below `trigger.idle`: with a lost cache it would fire again immediately
  line 5: trigger.regrow: a request cannot grow from 0.95 by 0.2: the policy would never fire again
  line 9: protect.at_least: the minimum of 50000 tokens exceeds the maximum of 24000"#,
        ),
        (
            r#"name = "mine"
extends = "balanced"
step = []
"#,
            "mine.toml: line 3: step: no step is set: the trigger has no effect; add a step, or remove the trigger",
        ),
        (
            r#"name = "mine"
[trigger.soft]
free = 0
messages = 10
[protect]
messages = 11
[[step]]
do = "drop"
keep = 20
"#,
            r#"mine.toml cannot be used as a policy:
  line 3: trigger.soft.free: must be more than 0: at 0 the level could never fire
  line 6: protect.messages: more messages are protected than the soft level needs to fire: nothing would be left to compact
  line 9: step.1.keep: more messages stay than a level needs to fire: the step would never do anything"#,
        ),
        (
            r#"name = "mine"
[trigger.soft]
fraction = 0
[trigger.hard]
fraction = 1.2
[[step]]
do = "shrink"
over = 100
to = 100
[[step]]
do = "condense"
leaves = 1
nodes = 2
"#,
            r#"mine.toml cannot be used as a policy:
  line 3: trigger.soft.fraction: invalid fraction `0`: must be more than 0 and at most 1
  line 5: trigger.hard.fraction: invalid fraction `1.2`: must be more than 0 and at most 1
  line 9: step.1.to: must be less than `over`: texts over 100 tokens cannot be shrunk to 100
  line 12: step.2.leaves: must be at least 2, not 1: a single summary cannot be merged"#,
        ),
        (
            r#"name = "mine"
[trigger.soft]
tokens = 20_000
[trigger.hard]
tokens = 10_000
[protect]
window = 1
tokens = 30_000
[[step]]
do = "summarise"
oldest = 0
chunk_share = 0.1
chunk_least = 0.2
min_gain = 1
[summary]
model = ""
share = 1
target = 100
margin = 0.5
overage = 0.5
input = 50
[summary.template]
form = "xml"
root = "a b"
[[summary.template.section]]
name = "Two words"
fill = []
[limits]
rounds = 0
"#,
            r#"mine.toml cannot be used as a policy:
  line 5: trigger.hard.tokens: the hard level (10000) is below the soft level (20000), which could never fire
  line 7: protect.window: must be below 1: a tail of 1 leaves nothing to compact
  line 8: protect.tokens: more tokens are protected than the soft level needs to fire: nothing would be left to compact
  line 8: protect.tokens: more tokens are protected than the hard level needs to fire: nothing would be left to compact
  line 11: step.1.oldest: must be more than 0 and at most 1
  line 13: step.1.chunk_least: must be at most `chunk_share`: a chunk cannot shrink from 0.1 to 0.2
  line 14: step.1.min_gain: must be below 1: no step saves everything
  line 15: summary.at_least: the minimum of 192 tokens exceeds the target of 100
  line 16: summary.model: missing model: name one, or use `same` for the session's own
  line 17: summary.share: must be more than 0 and below 1: a summary is shorter than what it replaces
  line 19: summary.margin: must be at least 1: below it, a summariser would be given more than its window holds
  line 20: summary.overage: must be at least 1: below it, a summary of the target length would be cut
  line 21: summary.input: must exceed `target`: 50 tokens are too few for a summary of 100
  line 24: summary.template.root: invalid name of an XML element: `a b`
  line 26: summary.template.section.1.name: invalid name of an XML element: `Two words`
  line 27: summary.template.section.1.fill: nothing fills the part: name at least one kind
  line 29: limits.rounds: must be at least 1: with 0 the policy would stop before it began"#,
        ),
        (
            r#"name = "two words"
[summary.template]
section = []
[[step]]
do = "summarise"
"#,
            r#"mine.toml cannot be used as a policy:
  line 1: name: must be 1 to 64 letters, digits, `-` and `_`
  line 3: summary.template.section: missing parts: a summary needs at least one"#,
        ),
    ];
    for (text, expected) in table {
        assert_eq!(error(text), *expected, "{text}");
    }
}

#[test]
fn what_is_odd_is_said_beside_the_policy() {
    let table: &[(&str, &[&str])] = &[
        ("name = \"mine\"\nextends = \"balanced\"\n", &[]),
        (
            "name = \"balanced\"\nextends = \"balanced\"\n",
            &[
                "line 1: name: a preset has this name, so reports cannot tell the two apart; choose another name",
            ],
        ),
        (
            "name = \"mine\"\n[protect]\nat_least = 9\n[[step]]\ndo = \"curate\"\n",
            &[
                "trigger: no level is set: the policy compacts only by hand, or if a request does not fit",
                "line 3: protect.at_least: has no effect: neither `window` nor `history` is set",
                "line 4: step.1: has no effect: nothing in it is switched on",
            ],
        ),
    ];
    for (text, expected) in table {
        let warnings = Policies::embedded().parse(text, "mine.toml").unwrap().warnings;
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, *expected, "{text}");
    }
}

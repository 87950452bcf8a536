//! Tests of secrets in strings of JSON, after escapes, cut off, and in forms that a neighbour of them has.

use super::*;

/// A made-up password.
const PASS: &str = "Zq7kettle9X";

/// Returns whether a text shows a part of a secret that is long enough to be of use.
fn shows(text: &str, secret: &str) -> bool {
    let longest =
        secret.split(|c: char| !c.is_ascii_alphanumeric()).max_by_key(|run| run.len()).unwrap_or(secret);
    text.contains(longest.get(longest.len().saturating_sub(10)..).unwrap())
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Returns texts with a secret that has no form of its own, each with the secret.
fn more() -> Vec<(String, String)> {
    let w = |length| random(WORD, length, 41);
    let x = |length| random(HEX, length, 42);
    let amz = "https://b.s3.test/k?X-Amz-Credential=a%2Fb&X-Amz-";
    let mut all: Vec<(String, String)> = [
        "set -e\ncurl -u admin:PW https://h.test/x",
        "cd /srv\nmysql -u root -pPW shop",
        "curl -d '{\"password\":\"PW\"}' https://h.test",
        "auth: { user: 'me@x.test', pass: 'PW' }",
        "smtp:\n  user: me\n  pass: PW\n",
        "'pass' => 'PW',",
        "smtp_pass: PW",
        "echo 'PW' | sudo -S apt install x",
        "printf '%s\\n' 'PW' | sudo -k -S id",
        "sudo -S id <<< 'PW'",
        "echo PW | docker login -u me --password-stdin",
        "echo 'root:PW' | chpasswd",
        "echo \"root:PW\" | sudo chpasswd",
        "root:PW@tcp(127.0.0.1:3306)/shop",
        "dsn := \"app:PW@unix(/run/db.sock)/shop\"",
        "ENV DB_PASSWORD PW",
        "setenv PGPASSWORD PW",
        "set -gx SMTP_PASS PW",
        "     1→machine h.test\n     2→  login me\n     3→  password PW",
        "machine h.test\nlogin me\npassword PW\n",
        "curl -u \":PW\" https://api.test",
        "curl -u :PW https://api.test",
        "https:\\/\\/me:PW@h.test\\/x",
        "tool\t-password PW",
    ]
    .map(|text| (text.replace("PW", PASS), PASS.to_owned()))
    .to_vec();
    all.extend([
        (format!("curl -u {}: https://api.test", w(32)), w(32)),
        (format!("curl --user '{}:' https://api.test", w(32)), w(32)),
        (format!("curl -d '{{\"client_secret\":\"{}\"}}' https://h", w(32)), w(32)),
        (format!("{amz}Security-Token=IQoJ{}%2F{}", x(40), w(40)), w(40)),
        (format!("{amz}Signature={}", x(64)), x(64)),
        (format!("https://h.test/x?a=1\\u0026sig={}%3D", w(43)), w(43)),
        (format!("https://h.test/x?a=1\\u0026access_token={}", w(30)), w(30)),
        (format!("production:\n  secret_key_base: {}\n", x(128)), x(128)),
        (format!("secret_key_base = \"{}\"", x(128)), x(128)),
        (format!("{{\"auths\":{{\"r\":{{\"auth\":\"{}=\"}}}}}}", w(39)), w(39)),
    ]);
    all
}

/// Returns the lines of a made-up private key, between the lines that begin and end one.
fn key(kind: &str) -> Vec<String> {
    let mark = |word: &str| format!("-----{word} {kind}PRIVATE KEY-----");
    let mut lines: Vec<String> = (0..6).map(|seed| random(WORD, 64, 50 + seed)).collect();
    lines.insert(0, mark("BEGIN"));
    lines.push(mark("END"));
    lines
}

#[test]
fn every_secret_is_found_in_strings_of_json() {
    let marked = secrets().into_iter().map(|(_, marked)| {
        let (text, from, to) = unmarked(&marked);
        let secret = text[from..to].to_owned();
        (text, secret)
    });
    for (text, secret) in marked.chain(more()) {
        let (once, twice) = (json(&text), json(&json(&text)));
        for text in [&text, &once, &twice] {
            let masked = embedded().mask(text);
            assert!(!shows(&masked, &secret), "{masked}");
            assert_eq!(masked.len(), text.len());
        }
    }
}

#[test]
fn a_token_is_found_after_an_escape() {
    let tokens = [format!("ghp_{}", random(WORD, 36, 1)), format!("sk-ant-{}", random(WORD, 40, 2))];
    for token in &tokens {
        for before in [
            "\\n",
            "\\\\n",
            "\\t",
            "\\r",
            "\\u0022",
            "%3D",
            "\u{1b}[32m",
            "\\u001b[1;31m",
            "\\x1b[0m",
            "\\033[m",
            "\\x22",
        ] {
            let text = format!("tokens{before}{token}{before}end");
            let found = embedded().redact(&text).found;
            let place = "tokens".len() + before.len();
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!((found[0].from_byte, found[0].to_byte), (place, place + token.len()), "{text}");
        }
        let inside = format!("tokens_n{token}");
        assert_eq!(embedded().mask(&inside), inside, "a token is not a part of a word");
    }
}

#[test]
fn a_private_key_is_found_whatever_is_before_its_lines() {
    let each = |before: &str, after: &str, join: &str| {
        let lines: Vec<String> = key("RSA ").iter().map(|line| format!("{before}{line}{after}")).collect();
        lines.join(join)
    };
    let numbered = |sign: &str| {
        let lines = key("OPENSSH ");
        lines.iter().enumerate().map(|(n, line)| format!("{:6}{sign}{line}\n", n + 1)).collect::<String>()
    };
    let headed = key("RSA ").join("\n").replacen(
        "-----\n",
        "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n",
        1,
    );
    let ppk = format!(
        "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 6\n{}\nPrivate-MAC: 0",
        key("")[1..7].join("\n")
    );
    let texts = [
        each("", "", "\n"),
        each("-", "", "\n"),
        each("+", "", "\n"),
        each("> ", "", "\n"),
        each("< ", "", "\n"),
        each("    ", "", "\r\n"),
        each("\"", "\\n\" +", "\n"),
        each("'", "\\n'", "\n"),
        each("# ", "", "\n"),
        each("", "", " "),
        numbered("→"),
        numbered("\t"),
        numbered(": "),
        headed,
        ppk,
    ];
    for text in texts {
        for cut in [text.len(), text.rfind("-----END").or(text.find("Private-MAC")).unwrap()] {
            let (text, once) = (text[..cut].to_owned(), json(&text[..cut]));
            for text in [&text, &once, &json(&once)] {
                let masked = embedded().mask(text);
                for line in &key("")[1..7] {
                    assert!(!shows(&masked, line), "{masked}");
                }
            }
        }
    }
}

#[test]
fn a_secret_that_is_cut_is_found() {
    let w = |length| random(WORD, length, 61);
    for text in [
        format!("client_secret = \"{}", w(40)),
        format!("{{\"api_key\": \"{}", w(40)),
        format!("DB_PASSWORD=\"kettle and {}", w(30)),
        format!("password = '{}", w(40)),
        format!("{{\"password\":\"kettlespoon{}", random("abcdefgh", 20, 3)),
        format!("postgres://app:{}", w(40)),
        format!("smtp:\n  pass: {}", w(40)),
        format!("-----BEGIN PRIVATE KEY-----\n{}", w(30)),
        format!("oauth.client.secret={}", w(40)),
    ] {
        let cut = format!("{text}…");
        let masked = embedded().mask(&cut);
        assert!(masked.contains("********"), "{masked}");
    }
}

#[test]
fn every_keyword_occurs_in_an_example_of_its_rule() {
    let mut examples: Vec<String> = secrets().into_iter().map(|(_, marked)| unmarked(&marked).0).collect();
    examples.extend(more().into_iter().map(|(text, _)| text));
    examples.extend(by_keyword());
    let found_in = |rule: &SecretRule, text: &str| {
        let Some(regex) = rule.regex() else { return false };
        let group =
            regex.group_info().to_index(regex_automata::PatternID::ZERO, "secret").unwrap_or_default();
        regex.captures_iter(text).any(|found| {
            found.get_group(group).is_some_and(|secret| rule.accepts(&text.as_bytes()[secret.range()]))
        })
    };
    let mut missing: Vec<String> = Vec::new();
    for rule in parse(EMBEDDED).unwrap().into_iter().map(SecretRule::new) {
        let mine: Vec<String> = examples
            .iter()
            .filter(|text| found_in(&rule, text))
            .map(|text| text.to_ascii_lowercase())
            .collect();
        let without = rule
            .spec
            .keywords
            .iter()
            .filter(|word| !mine.iter().any(|text| text.contains(&word.to_ascii_lowercase())));
        missing.extend(without.map(|word| format!("{}: {word}", rule.id)));
    }
    assert!(missing.is_empty(), "no example has {missing:#?}");
}

/// Forms of secrets, in which `~` is each of the words that follow and `%` a value.
const FORMS: [(&str, &str); 46] = [
    (
        "~%",
        "gho_ ghu_ ghr_ gldt- glrt- glptt- glcbt- xoxa- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-",
    ),
    (
        "~%",
        "rk_live_ sk_test_ rk_test_ whsec_ hvb. pplx- tvly- lsv2_pt_ dckr_pat_ figd_ lin_api_ ntn_ sntrys_",
    ),
    ("~%", "glsa_ glc_ pscale_tkn_ sbp_ sb_secret_ sq0csp- sq0atp- PMAK- CFPAT- rubygems_ NRAK- tskey-auth-"),
    ("~%", "CCIPAT_ ATCTT3 dt0c01. ya29. cfut_ r8_ ops_ey $apr1$ $2a$ $2b$ $2y$ $5$ $y$ $argon2id$"),
    (
        "~%…",
        "gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxb- xapp- sk_live_ sk_test_ whsec_ sk- gsk_ xai- AIza GOCSPX-",
    ),
    (
        "~%…",
        "npm_ pypi- hf_ SG. dop_v1_ shpat_ ATATT3 hvs. hvb. AGE-SECRET-KEY-1 eyJ nvapi- pplx- tvly- lsv2_",
    ),
    ("~%…", "dckr_ lin_api_ glsa_"),
    ("~0123456789abcdef0123456789abcdef", "shpca_ shppa_ shpss_"),
    ("~0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "doo_v1_ dor_v1_"),
    ("~-access-key: %", "aws-secret"),
    ("~AccessKey: %", "awsSecret"),
    ("~ABCDEFGHIJKLMNOP key=%", "AKIA ASIA ABIA ACCA"),
    ("~%", "_auth= _password= SharedAccessKey="),
    ("{\\\"~: \\\"%\\\"}", "auth\\\""),
    ("~ = %123=", "private_key preshared_key PresharedKey"),
    ("~: %", "tls.key"),
    ("https:~me:%@h.test", "\\\\/\\\\/ \\\\\\\\/\\\\\\\\/"),
    ("https://h.test?~%", "secret= password= passwd= pwd= pass= auth= sessionid= session_id= jwt="),
    ("x~ '%'", "-secret: -key\": -token\": -secret\": -key': -token': -secret': -key="),
    ("~ %", "apikey: apikey\": x-auth: requirepass masterauth"),
    ("~ -a me:% h.test", "http https xh"),
    ("~ -a %: h.test", "http https xh"),
    ("~ --user me:% h.test", "wget"),
    ("~ -p%", "mariadb mongosh 7z"),
    ("~ login -p %", "podman az"),
    ("helm ~ login h.test -p %", "registry"),
    ("~ -a %", "redis-cli"),
    ("~ -x -w %", "ldapsearch ldapmodify ldapadd"),
    ("~ -P %", "sqlcmd unzip zip"),
    ("~ -cb file me %", "htpasswd"),
    ("net use /~:%", "password"),
    ("tool -~ %", "passwd passphrase pwd keypass passout secret apikey auth"),
    ("h.test~shop:me:%", ":5433: :6432: :*:"),
    ("create user me with ~%\"", "password\u{a0}\" password\u{a0}\\\""),
    ("echo % | ~", "passwd\u{a0}--stdin gpg\u{a0}--passphrase-fd"),
    ("~ <<< me:%", "chpasswd"),
    ("docker login ~ <<< %", "--password-stdin"),
    ("~ DB_PASSWORD %", "setx"),
    ("me:%~h.test)", "@tcp6("),
    ("~=%", "PASSWD PASSPHRASE SSHPASS DB_PWD REDISCLI_AUTH MY_TOKEN APIKEY CREDENTIAL"),
    ("~=\"% %\"", "PASSWD PASSPHRASE SSHPASS DB_PWD"),
    ("~: %", "passwd passphrase passwort kennwort passcode pwd pw apikey accesskey auth_key credential"),
    ("~%", "pw= pw\u{a0}is\u{a0}"),
    ("~ '%'", "\"pass\": \"pass\\\": pass= pass\u{a0}="),
    ("~: 'kettlespoon'\n~: kettlespoon\n", "passwd passphrase"),
    ("~ = '%'", "token api-key access_key private_key auth_key encryption_key signing_key credential"),
];

fn by_keyword() -> Vec<String> {
    let value = random(WORD, 40, 71);
    let mut all: Vec<String> = FORMS
        .iter()
        .flat_map(|(form, words)| words.split(' ').map(move |word| form.replace('~', word)))
        .map(|text| text.replace('%', &value).replace('\u{a0}', " "))
        .collect();
    all.push(format!("Private-Lines: 1\n{}", random(WORD, 64, 72)));
    all
}

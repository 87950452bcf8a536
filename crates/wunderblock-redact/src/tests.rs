//! Tests of texts that must be redacted, and of texts that must not.
//!
//! Tokens are built here from a prefix and random characters, so that secret scanners find no leak in this file.

mod forms;

use super::rule::{SecretRule, parse};
use super::*;
use proptest::prelude::*;

const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Returns a redactor shared by all cases of a property test, because its regexes are compiled at first use.
fn embedded() -> &'static Redactor {
    static REDACTOR: std::sync::OnceLock<Redactor> = std::sync::OnceLock::new();
    REDACTOR.get_or_init(Redactor::embedded)
}

/// Returns random characters that depend only on the seed.
fn random(alphabet: &str, length: usize, seed: u64) -> String {
    let alphabet = alphabet.as_bytes();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(alphabet[(state >> 33) as usize % alphabet.len()])
        })
        .collect()
}

/// Returns pairs of a rule and a text, in which the secret is between « and ».
fn secrets() -> Vec<(&'static str, String)> {
    let w = |length| random(WORD, length, 7);
    let x = |length| random(HEX, length, 8);
    let pem = format!("\n{}\n{}\n", w(64), w(40));
    let jwt = format!("eyJ{}.eyJ{}.{}", w(30), w(60), w(43));
    vec![
        (
            "private-key",
            format!("-----BEGIN RSA {} KEY-----«{pem}»-----END RSA {} KEY-----", "PRIVATE", "PRIVATE"),
        ),
        ("private-key", format!("\"-----BEGIN {} KEY-----«\\n{}\\n»-----END\"", "PRIVATE", w(90))),
        ("aws-access-key-id", format!("id «AKIA{}» used", random(BASE32, 16, 3))),
        ("aws-secret-access-key", format!("aws_secret_access_key = «{}»", w(40))),
        ("aws-secret-access-key", format!("\"SecretAccessKey\": \"«{}»\"", w(40))),
        ("github-token", format!("git clone x «ghp_{}» y", w(36))),
        ("github-token", format!("token: «ghs_{}»", w(36))),
        ("github-pat", format!("«github_pat_{}_{}»", w(22), w(59))),
        ("gitlab-token", format!("glab auth «glpat-{}»", w(20))),
        ("slack-token", format!("SLACK «xoxb-{}-{}»", random("0123456789", 12, 2), w(24))),
        ("slack-webhook", format!("https://hooks.slack.com/services/«T{}/B{}/{}»", w(8), w(8), w(24))),
        ("stripe-key", format!("stripe.api_key(«sk_live_{}»)", w(24))),
        ("anthropic-key", format!("ANTHROPIC «sk-ant-api03-{}»", w(90))),
        ("openai-key", format!("key «sk-proj-{}» ok", w(48))),
        ("openai-key", format!("«sk-{}»", w(48))),
        ("groq-key", format!("«gsk_{}»", w(52))),
        ("xai-key", format!("«xai-{}»", w(80))),
        ("google-api-key", format!("https://maps/api?key=«AIza{}»&x=1", w(35))),
        ("google-oauth-secret", format!("«GOCSPX-{}»", w(28))),
        ("jwt", format!("cookie session=«{jwt}»; path=/")),
        ("npm-token", format!("echo «npm_{}»", w(36))),
        ("npmrc-auth", format!("//registry.example/:_authToken=«{}»", w(36))),
        ("pypi-token", format!("twine -p «pypi-AgEI{}»", w(120))),
        ("huggingface-token", format!("login «hf_{}»", w(34))),
        ("telegram-bot-token", format!("https://t/bot «{}:AA{}»", random("123456789", 10, 1), w(33))),
        ("sendgrid-key", format!("«SG.{}.{}»", w(22), w(43))),
        ("twilio-key", format!("TWILIO_AUTH: «{}»", x(32))),
        ("twilio-key", format!("twilio(«SK{}»)", x(32))),
        ("azure-storage-key", format!("AccountName=a;AccountKey=«{}==»;End", w(86))),
        ("azure-sas", format!("https://a.blob/x?sv=1&sig=«{}%3D»", w(43))),
        ("digitalocean-token", format!("«dop_v1_{}»", x(64))),
        ("shopify-token", format!("«shpat_{}»", x(32))),
        ("atlassian-token", format!("«ATATT3{}»", w(180))),
        ("databricks-token", format!("«dapi{}»", x(32))),
        ("vault-token", format!("«hvs.{}»", w(90))),
        ("age-key", format!("«AGE-SECRET-KEY-1{}»", random("0123456789ABCDEFGHJKLMNPQRSTUVWXYZ", 58, 5))),
        ("discord-webhook", format!("https://discord.com/api/webhooks/{}/«{}»", "123456789012345678", w(68))),
        ("docker-auth", format!("{{\"auths\": {{\"r\": {{\"auth\": \"«{}=»\"}}}}}}", w(39))),
        ("url-password", "DATABASE_URL=postgres://app:«s3cr3tPw!»@db.internal:5432/app".to_owned()),
        ("url-password", format!("git remote add o https://me:«{}»@git.internal/r.git", w(20))),
        ("auth-header", format!("curl -H 'Authorization: Bearer «{}»' https://x", w(40))),
        ("auth-header", format!("{{\"authorization\": \"Basic «{}==»\"}}", w(22))),
        ("key-header", format!("X-API-Key: «{}»", w(32))),
        ("password-value", format!("db_password = \"«{}»\"", w(16))),
        ("assigned-secret", format!("const apiKey = '«{}»';", w(32))),
        ("assigned-secret", format!("{{\"client_secret\":\"«{}»\"}}", x(40))),
        ("assigned-secret", format!("{{\\\"api_key\\\": \\\"«{}»\\\"}}", w(24))),
        ("env-secret", format!("A=1\nexport SESSION_SECRET=«{}»\nB=2", w(32))),
        ("env-secret", format!("MY_API_KEY=«{}»", w(20))),
    ]
    .into_iter()
    .chain(stated())
    .collect()
}

/// The same for secrets without a form of their own, which are recognised by what is around them.
fn stated() -> Vec<(&'static str, String)> {
    let w = |length| random(WORD, length, 31);
    let pass = "s3cr3tPw!";
    vec![
        ("cut-private-key", format!("-----BEGIN {} KEY-----«\n{}»\n", "PRIVATE", w(64))),
        ("key-as-user", format!("curl -u «{}»: https://x", w(24))),
        ("piped-password", format!("echo '«{pass}»' | sudo -S id")),
        ("here-password", format!("sudo -S id <<< '«{pass}»'")),
        ("set-variable", format!("ENV DB_PASSWORD «{pass}»")),
        ("dsn-password", format!("app:«{pass}»@tcp(127.0.0.1:3306)/shop")),
        ("pass-value", format!("auth: {{ user: 'me', pass: '«{pass}»' }}")),
        ("issued-token", format!("«nvapi-{}» and more", w(64))),
        ("cut-token", format!("Bash: login with «ghp_{}…»", w(12))),
        ("discord-token", format!("discord bot «M{}.{}.{}»", w(24), w(6), w(38))),
        ("wireguard-key", format!("[Interface]\nPrivateKey = «{}=»\n", w(43))),
        ("key-data", format!("client-key-data: «{}=»", w(99))),
        ("password-hash", format!("root:«$6${}${}»:19000:0", w(8), w(86))),
        ("url-password", "redis://:«p@ss-w0rd»@cache:6379".to_owned()),
        ("url-token", format!("git clone https://«{}»@git.internal/r", w(30))),
        ("url-parameter", format!("GET /v1?page=2&access_token=«{}»&x=1", w(12))),
        ("url-parameter", format!("https://app/#id_token=«{}»", w(30))),
        ("bare-auth-header", format!("Authorization: «{}»", w(24))),
        ("bearer-token", format!("send Bearer «{}» with it", w(24))),
        ("key-header", format!("-H 'X-Vault-Token: «{}»'", w(12))),
        ("cookie", format!("Cookie: «theme=dark; session={}; lang=de»", w(16))),
        ("cookie", format!("curl -b '«session={}»' https://x", w(16))),
        ("user-flag", format!("curl -sS -u admin:«{pass}» https://x")),
        ("user-flag", format!("curl https://x --user \"me:«{pass}»\"")),
        ("short-password-flag", format!("mysql -u root -p«{pass}» shop")),
        ("short-password-flag", format!("sshpass -p '«{pass}»' ssh host")),
        ("short-password-flag", format!("docker login -u me -p «{pass}» hub")),
        ("password-flag", format!("mysqldump --password «{pass}» shop")),
        ("password-flag", format!("tool --db-password='«{pass}»'")),
        ("password-flag", "keytool -storepass «changeme-not» -list".replace("changeme-not", "kettle")),
        ("password-flag", format!("openssl rsa -passin pass:«{pass}»")),
        ("token-flag", format!("tool --api-key «{}» run", w(16))),
        ("token-flag", format!("[\"--token\", \"«{}»\"]", w(16))),
        ("netrc", format!("machine host login me password «{pass}»")),
        ("netrc", format!("machine host\n  login me\n  password «{pass}»\n")),
        ("pgpass", format!("db.internal:5432:shop:app:«{pass}»")),
        ("spoken-password", format!("CREATE USER app IDENTIFIED BY '«{pass}»';")),
        ("spoken-password", format!("ALTER ROLE app WITH PASSWORD '«{pass}»'")),
        ("spoken-password", format!("requirepass «{pass}»")),
        ("password-variable", format!("PGPASSWORD=«{pass}» psql -h db")),
        ("password-variable", format!("docker run -e MYSQL_ROOT_PASSWORD=«{pass}» mysql")),
        ("password-variable", "POSTGRES_PASSWORD: «kettle»\n".to_owned()),
        ("quoted-password-variable", "export DB_PASSWORD=\"«kettle and spoon»\"".to_owned()),
        ("quoted-password-variable", format!("define('DB_PASSWORD', '«{pass}»');")),
        ("password-value", format!("db:\n  password: «{pass}»\n")),
        ("password-value", format!("spring.datasource.password=«{pass}»")),
        ("password-value", format!("Server=db;User Id=sa;Password=«{pass}»;Encrypt=true")),
        ("password-value", format!("<password>«{pass}»</password>")),
        ("password-value", format!("the password is «{pass}», ok?")),
        ("password-value", format!("ansible_become_pass: «{pass}»")),
        ("password-word", "db:\n  password: «kettlespoon»\n".to_owned()),
        ("quoted-password-word", "{\"password\": \"«kettlespoon»\"}".to_owned()),
        ("bare-secret", format!("api_key: «{}»\n", w(24))),
        ("bare-secret", format!("oauth.client.secret=«{}»", w(24))),
    ]
}

fn unmarked(marked: &str) -> (String, usize, usize) {
    let from = marked.find('«').unwrap();
    let to = marked.find('»').unwrap() - '«'.len_utf8();
    (marked.replace(['«', '»'], ""), from, to)
}

#[test]
fn every_secret_is_found_exactly() {
    let redactor = Redactor::embedded();
    for (rule, marked) in secrets() {
        let (text, from_byte, to_byte) = unmarked(&marked);
        let redacted = redactor.redact(&text);
        let expect = SecretFinding { rule: rule.into(), from_byte, to_byte };
        assert_eq!(redacted.found, [expect], "{text}");
        assert_eq!(redacted.text, format!("{}[[secret:{rule}]]{}", &text[..from_byte], &text[to_byte..]));
    }
}

#[test]
fn every_embedded_rule_is_sound_and_has_an_example() {
    let covered: Vec<&str> = secrets().iter().map(|(rule, _)| *rule).chain(["aws-secret-near-id"]).collect();
    let specs = parse(EMBEDDED).unwrap();
    assert!(specs.len() >= 30);
    for spec in specs {
        let rule = SecretRule::new(spec);
        rule.check().unwrap();
        assert!(!rule.spec.keywords.is_empty(), "{} would be tried on every text", rule.id);
        assert!(covered.contains(&&*rule.id), "{} has no example", rule.id);
    }
}

#[test]
fn an_aws_secret_is_found_by_the_id_before_it() {
    let id = format!("AKIA{}", random(BASE32, 16, 3));
    let secret = random(&format!("{WORD}/+"), 40, 11);
    let found = Redactor::embedded().redact(&format!("{id}, {secret}")).found;
    let rules: Vec<&str> = found.iter().map(|finding| &*finding.rule).collect();
    assert_eq!(rules, ["aws-access-key-id", "aws-secret-near-id"]);
    let digest = format!("{id}, {}", random(HEX, 40, 11));
    assert_eq!(Redactor::embedded().redact(&digest).found.len(), 1);
}

/// Ordinary texts about passwords, flags and headers.
const ABOUT_SECRETS: [&str; 48] = [
    "  -p, --password string   password of the registry",
    "usage: tool --password PASSWORD [--token TOKEN] --max-tokens 4096",
    "run it with --password-stdin, or --password and the value",
    "docker build --secret id=npmrc,src=.npmrc .",
    "curl -u user:password https://example.com and curl -s http://localhost:8080/a",
    "PASSWORD=$(cat /run/secrets/db) DB_PASSWORD=$DB_PASSWORD ./start",
    "process.env.DB_PASSWORD, os.environ['DB_PASSWORD'], getenv(\"PGPASSWORD\")",
    "PWD=/home/me/project OLDPWD=/home/me",
    "password: string; passwordHash: string; password2?: string",
    "password: string\npassword: Optional[str]\npassword: required\n{\"password\": \"hidden\"}",
    "password: hashedPassword, token: accessToken",
    "user.password = await hash(password, 12);",
    "if (password === confirmPassword2) return;",
    "the password is wrong; the password was reset; password: required",
    "Cookie: none; cookies are off. const cookie = document.cookie;",
    "token: ghost tokenize=unicode61 nextToken=undefined",
    "login me with the password field, then password reset",
    "SECRET_NAME=prod-db-credentials TOKEN_URL=https://auth/token KEY_ID=1",
    "mysql -u root -p shop < dump.sql; mkdir -p /tmp/x; docker run -p 8080:80 x",
    "host:5432:shop",
    "Bearer authentication is required for this endpoint",
    "'password' => 'required|min:8', 'pass' => 'nullable|string|max:40'",
    "password = base64.b64decode(data); token2 = hash2.digest(x); password = rows2[0]",
    "ansible-playbook --ask-become-pass site.yml && ansible-vault --ask-vault-pass view",
    "psql -U postgres --no-password shopdb; adduser --disabled-password deploy",
    "passwd: Authentication token manipulation error",
    "New password: Retype new password: ",
    "password: minimum 8 characters",
    "- password: minimum 8 characters, with a digit",
    "password: should contain a digit",
    "pass --password followed by the value",
    "render_pass = 0x55d0c8a1, shadow_pass: 2x4096, pass: 0x55d0c8a1",
    "two-pass: 12.5ms one-pass: 11.25s",
    "color_pass: Rgba8Unorm,",
    "CACHE_KEY = \"user:profile:v2\"",
    "{\"password\": \"Wachtwoord\", \"pass\": \"Passwort\"}",
    "password: object\npassword: text\n",
    "document.cookie = \"consent=1; max-age=31536000\"",
    "Set-Cookie: theme=dark; Path=/; Max-Age=3600; Secure; HttpOnly",
    "expected -----BEGIN RSA PRIVATE KEY----- but found nothing in the file",
    "if key.starts_with(\"-----BEGIN PRIVATE KEY-----\") && key.ends_with(\"-----END PRIVATE KEY-----\") {",
    "pass: 12, fail: 3; pass: true; pass: 100%; pass: v1.2; pass: step_2",
    "tests:\n  pass: 12/12\n  pass: 3.5s\n",
    "ENV PASSWORD_FILE /run/secrets/db TOKEN_URL https://h; ENV DB_PASSWORD $X",
    "echo y | sudo -S apt install; echo \"$PW\" | docker login --password-stdin",
    "curl -u \"$KEY:\" https://api.test; curl -u name: https://api.test",
    "root:root@tcp(127.0.0.1:3306)/test; %s:%s@tcp(%s)/%s",
    "http://localhost:8080… and https://example.com:8443…",
];

/// Returns ordinary texts that a careless rule would take for secrets.
fn innocent() -> Vec<String> {
    let x = |length| random(HEX, length, 21);
    let w = |length| random(WORD, length, 22);
    let mut texts: Vec<String> = [
        "token = next_token()",
        "let token = lexer.next_token().unwrap();",
        "def login(user: str, password: str) -> Token:",
        "password: str = Field(min_length=12)",
        "api_key = \"<YOUR_KEY>\"",
        "api_key: \"your-api-key-goes-here-123\"",
        "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "export ANTHROPIC_API_KEY=sk-ant-your-key-here-0000000000",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "id AKIAIOSFODNN7EXAMPLE",
        "secret: \"arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-a1b2c3\"",
        "token_type: \"urn:ietf:params:oauth:token-type:jwt1\"",
        "password = os.environ[\"DB_PASSWORD\"]",
        "const token = process.env.GITHUB_TOKEN;",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "apiKey: \"${API_KEY_2024_PROD}\"",
        "password = \"{{ vault_db_password_2 }}\"",
        "SECRET_KEY=$(openssl rand -hex 32)",
        "TOKEN_PATH=/var/run/secrets/kubernetes.io/serviceaccount/token1",
        "DB_PASSWORD=${DB_PASSWORD_2024}",
        "max_tokens: 128000, input_tokens=40233, output_tokens=1801",
        "{\"usage\":{\"prompt_tokens\":\"123456789012\",\"total_tokens\":\"223456789012\"}}",
        "nextPageToken: null, pageToken: \"\"",
        "placeholder=\"Enter your password\"",
        "\"password\": \"must be at least 12 characters\"",
        "secret_name = \"prod-database-credentials-2024\"",
        "postgres://user:password@localhost:5432/db",
        "postgres://user:$PASSWORD@host/db and mysql://root:${PW}@h/x",
        "see https://example.com:8080/a@b and http://[::1]:80/",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${ACCESS_TOKEN_2}",
        "x-api-key: YOUR_API_KEY_123456",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEabcdefgh0123456789abcdefgh\n-----END PUBLIC KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "<div class=\"sk-circle-fade-dot sk-folding-cube-animation-wrapper-outer\">",
        "task-runner risk-assessment-of-the-thing-with-a-very-long-hyphenated-name",
        "hf_hub_download hf_model_config_for_causal_language_generation",
        "npm_config_registry npm_package_dependencies_typescript_version",
        "ghp_ is the prefix; SG. is another; xoxb- too; eyJ starts a JWT",
        "twilio is a company. Its SDK is at version 8.2.1.",
        "E0425: cannot find value `token` in this scope",
        "密码：请输入至少十二个字符 password：「必填」",
        "",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.extend(ABOUT_SECRETS.map(str::to_owned));
    texts.extend([
        format!("commit {}", x(40)),
        format!("HEAD is now at {} fix token refresh", x(7)),
        format!("id=550e8400-e29b-41d4-a716-446655440000 trace={}", x(32)),
        format!("sha256:{} {}", x(64), x(64)),
        format!("\"integrity\": \"sha512-{}==\"", w(86)),
        format!("checksum = \"{}\"", x(64)),
        format!("<img src=\"data:image/png;base64,{}\">", w(4000)),
        format!("00000000: {} {} {}  ................", x(4), x(4), x(4)),
        format!("resolved \"https://registry.example/a/-/a-1.0.0.tgz#{}\"", x(40)),
        format!("ETag: \"{}\"", x(32)),
        format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} me@host", w(43)),
        format!("docker.io/library/rust@sha256:{}", x(64)),
        format!("{}.js?v={}", w(20), x(8)),
    ]);
    texts
}

#[test]
fn ordinary_text_stays() {
    let redactor = Redactor::embedded();
    for text in innocent() {
        let redacted = redactor.redact(&text);
        assert!(redacted.found.is_empty(), "{} in {text}", redacted.text);
        assert!(matches!(redacted.text, Cow::Borrowed(_)));
    }
}

#[test]
fn the_same_secret_has_the_same_placeholder_under_one_key_only() {
    let redactor = Redactor::embedded();
    let token = format!("ghp_{}", random(WORD, 36, 1));
    let text = format!("{token} and again {token}");
    let here = redactor.redact_keyed(&[1; 32], &text).text.into_owned();
    let there = redactor.redact_keyed(&[2; 32], &text).text.into_owned();
    let (first, second) = here.split_once(" and again ").unwrap();
    assert_eq!(first, second);
    assert_ne!(here, there);
    let hash = first.strip_prefix("[[secret:github-token:").unwrap().strip_suffix("]]").unwrap();
    assert_eq!(hash, &blake3::keyed_hash(&[1; 32], token.as_bytes()).to_hex()[..8]);
}

#[test]
fn of_overlapping_secrets_nothing_stays() {
    let token = random(WORD, 36, 1);
    let (inner, outer) = (format!("x password = \"ghp_{token}-tail9\" y"), format!("auth: sk-ant-{token}"));
    let redactor = embedded();
    assert_eq!(redactor.redact(&inner).text, "x password = \"[[secret:github-token]]\" y");
    assert_eq!(redactor.redact(&outer).text, "auth: [[secret:anthropic-key]]");
    let url = format!("https://me:ghp_{token}@host.internal/x");
    assert_eq!(redactor.redact(&url).text, "https://me:[[secret:github-token]]@host.internal/x");
}

#[test]
fn long_secrets_are_taken_out_whole() {
    let redactor = Redactor::embedded();
    let jwt = format!("eyJ{}.eyJ{}.{}", random(WORD, 500, 1), random(WORD, 9000, 2), random(WORD, 300, 3));
    assert_eq!(redactor.redact(&format!("a {jwt} b")).text, "a [[secret:jwt]] b");
    let lines: String = (0..50).map(|seed| random(WORD, 64, seed) + "\n").collect();
    let pem = format!("-----BEGIN {} KEY-----\n{lines}-----END", "PRIVATE");
    assert_eq!(redactor.redact(&pem).text, "-----BEGIN PRIVATE KEY-----[[secret:private-key]]-----END");
}

#[test]
fn own_rules_are_added_and_replace() {
    let rules = r#"
        [[rule]]
        id = "house-token"
        keywords = ["hz-"]
        regex = 'hz-[0-9]{6,}'
        [[rule]]
        id = "ticket"
        regex = 'TICKET-(?<secret>\w+)'
        allow = ['^demo']
        [[rule]]
        id = "jwt"
        keywords = ["nothing-has-this"]
        regex = 'x'
    "#;
    let redactor = Redactor::with_rules(rules).unwrap();
    assert_eq!(
        redactor.redact("é hz-123456 TICKET-größe TICKET-demo").text,
        "é [[secret:house-token]] TICKET-[[secret:ticket]] TICKET-demo"
    );
    let jwt = format!("eyJ{}.eyJ{}.{}", random(WORD, 30, 1), random(WORD, 30, 2), random(WORD, 30, 3));
    assert_eq!(redactor.redact(&jwt).text, jwt);
}

#[test]
fn rules_that_cannot_work_are_refused_with_the_reason() {
    let table = [
        ("[[rule]", "cannot be read"),
        ("[[rule]]\nid = 'a'\nregex = 'x'\nwords = 1", "unknown field"),
        ("[[rule]]\nid = 'a'", "missing field `regex`"),
        ("[[rule]]\nid = 'a'\nregex = '('", "rule `a`: regex parse error"),
        ("[[rule]]\nid = 'a'\nregex = '(?:\\w{1000}){1000}'", "rule `a`: "),
        ("[[rule]]\nid = 'a'\nregex = 'x'\nallow = ['[']", "rule `a`: regex parse error"),
        ("[[rule]]\nid = 'A b'\nregex = 'x'", "the id must be"),
        ("[[rule]]\nid = 'a'\nregex = 'x'\nkeywords = ['']", "a keyword must be"),
        ("[[rule]]\nid = 'a'\nregex = 'x'\nentropy = 9.0", "`entropy` must be"),
        ("[[rule]]\nid = 'a'\nregex = 'x'\n[[rule]]\nid = 'a'\nregex = 'y'", "another rule has the same id"),
    ];
    for (rules, expect) in table {
        let error = Redactor::with_rules(rules).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }
}

#[test]
fn keywords_without_end_cost_linear_time() {
    let redactor = Redactor::embedded();
    for unit in [
        "sk-",
        "eyJ",
        "-eyJa.",
        "password",
        "token=\"a",
        "://a:",
        "twilio ",
        "AKIA",
        "[[secret:",
        "authorization: bearer ",
        "-----BEGIN PRIVATE KEY-----",
    ] {
        let text = unit.repeat((1 << 20) / unit.len());
        let start = std::time::Instant::now();
        let _ = redactor.redact(&text);
        assert!(start.elapsed().as_secs() < 20, "{unit}: {:?}", start.elapsed());
    }
}

/// Generates texts in which secrets touch each other, placeholders, and other text.
fn mixed() -> impl Strategy<Value = String> {
    let all: Vec<String> = secrets().into_iter().map(|(_, marked)| unmarked(&marked).0).collect();
    let piece = prop_oneof![
        3 => proptest::sample::select(all),
        2 => proptest::sample::select(innocent()),
        2 => "(?s).{0,12}",
        1 => proptest::sample::select(vec!["[[secret:jwt:0a1b2c3d]]".to_owned(), "[[secret:".to_owned(), "\"".to_owned(), "\n".to_owned()]),
    ];
    (
        proptest::collection::vec(piece, 1..8),
        proptest::sample::select(vec!["", " ", "\n", "字", "\"", "=", "_"]),
    )
        .prop_map(|(pieces, between)| pieces.join(between))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn redacting_twice_changes_nothing(text in mixed()) {
        let redactor = embedded();
        for key in [None, Some(&[9_u8; 32])] {
            let once = redactor.replace(&text, key);
            let twice = redactor.replace(&once.text, key);
            prop_assert_eq!(&twice.text, &once.text, "from {:?}", &text);
        }
    }

    #[test]
    fn what_is_found_is_in_the_text_and_in_order(text in mixed()) {
        let redacted = embedded().redact(&text);
        let mut done = 0;
        for finding in &redacted.found {
            prop_assert!(done <= finding.from_byte && finding.from_byte < finding.to_byte);
            prop_assert!(text.is_char_boundary(finding.from_byte) && text.is_char_boundary(finding.to_byte));
            done = finding.to_byte;
        }
        prop_assert!(done <= text.len());
    }
}

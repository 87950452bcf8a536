//! Secrets of a session: no answer of `hook` and `mcp` hands one to an agent. The commands of a person show originals.
//!
//! The values are made up. Each contains the mark of this file, so that a part of one is recognised, too.

use crate::desk::Desk;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};

/// Made-up value number `n`, of a form that people and programs give to secrets.
fn value(n: usize) -> String {
    format!("fAke{n:02}Qz7mark{n:02}")
}

/// Made-up characters, for tokens whose form requires many.
fn many(n: usize, length: usize) -> String {
    value(n).chars().cycle().take(length).collect()
}

/// Texts in which a person or a program states a secret, `VALUE`.
const FORMS: [&str; 56] = [
    "database:\n  password: VALUE\n  host: db",
    "db_password = VALUE",
    "PGPASSWORD=VALUE psql -h db -U app",
    "mysqldump --password VALUE shop",
    "deploy --db-password=VALUE --dry-run",
    "gh-tool login --token VALUE",
    "curl 'https://api.test/v1?access_token=VALUE&page=2'",
    "docker run -e MYSQL_ROOT_PASSWORD=VALUE mysql:8",
    "spring.datasource.password=VALUE",
    "quarkus.datasource.password: VALUE",
    "Cookie: theme=dark; session=VALUE; lang=de",
    "Set-Cookie: sid=VALUE; Path=/; HttpOnly",
    "curl -u admin:VALUE https://host.test",
    "curl -s --user admin:VALUE https://host.test",
    "machine host.test login me password VALUE",
    "machine host.test\n  login me\n  password VALUE\n",
    "Authorization: Bearer VALUE",
    "Authorization: Basic VALUE",
    "-H \"Authorization: VALUE\"",
    "X-Api-Key: VALUE",
    "-H 'X-Vault-Token: VALUE'",
    "postgres://app:VALUE@db.test:5432/shop",
    "git clone https://me:VALUE@git.test/r.git",
    "API_TOKEN=VALUE",
    "export SESSION_SECRET=\"VALUE\"",
    "environment:\n  - POSTGRES_PASSWORD=VALUE",
    "POSTGRES_PASSWORD: VALUE",
    "api_key: VALUE",
    "client_secret = 'VALUE'",
    "{\"password\": \"VALUE\"}",
    "<password>VALUE</password>",
    "Server=db;User Id=sa;Password=VALUE;Encrypt=true",
    "define('DB_PASSWORD', 'VALUE');",
    "sshpass -p VALUE ssh host.test",
    "mysql -u root -pVALUE shop",
    "redis-cli -a VALUE ping",
    "ALTER USER app WITH PASSWORD 'VALUE';",
    "CREATE USER app IDENTIFIED BY 'VALUE';",
    "db.test:5432:shop:app:VALUE",
    "the password is VALUE, do not lose it",
    "kubectl create secret generic x --from-literal=password=VALUE",
    "helm upgrade x --set auth.password=VALUE",
    "keytool -storepass VALUE -list",
    "ansible_become_pass: VALUE",
    "requirepass VALUE",
    "$env:DEPLOY_PASSWORD = \"VALUE\"",
    "curl -d \"{\\\"client_secret\\\":\\\"VALUE\\\"}\" https://host.test",
    "auth: { user: 'me@x.test', pass: 'VALUE' }",
    "production:\n  secret_key_base: VALUE",
    "echo 'VALUE' | sudo -S apt install x",
    "echo 'root:VALUE' | chpasswd",
    "root:VALUE@tcp(127.0.0.1:3306)/shop",
    "ENV DB_PASSWORD VALUE",
    "curl -u VALUE: https://host.test",
    "curl -u \":VALUE\" https://host.test",
    "https://b.test/k?X-Amz-Credential=a%2Fb&X-Amz-Signature=VALUE",
];

/// Texts with secrets, each with the value that must not leave.
fn secrets() -> Vec<(String, String)> {
    let form = |(n, form): (usize, &&str)| (form.replace("VALUE", &value(n)), value(n));
    let mut secrets: Vec<(String, String)> = FORMS.iter().enumerate().map(form).collect();
    let n = secrets.len();
    let issued = [
        ("ghp_", 36),
        ("sk-ant-api03-", 90),
        ("sk-or-v1-", 64),
        ("gsk_", 52),
        ("xai-", 80),
        ("hvs.", 90),
        ("glpat-", 20),
        ("AIza", 35),
        ("npm_", 36),
        ("hf_", 34),
        ("nvapi-", 64),
        ("lin_api_", 40),
    ];
    for (index, (prefix, length)) in issued.into_iter().enumerate() {
        let token = format!("{prefix}{}", many(n + index, length));
        secrets.push((format!("use {token} for it"), token));
    }
    let key: String = (0..6).map(|line| many(n + 20 + line, 64) + "\n").collect();
    secrets.push((
        format!("-----BEGIN {} KEY-----\n{key}-----END {} KEY-----", "PRIVATE", "PRIVATE"),
        many(n + 22, 64),
    ));
    secrets
}

/// A transcript of Claude Code in which a person types each secret, and a tool shows it.
fn transcript(desk: &Desk, secrets: &[(String, String)]) -> String {
    let cwd = desk.folder().to_string_lossy().into_owned();
    let time = jiff::Timestamp::now().to_string();
    let mut lines = String::new();
    let mut parent = Value::Null;
    let mut add = |kind: &str, id: &str, message: Value| {
        let record = json!({
            "type": kind, "uuid": id, "parentUuid": parent, "sessionId": "keys", "timestamp": time, "cwd": cwd,
            "version": "2.0.0", "message": message,
        });
        parent = id.into();
        lines.push_str(&format!("{record}\n"));
    };
    for (n, (text, _)) in secrets.iter().enumerate() {
        let said =
            format!("Always use the settings of number {n} for the zebra gateway.\n{text}\nThen go on.");
        add("user", &format!("u{n}"), json!({ "role": "user", "content": said }));
        let input = json!({ "command": format!("echo zebra\n{text}"), "description": "start" });
        let call = json!([{ "type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": input }]);
        let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
        add(
            "assistant",
            &format!("a{n}"),
            json!({ "id": format!("m{n}"), "role": "assistant", "model": "claude-sonnet-4-5", "content": call, "usage": usage }),
        );
        let output = json!([{ "type": "tool_result", "tool_use_id": format!("t{n}"), "content": format!("zebra\n{text}\n") }]);
        add("user", &format!("r{n}"), json!({ "role": "user", "content": output }));
    }
    lines
}

/// Fails if a text has a part of a secret that is long enough to be of use.
#[track_caller]
fn holds_none(text: &str, secrets: &[(String, String)], what: &str) {
    for (form, secret) in secrets {
        let inner = secret.get(secret.len().saturating_sub(10)..).unwrap();
        assert!(
            !text.contains(inner) && !text.contains(&secret[..secret.len().min(16)]),
            "{what}: {form}\n{text}"
        );
    }
}

/// Answers of `mcp` to requests, which are sent one after another.
fn answers(desk: &Desk, requests: &[(&str, Value)]) -> Vec<Value> {
    let mut server = desk.start(&["mcp", "--cwd", ".", "--reach", "tenant"]);
    let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines();
    let version = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let hello = [("initialize", version)];
    let asked = hello.iter().chain(requests).enumerate().map(|(id, (method, params))| {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    });
    let answers = asked.skip(1).collect();
    drop(input);
    assert!(server.wait().unwrap().success());
    answers
}

fn desk(secrets: &[(String, String)]) -> Desk {
    let desk = Desk::bare();
    desk.write("keys.jsonl", transcript(&desk, secrets));
    desk.run(&["import", "keys.jsonl", "-q"]).exits(0);
    desk
}

/// Agents that call hooks, and the sources of a session's start.
const HOOKS: [[&str; 3]; 2] = [["claude-code", "codex", "gemini-cli"], ["startup", "resume", "compact"]];

#[test]
fn no_answer_of_a_hook_has_a_secret() {
    // Over all chunks of secrets, each agent asks at each start, and each kind of prompt is given.
    ask_hooks(|chunk, which| which % 3 == chunk % 3);
}

#[test]
#[ignore = "takes 40 s; run by .ci/full"]
fn no_answer_of_a_hook_has_any_secret() {
    ask_hooks(|_, _| true);
}

/// Calls hooks in sessions with secrets. `asks` says for a chunk of secrets which of its calls are made.
fn ask_hooks(asks: impl Fn(usize, usize) -> bool) {
    let all = secrets();
    assert!(all.len() >= 40);
    let [agents, sources] = HOOKS;
    // A text that is handed back has room for a few messages only.
    for (chunk, some) in all.chunks(3).enumerate() {
        let desk = desk(some);
        for (agent_no, agent) in agents.into_iter().enumerate() {
            for (source_no, source) in sources.into_iter().enumerate() {
                if !asks(chunk, agent_no + source_no) {
                    continue;
                }
                let transcript = if source == "startup" { "new.jsonl" } else { "keys.jsonl" };
                let input = json!({
                    "hook_event_name": "SessionStart", "source": source, "session_id": "new",
                    "transcript_path": desk.path(transcript), "cwd": desk.folder(),
                });
                let done =
                    desk.feed(&["hook", agent, "--digest=all", "--recall"], &input.to_string()).exits(0);
                assert!(
                    done.out.contains("zebra gateway") || agent == "gemini-cli",
                    "{agent} {source}: {}",
                    done.out
                );
                holds_none(&done.out, some, agent);
            }
        }
        for (n, (text, secret)) in some.iter().enumerate() {
            let prompts = [text.clone(), format!("the zebra gateway settings of number {n}"), secret.clone()];
            for (kind, prompt) in prompts.iter().enumerate().filter(|(kind, _)| asks(chunk, kind + n)) {
                let input = json!({
                    "hook_event_name": "UserPromptSubmit", "session_id": "new", "prompt": prompt,
                    "transcript_path": desk.path("new.jsonl"), "cwd": desk.folder(),
                });
                let done = desk.feed(&["hook", "claude-code", "--recall"], &input.to_string()).exits(0);
                holds_none(&done.out, some, &format!("recall {kind}"));
            }
        }
        assert!(!desk.path("state/wunderblock/hook.log").exists());
    }
}

#[test]
fn no_answer_of_the_server_has_a_secret() {
    let all = secrets();
    let desk = desk(&all);
    let handle = "keys";
    let call = |name: &str, arguments: Value| ("tools/call", json!({ "name": name, "arguments": arguments }));
    let read = |uri: String| ("resources/read", json!({ "uri": uri }));
    let mut requests = vec![
        ("prompts/get", json!({ "name": "continue" })),
        ("prompts/get", json!({ "name": "decided", "arguments": { "topic": "zebra gateway settings" } })),
        call("search", json!({ "query": "zebra gateway settings", "limit": 50 })),
        call("explain", json!({})),
        call("agents", json!({})),
        call("note", json!({ "text": all[0].0 })),
        read("wunderblock://notes/keys".to_owned()),
        read("wunderblock://context/keys".to_owned()),
        ("resources/list", json!({})),
    ];
    for page in 1..=6 {
        requests.push(call("read", json!({ "address": handle, "page": page })));
        requests.push(read(format!("wunderblock://session/keys?page={page}")));
    }
    for (n, (text, secret)) in all.iter().enumerate() {
        let line = text.lines().find(|line| line.contains(secret.get(..12).unwrap())).unwrap();
        requests
            .push(call("grep", json!({ "pattern": line.get(..line.len().min(40)).unwrap(), "limit": 100 })));
        requests.push(call("grep", json!({ "pattern": secret.get(..8).unwrap() })));
        requests.push(call(
            "search",
            json!({ "query": format!("number {n} {}", line.split(' ').next().unwrap()) }),
        ));
        requests.push(call("read", json!({ "address": format!("{handle}#{}", n * 3 + 2) })));
        requests
            .push(call("read", json!({ "address": handle, "query": format!("number {n} for the zebra") })));
        requests.push(call("explain", json!({ "find": line.get(..line.len().min(30)).unwrap() })));
    }
    let answers = answers(&desk, &requests);
    assert_eq!(answers.len(), requests.len());
    let mut told = 0;
    for (request, answer) in requests.iter().zip(&answers) {
        // The arguments of the request are the caller's own.
        let text = answer["result"].to_string();
        told += usize::from(text.contains("zebra"));
        holds_none(&text, &all, &request.1.to_string());
    }
    assert!(told > requests.len() / 2, "{told} of {}", requests.len());
    // A person reads the originals.
    let exact = desk.run(&["export", "keys", "--original"]).exits(0).out;
    assert!(all.iter().filter(|(_, secret)| exact.contains(secret.as_str())).count() + 1 >= all.len());
}

/// A link of a project may lead to any file of its user, and the project's author is not the user.
#[test]
fn explain_reads_no_file_outside_of_the_project() {
    let (desk, outside) = (Desk::with_session(), Desk::bare());
    for name in ["key.txt", "rules/more.md"] {
        outside.write(name, "a line with NEEDLE in it\n");
    }
    desk.write(".git/HEAD", "ref: refs/heads/main\n");
    desk.write("AGENTS.md", format!("@{}\n", outside.path("key.txt").display()));
    desk.write(".claude/rules/inside.md", "---\npaths: [\n---\nA line with THREAD in it\n");
    for (to, at) in
        [("key.txt", ".claude/rules/file.md"), ("rules", ".claude/rules/folder"), ("key.txt", "CLAUDE.md")]
    {
        std::os::unix::fs::symlink(outside.path(to), desk.path(at)).unwrap();
    }
    let find = |text: &str| {
        let arguments = json!({ "find": text, "session": crate::fixture::SESSION });
        let found =
            &answers(&desk, &[("tools/call", json!({ "name": "explain", "arguments": arguments }))])[0];
        found["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert!(find("NEEDLE").contains("neither in this session nor in its sources"), "{}", find("NEEDLE"));
    // The finding is told, and a file inside of the project is read.
    assert!(find("rules/file.md").contains("leads outside of the project"), "{}", find("rules/file.md"));
    assert!(find("THREAD").contains("A line with THREAD"), "{}", find("THREAD"));
}

/// Rules of the user hold wherever those of the program do: also in a summary that no model writes.
#[test]
fn a_users_own_rules_hold_in_summaries() {
    let desk = Desk::new();
    desk.write(
        "config/wunderblock/house.toml",
        "[[rule]]\nid = \"house-token\"\nkeywords = [\"hz-\"]\nregex = 'hz-[0-9]{6,}'\n",
    );
    desk.write("config/wunderblock/config.toml", "secrets = \"house.toml\"\n[instructions]\nmanaged = []\n");
    let mut lines = String::new();
    for n in 0..40 {
        let turn = [
            json!({"role": "user", "content": format!("Always use hz-{:06} for shop {n}. It must work.", 700_000 + n)}),
            json!({"role": "assistant", "content": format!("We decided to use hz-{:06}. {}", 700_000 + n, "Done. ".repeat(80))}),
        ];
        turn.iter().for_each(|line| lines.push_str(&format!("{line}\n")));
    }
    desk.feed(&["append", "talk"], &lines).exits(0);
    let done =
        desk.run(&["compact", "talk", "--window", "8000", "--policy", "always", "--out", "summary.md"]);
    let summary = std::fs::read_to_string(desk.path("summary.md")).unwrap_or_default();
    assert!(summary.contains("shop"), "{} {}", done.out, done.err);
    assert!(!summary.contains("hz-7"), "{summary}");
}

#[test]
fn no_heading_and_no_description_cuts_a_secret() {
    // Descriptions and headings are cut after 72, 120 and 200 characters.
    let cut_at = |n: usize, place: usize| {
        let secret = format!("Zq7kettle9XvB2mN5cLw8RtY3hJd6GfS1aPe4U{n:02}");
        (format!("{}client_secret = \"{secret}\" for all", "x ".repeat((place - 48) / 2)), secret)
    };
    let all: Vec<(String, String)> =
        [72, 76, 120, 128, 200, 208].into_iter().enumerate().map(|(n, place)| cut_at(n, place)).collect();
    let desk = desk(&all);
    let call = |name: &str, arguments: Value| ("tools/call", json!({ "name": name, "arguments": arguments }));
    let mut requests = vec![
        call("explain", json!({})),
        call("read", json!({ "address": "keys" })),
        ("resources/read", json!({ "uri": "wunderblock://context/keys" })),
    ];
    for seq in 1..=3 * all.len() {
        let pin = json!({ "address": format!("keys#{seq}"), "action": "pin" });
        requests.push(call("pin", pin));
    }
    for (request, answer) in requests.iter().zip(answers(&desk, &requests)) {
        holds_none(&answer["result"].to_string(), &all, &request.1.to_string());
    }
}

#[test]
fn the_brief_of_a_delegate_has_no_secret() {
    let all = secrets();
    let desk = desk(&[("a task".to_owned(), String::new())]);
    for (text, secret) in &all {
        let (goal, known) = (format!("--goal={text}"), format!("--known={text}"));
        let asked = ["agents", "context", "--session", "keys", &goal, &known, "--out", "-"];
        let done = desk.run(&asked).exits(0);
        assert!(done.out.contains("[[secret:"), "{}", done.out);
        assert!(!done.out.contains(&secret[secret.len() - 10..]), "{text}");
    }
}

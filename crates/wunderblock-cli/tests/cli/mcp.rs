//! `mcp` as an agent runs it: a process with three streams.

use crate::desk::Desk;
use serde_json::{Value, json};

fn conversation(calls: &[Value]) -> String {
    let initialize = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    });
    let calls = calls.iter().enumerate().map(
        |(id, params)| json!({"jsonrpc": "2.0", "id": id + 1, "method": "tools/call", "params": params}),
    );
    std::iter::once(initialize).chain(calls).map(|message| format!("{message}\n")).collect()
}

#[test]
fn stdout_holds_the_protocol_alone_and_the_end_of_stdin_is_the_end() {
    let desk = Desk::new();
    desk.run(&["import", "session.jsonl", "-q"]).exits(0);
    let calls = [
        json!({"name": "search", "arguments": {"query": "build"}}),
        json!({"name": "search", "arguments": {"query": "build it", "exact": "text"}}),
    ];
    let done = desk.feed(&["mcp"], &conversation(&calls)).exits(0);
    assert_eq!(done.err, "");
    let answers: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 3, "{}", done.out);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "wunderblock");
    assert!(answers.iter().skip(1).all(|answer| answer["result"]["isError"] == false), "{}", done.out);
    assert_eq!(desk.feed(&["mcp"], "").exits(0).out, "");
}

#[test]
fn a_signal_ends_the_server_and_the_command_that_it_runs() {
    let desk = Desk::new();
    let run = json!({"name": "run", "arguments": {"command": "echo $$ >pid; mv pid running; sleep 60"}});
    desk.write("talk.jsonl", conversation(&[run]));
    let script = "mkfifo in; \"$WB\" mcp <in >out.txt & server=$!; exec 3>in; cat talk.jsonl >&3; \
                  until [ -e running ]; do sleep 0.05; done; kill -TERM $server; wait $server; echo \"code $?\"; \
                  exec 3>&-; kill -0 $(cat running) 2>/dev/null && echo left; true";
    assert_eq!(desk.shell(script).exits(0).out, "code 0\n");
}

/// The command has ended when the server is killed, but the ledger does not have its output yet.
#[cfg(target_os = "linux")]
#[test]
fn what_a_command_wrote_is_kept_if_the_server_ends_before_it_is_stored() {
    use std::io::{BufRead as _, Write as _};
    let desk = Desk::new();
    let mut server = desk.start(&["mcp"]);
    let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut answers = std::io::BufReader::new(output).lines();
    // The ledger is open before another process locks it.
    let search = json!({"name": "search", "arguments": {"query": "x"}});
    input.write_all(conversation(&[search]).as_bytes()).unwrap();
    assert!((0..2).all(|_| answers.next().unwrap().is_ok()));
    let holder = desk.sql();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let run = json!({"name": "run", "arguments": {"command": "echo printed in time; echo $PPID >pid; mv pid guard"}});
    let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": run});
    input.write_all(format!("{call}\n").as_bytes()).unwrap();
    desk.shell("until [ -e guard ]; do sleep 0.02; done; while kill -0 $(cat guard) 2>/dev/null; do sleep 0.02; done");
    server.kill().unwrap();
    server.wait().unwrap();
    holder.execute_batch("ROLLBACK").unwrap();
    drop(holder);
    assert!(desk.run(&["grep", "printed in time"]).exits(0).out.contains("printed in time\n"));
    assert!(!desk.path("ledger.db.run").exists(), "the spool file is gone");
}

/// Nothing of a killed server is left to end its command and to keep its output. Sessions of their own end, too.
#[cfg(target_os = "linux")]
#[test]
fn what_a_server_has_started_ends_with_it() {
    for (signal, code) in [("KILL", 137), ("TERM", 0)] {
        let desk = Desk::new();
        let line = "echo printed before the end; setsid sh -c 'echo $$ >apart; sleep 60' >/dev/null 2>&1 & \
                    until [ -s apart ]; do sleep 0.02; done; echo $$ >pid; mv pid running; sleep 60";
        let run = json!({"name": "run", "arguments": {"command": line}});
        desk.write("talk.jsonl", conversation(&[run]));
        let script = format!(
            "mkfifo in; \"$WB\" mcp <in >out.txt & server=$!; exec 3>in; cat talk.jsonl >&3; \
             until [ -e running ]; do sleep 0.05; done; kill -{signal} $server; wait $server; echo \"code $?\"; exec 3>&-; \
             n=0; while {{ kill -0 $(cat running) || kill -0 $(cat apart); }} 2>/dev/null && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done; \
             for left in $(cat running) $(cat apart); do kill -0 $left 2>/dev/null && echo left; done; true"
        );
        let done = desk.shell(&script).exits(0);
        assert_eq!(done.out, format!("code {code}\n"), "{signal}: {}", done.err);
        // The guard of a killed server writes the rest and ends a moment later.
        let is_kept =
            || desk.run(&["grep", "printed before the end"]).out.contains("printed before the end\n");
        assert!(
            (0..50).any(|_| is_kept() || {
                std::thread::sleep(std::time::Duration::from_millis(100));
                false
            }),
            "{signal}"
        );
        assert!(!desk.path("ledger.db.run").exists(), "{signal}: the spool file is gone");
    }
}

use crate::transcript::{check, opaque_share, read};

#[test]
fn a_history_is_chats_of_blocks() {
    let text = "\n# aider chat started at 2024-08-05 19:33:02\n\n> Aider v0.47  \n> Model x\n\n#### add a test  \n#### for it\n\nSure.\n\n```\ncode\n```\n\n> Applied edit\n\n#### thanks\n#### \n\n#### /exit\n\n\n# aider chat started at 2024-08-06 10:00:00\n\n#### again\n\nfine";
    let records = read(".aider.chat.history.md", text);
    check(
        &records,
        "
        heading-
        output opened() + User injected=aider(Aider v0.47/Model x)
        user User(add a test/for it)
        assistant Assistant(Sure.//```/code/```)
        output User injected=aider(Applied edit)
        user User(thanks)
        user User(/exit)
        heading- [chat-2]
        user [chat-2] opened() + User(again)
        assistant [chat-2] Assistant(fine)
        ",
    );
    assert_eq!(records[1].at.map(|at| at.0), Some(1_722_886_382_000));
    assert!(opaque_share(&records) < 0.05);
}

#[test]
fn what_a_reply_cost_is_output_on_all_its_lines() {
    let text = "# aider chat started at 2024-08-20 13:24:00\n\n#### ask\n\nSure.\n\n> Tokens: 7.3k sent, 523 received.\n\
                Cost: $0.03 message, $0.06 session.\nCosts do not reflect caching, use --no-stream  \n\n\
                Cost: it is high.\n";
    let records = read(".aider.chat.history.md", text);
    check(
        &records,
        "
        heading-
        user opened() + User(ask)
        assistant Assistant(Sure.)
        output User injected=aider(Tokens: 7.3k sent, 523 received./Cost: $0.03 message, $0.06 session./Costs do not reflect caching, use --no-stream)
        assistant Assistant(Cost: it is high.)
        ",
    );
}

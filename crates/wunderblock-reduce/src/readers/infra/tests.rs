use super::*;
use crate::readers::property;

fn plan(resources: usize) -> String {
    let mut text = String::from("\nTerraform will perform the following actions:\n\n");
    (0..60)
        .for_each(|n| text.insert_str(0, &format!("cloud_disk.data[{n}]: Refreshing state... [id=d-{n}]\n")));
    for n in 0..resources {
        let size = if n == 9 { "\"small\" -> \"giant\"" } else { "\"small\" -> \"large\"" };
        text.push_str(&format!(
            "  # cloud_server.web[{n}] will be updated in-place\n  ~ resource \"cloud_server\" \"web\" {{\n        id   = \"s-{n}\"\n      ~ size = {size}\n        # (4 unchanged attributes hidden)\n    }}\n\n"
        ));
    }
    text.push_str(&format!("Plan: 0 to add, {resources} to change, 0 to destroy.\n"));
    (0..resources).for_each(|n| text.push_str(&format!("cloud_server.web[{n}]: Modifying... [id=s-{n}]\n")));
    text.push_str("╷\n│ Error: quota reached\n│\n│   with cloud_server.web[3],\n╵\n");
    text
}

fn play(items: usize) -> String {
    let mut text = String::from(
        "PLAY [web] *******\n\nTASK [Gathering Facts] *******\nok: [web1]\nok: [web2]\nok: [web3]\nok: [web4]\n\nTASK [Write files] *******\n",
    );
    for n in 0..items {
        text.push_str(&format!(
            "--- before\n+++ after: /etc/app/{n}.conf\n@@ -0,0 +1 @@\n+port={n}\n\nchanged: [web1] => (item={n}) => {{\"changed\": true, {}}}\n",
            "\"owner\": \"root\", ".repeat(20)
        ));
    }
    text.push_str("\nTASK [Restart] *******\nfatal: [web2]: FAILED! => {\"msg\": \"no such service\"}\n\nPLAY RECAP *******\nweb1 : ok=3 changed=1 failed=0\nweb2 : ok=2 changed=0 failed=1\n");
    text
}

fn pods(count: usize) -> String {
    let mut text =
        String::from("NAMESPACE     NAME                       READY   STATUS    RESTARTS   AGE\n");
    for n in 0..count {
        let (ready, status) = if n == 37 { ("0/1", "CrashLoopBackOff") } else { ("1/1", "Running") };
        text.push_str(&format!(
            "default       web-7f9c4d8b6{}-x{n:04}    {ready}     {status}   0          {n}d\n",
            n % 10
        ));
    }
    text
}

const DESCRIBED: &str = "Name:         web-1\nNamespace:    default\nLabels:       app=web\nStatus:       Running\nContainers:\n  web:\n    State:          Waiting\n      Reason:       CrashLoopBackOff\n    Restart Count:  12\nEvents:\n  Type     Reason   Age   From     Message\n  Warning  BackOff  2m    kubelet  Back-off restarting failed container\n";

#[test]
fn texts_of_each_tool_are_recognised() {
    let images: String = (0..9).map(|n| format!("{n:012x}: Pull complete\n")).collect();
    for text in [plan(4).as_str(), &play(3), &pods(8), DESCRIBED, &images] {
        assert!(vote(&LineSample::of(text)) >= 70, "{} {text}", vote(&LineSample::of(text)));
    }
    let coloured = plan(4).replace("  # ", "\x1b[1m  # \x1b[0m").replace("Plan:", "\x1b[1mPlan:\x1b[0m");
    assert!(vote(&LineSample::of(&coloured)) > 90);
    for text in [
        "a: Creating...\nwords\nmore words\n",
        "# this will be a title\n\ntext\n",
        "NAME is a word\nnot a column\nat all\n",
        "",
    ] {
        assert!(vote(&LineSample::of(text)) < 30, "{text}");
    }
}

#[test]
fn every_change_and_failure_stays() {
    let plan_atoms = |n: usize| {
        (0..n)
            .map(|n| format!("# cloud_server.web[{n}] will be updated"))
            .chain(["\"giant\"".into(), "Plan: 0 to add".into(), "Error: quota reached".into()])
            .collect::<Vec<_>>()
    };
    let play_atoms = |n: usize| {
        (0..n)
            .map(|n| format!("changed: [web1] => (item={n})"))
            .chain(["fatal: [web2]".into(), "web2 : ok=2".into(), "TASK [Restart]".into()])
            .collect::<Vec<_>>()
    };
    let cases = [
        (plan(20), plan_atoms(20), 40),
        (play(30), play_atoms(30), 35),
        (pods(90), vec!["NAMESPACE  ".into(), "CrashLoopBackOff".into()], 25),
    ];
    for (text, atoms, share) in cases {
        let folded = property::fold(&text, |lines| spans(lines, None));
        assert!(folded.len() * 10 < text.len() * 7, "{} of {}: {folded}", folded.len(), text.len());
        let short = property::within(&text, |lines| spans(lines, None), text.len() * share / 100);
        for atom in atoms {
            assert!(folded.contains(&atom), "{atom} in {folded}");
            assert!(short.contains(&atom), "{atom} in {short}");
        }
    }
    assert_eq!(property::fold(DESCRIBED, |lines| spans(lines, None)), DESCRIBED);
}

#[test]
fn any_text_is_tiled() {
    property::tiles(&[&plan(3), &play(4), &pods(30), DESCRIBED], |lines| spans(lines, None));
}

#[test]
fn what_is_destroyed_is_said_by_its_head_and_blocks_alike_are_counted() {
    let mut text = String::from("Terraform will perform the following actions:\n\n");
    for n in 0..9 {
        let (fate, sign) = if n % 3 == 0 { ("destroyed", '-') } else { ("created", '+') };
        text.push_str(&format!(
            "  # shop_shelf.shelf_{n} will be {fate}\n  {sign} resource \"shop_shelf\" \"shelf_{n}\" {{\n      {sign} name = \"shelf-{n}\" -> null\n      {sign} room = \"the {fate} room\"\n      {sign} tags = \"of the long {fate} shelf\"\n    }}\n\n"
        ));
    }
    text.push_str("Plan: 6 to add, 0 to change, 3 to destroy.\n");
    let spans = |lines: &TextLines<'_>| spans(lines, None);
    let folded = property::fold(&text, spans);
    assert!(!folded.contains("destroyed room") && folded.matches("created room").count() == 2, "{folded}");
    assert!(folded.matches(" will be ").count() == 9, "{folded}");
    let short = property::within(&text, spans, 420);
    assert!(short.contains("blocks as above, numbers aside"), "{short}");
}

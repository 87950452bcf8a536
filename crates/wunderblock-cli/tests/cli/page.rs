//! Tests of a request's HTML page in a browser.

use crate::desk::Desk;
use crate::fixture::{ERROR_LINE, SESSION};
use serde_json::Value;
use std::process::Command;

/// Script that reports what a browser finds on the page: the areas of the sections and their tokens, the visible text
/// before and after a click on a gap, and the loaded resources. The script runs in a copy of the page that permits
/// scripts.
const PROBE: &str = r#"<script>
addEventListener('load', () => {
  const seen = (element) => getComputedStyle(element).display !== 'none' && element.getBoundingClientRect().height > 0;
  const gap = document.querySelector('.gap');
  const before = seen(gap);
  const areas = [...document.querySelectorAll('.area > div')].map((div) => div.getBoundingClientRect().width);
  const link = document.querySelector('svg a');
  link.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
  setTimeout(() => {
    const found = {
      before, after: seen(gap), text: gap.innerText, areas, whole: document.querySelector('.area').clientWidth,
      loaded: performance.getEntriesByType('resource').length, scripts: document.scripts.length,
      injected: window.injected === undefined, wide: document.documentElement.scrollWidth <= innerWidth,
    };
    document.documentElement.dataset.found = encodeURIComponent(JSON.stringify(found));
  }, 50);
});
</script></body>"#;

fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|done| done.status.success()))
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || (rest.next().unwrap() as char).to_digit(16).unwrap() as u8;
        bytes.push(if byte == b'%' { digit() * 16 + digit() } else { byte });
    }
    String::from_utf8(bytes).unwrap()
}

/// Creates the page of a session with a text that would run a script if the page permitted it.
fn page(desk: &Desk) -> String {
    let acts = r#"{"id":"x1","role":"user","content":"<script>window.injected=1</script><img src=x onerror=\"window.injected=1\">"}"#;
    desk.feed(&["append", SESSION], &format!("{acts}\n")).exits(0);
    desk.run(&["context", SESSION, "--window", "900", "--reserve", "200"]).exits(0);
    let args = ["explain", SESSION, "--window", "900", "--reserve", "200", "--html", "page.html"];
    let done = desk.run(&args).exits(0);
    assert!(done.err.contains("page in page.html"), "{}", done.err);
    String::from_utf8(desk.bytes("page.html")).unwrap()
}

#[test]
fn a_page_loads_nothing_and_no_text_of_a_session_acts_in_it() {
    let desk = Desk::with_session();
    let page = page(&desk);
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("&lt;script&gt;window.injected=1"), "the text is in it, as text");
    let tags = page.split('<').filter_map(|part| part.split([' ', '>', '/']).next()).collect::<Vec<_>>();
    for tag in ["script", "img", "link", "iframe", "object"] {
        assert!(!tags.contains(&tag), "<{tag}>");
    }
    for from in [" src=", "@import", "url(", "http:", "https:"] {
        let quoted = format!("{from}x onerror=");
        assert!(page.replace(&quoted, "").find(from).is_none(), "{from}");
    }
    assert!(page.contains(ERROR_LINE), "what was left out can be read");
}

#[test]
fn a_gap_is_clicked_in_a_browser_and_read() {
    let Some(browser) = browser() else {
        assert!(std::env::var_os("CI").is_none(), "CI has a browser: .ci/run installs it");
        eprintln!("SKIPPED: there is no Chromium on this machine, so nobody clicked");
        return;
    };
    let desk = Desk::with_session();
    let page = page(&desk);
    let policy = page.lines().find(|line| line.contains("Content-Security-Policy")).unwrap();
    desk.write("probe.html", page.replace(policy, "").replace("</body>", PROBE));
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", desk.path("browser").display()));
    command.arg(format!("file://{}", desk.path("probe.html").display()));
    let done = command.output().expect("it runs");
    let dom = String::from_utf8_lossy(&done.stdout).into_owned();
    let found = dom.split("data-found=\"").nth(1).and_then(|rest| rest.split('"').next());
    let found = found.unwrap_or_else(|| panic!("{dom}\n{}", String::from_utf8_lossy(&done.stderr)));
    let found: Value = serde_json::from_str(&decoded(found)).unwrap();
    assert_eq!((&found["before"], &found["after"]), (&Value::Bool(false), &Value::Bool(true)), "{found}");
    assert!(found["text"].as_str().unwrap().contains(ERROR_LINE), "{found}");
    assert_eq!(found["loaded"], 0, "nothing was loaded");
    assert_eq!(found["scripts"], 1, "the probe is the only script");
    assert_eq!((&found["injected"], &found["wide"]), (&Value::Bool(true), &Value::Bool(true)), "{found}");
    let areas: f64 = found["areas"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
    assert!((areas - found["whole"].as_f64().unwrap()).abs() < 2.0, "the sections fill the area: {found}");
}

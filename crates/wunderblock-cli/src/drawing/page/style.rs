//! Style of the page. The style follows the light or dark setting of the reader's system.

/// Style sheet.
pub(super) const STYLE: &str = "
:root{--ink:#1b1f24;--dim:#6a737d;--line:#d8dee4;--paper:#fff;--panel:#f6f8fa;--free:#eaeef2;--own:#0a7;--other:#c50;--said:#c9d1d9;--shown:#0969da}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#8b949e;--line:#30363d;--paper:#0d1117;--panel:#161b22;--free:#21262d;--own:#2ea;--other:#f83;--said:#484f58;--shown:#58a6ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1100px;padding:24px 16px 80px;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:22px;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:17px;margin:32px 0 8px}
p{margin:4px 0 12px}
.dim{color:var(--dim)}
.area{display:flex;height:240px;border:1px solid var(--line);border-radius:6px;overflow:hidden}
.area>div{display:flex;flex-direction:column;min-width:1px}
.area i{display:block;min-height:0;border-bottom:1px solid rgba(255,255,255,.35)}
.area .free{background:repeating-linear-gradient(45deg,var(--free) 0 8px,transparent 8px 16px)}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;margin:8px 0;padding:0;list-style:none}
.legend b{display:inline-block;width:12px;height:12px;border-radius:2px;margin-right:6px;vertical-align:-1px}
.system,.safety{background:#57606a}.instructions{background:#8250df}.tools,.skills,.agents{background:#bf3989}
.memory,.resources,.recall,.state{background:#bf8700}.summaries{background:#1b7c83}.transcript{background:#218bff}.prompt{background:#1a7f37}
svg{display:block;width:100%;height:180px}
svg .said{fill:var(--said)}svg .shown{fill:var(--shown)}
svg .own{stroke:var(--own)}svg .other{stroke:var(--other)}
svg a rect{fill:var(--other);fill-opacity:.55;cursor:pointer}svg a:hover rect{fill-opacity:1}
svg text{fill:var(--dim);font:11px system-ui,sans-serif}
table{border-collapse:collapse;width:100%}
td,th{padding:4px 8px;text-align:left;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
td.n{text-align:right;white-space:nowrap}
a{color:var(--shown)}
code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
.gap{display:none;background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:12px 16px;margin:12px 0}
.gap:target{display:block}
.gap h3{margin:0 0 8px;font-size:15px}
.gap pre{margin:2px 0 12px;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,monospace}
.who{font-weight:600}
";

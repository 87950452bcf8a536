//! Finds the main part of a page, and the parts around it that people do not read.

use crate::part::PartOfText;
use std::collections::HashMap;
use std::ops::Range;

use super::entity;
use super::tokens::{HtmlToken, HtmlTokens, attribute_value};

/// The role of a part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PagePart {
    /// The main content, as marked by the author.
    Main,
    Article,
    Navigation,
    Sidebar,
    Header,
    Footer,
    /// Content that a browser does not show, or draws instead of displaying as text.
    Hidden,
    Script,
    Style,
    /// Text before or after the main part.
    Beside,
}

/// A part of a page, and the amount of text in it.
#[derive(Clone, Debug)]
pub(super) struct PageRegion {
    pub(super) span: Range<usize>,
    pub(super) part: PagePart,
    /// Name of the element.
    name: String,
    pub(super) text: usize,
    /// Number of bytes of the text that are in links.
    linked: usize,
    headings: u32,
    /// First headings of the region. The mark of the region names them if the region is left out.
    pub(super) titles: Vec<String>,
}

/// Maximum number of headings that the mark of a region names.
const MAX_TITLES: usize = 3;

impl PageRegion {
    /// Returns a region without counts and headings.
    fn of(span: Range<usize>, part: PagePart) -> Self {
        Self { span, part, name: String::new(), text: 0, linked: 0, headings: 0, titles: Vec::new() }
    }

    /// Returns the name of the region for a mark.
    pub(super) fn kind(&self) -> String {
        let kind = match (self.part, self.name.as_str()) {
            (PagePart::Main | PagePart::Article, _) => "main content",
            (PagePart::Navigation, _) => "navigation",
            (PagePart::Sidebar, _) => "sidebar",
            (PagePart::Header, _) => "page header",
            (PagePart::Footer, _) => "footer",
            (PagePart::Script, _) => "script",
            (PagePart::Style, _) => "style sheet",
            (PagePart::Beside, _) => "",
            (PagePart::Hidden, "svg" | "canvas") => "drawing",
            (PagePart::Hidden, "iframe" | "object") => "frame",
            (PagePart::Hidden, "select") => "choice",
            (PagePart::Hidden, name) => return format!("hidden {name}"),
        };
        kind.to_owned()
    }

    fn read_titles(&mut self, page: &str) {
        let mut open = false;
        for (_, token) in HtmlTokens::of(page.part(self.span.clone())) {
            match token {
                HtmlToken::Open { name, .. } | HtmlToken::Close(name) if is_heading(name) => {
                    open = matches!(token, HtmlToken::Open { .. });
                    if open && self.titles.len() == MAX_TITLES {
                        break;
                    }
                    if open {
                        self.titles.push(String::new());
                    }
                }
                HtmlToken::Text(said) if open => {
                    if let Some(title) = self.titles.last_mut() {
                        entity::decode(said.trim_end(), title);
                    }
                }
                _ => {}
            }
        }
        self.titles.retain(|title| !title.trim().is_empty());
    }
}

fn is_heading(name: &str) -> bool {
    matches!(name.as_bytes(), [b'h' | b'H', b'1'..=b'6'])
}

/// The regions of a page, found in one pass over it.
#[derive(Debug, Default)]
pub(super) struct PageOutline {
    /// Regions that are left out, in order and without overlaps.
    pub(super) skipped: Vec<PageRegion>,
    /// Range of the main part, or of the whole page if no part is marked as main.
    pub(super) main: Range<usize>,
    /// Scripts and style sheets, and the text before and after the main part.
    pub(super) unread: Vec<PageRegion>,
    /// Number of bytes of text outside the regions that are left out.
    pub(super) text: usize,
}

/// Returns whether an element never has content, is inline, or often lacks its end tag. If the result is true, the
/// element opens nothing that must be closed.
fn is_loose(name: &str) -> bool {
    #[rustfmt::skip]
    const LOOSE: [&str; 40] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
        "track", "wbr", "a", "abbr", "b", "big", "cite", "code", "em", "font", "i", "kbd", "mark", "p",
        "q", "s", "samp", "small", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "script",
        "style",
    ];
    LOOSE.contains(&name)
}

struct OpenElement<'t> {
    name: &'t str,
    part: Option<PagePart>,
    start: usize,
    text: usize,
    linked: usize,
    headings: u32,
}

/// State of one pass over a page.
struct RegionScan<'t> {
    open: Vec<OpenElement<'t>>,
    /// Number of open elements of each name, so that a stray end tag is ignored without a search.
    counts: HashMap<&'t str, u32>,
    found: Vec<PageRegion>,
    page: PageOutline,
    text: usize,
    linked: usize,
    headings: u32,
    links: u32,
    in_style: bool,
}

/// Finds the regions of a page in one pass.
pub(super) fn read_page(text: &str) -> PageOutline {
    let mut reading = RegionScan {
        open: Vec::new(),
        counts: HashMap::new(),
        found: Vec::new(),
        page: PageOutline::default(),
        text: 0,
        linked: 0,
        headings: 0,
        links: 0,
        in_style: false,
    };
    for (span, token) in HtmlTokens::of(text) {
        match token {
            HtmlToken::Text(said) => reading.add_text(said),
            HtmlToken::Open { name, attributes, closed } => {
                reading.opened(span.start, name, attributes, closed)
            }
            HtmlToken::Close(name) => reading.closed(span.end, name),
            HtmlToken::Raw => {
                let part = if reading.in_style { PagePart::Style } else { PagePart::Script };
                reading.page.unread.push(PageRegion::of(span, part));
            }
            HtmlToken::Aside => {}
        }
    }
    let mut page = reading.finish(text.len());
    for region in page.skipped.iter_mut().filter(|region| region.headings > 0) {
        region.read_titles(text);
    }
    for span in [0..page.main.start, page.main.end..text.len()] {
        let mut beside = PageRegion::of(span, PagePart::Beside);
        beside.read_titles(text);
        page.unread.push(beside);
    }
    page
}

impl<'t> RegionScan<'t> {
    fn add_text(&mut self, said: &str) {
        let length = said.trim().len();
        self.text += length;
        if self.links > 0 {
            self.linked += length;
        }
    }

    fn opened(&mut self, start: usize, name: &'t str, attributes: &'t str, closed: bool) {
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.headings += 1,
            "a" => self.links += 1,
            "script" | "style" => self.in_style = lower.as_str() == "style",
            _ => {}
        }
        if closed || is_loose(lower.as_str()) {
            return;
        }
        *self.counts.entry(name).or_default() += 1;
        let part = part_of_element(lower.as_str(), attributes);
        self.open.push(OpenElement {
            name,
            part,
            start,
            text: self.text,
            linked: self.linked,
            headings: self.headings,
        });
    }

    fn closed(&mut self, end: usize, name: &str) {
        if name.eq_ignore_ascii_case("a") {
            self.links = self.links.saturating_sub(1);
            return;
        }
        if self.counts.get(name).copied().unwrap_or(0) == 0 {
            return;
        }
        while let Some(open) = self.open.pop() {
            if let Some(count) = self.counts.get_mut(open.name) {
                *count -= 1;
            }
            if open.name != name {
                // An element that was not closed by its own tag has no role, because it would include everything
                // after it.
                continue;
            }
            if let Some(part) = open.part {
                self.found.push(PageRegion {
                    name: open.name.to_ascii_lowercase(),
                    text: self.text - open.text,
                    linked: self.linked - open.linked,
                    headings: self.headings - open.headings,
                    ..PageRegion::of(open.start..end, part)
                });
            }
            return;
        }
    }

    fn finish(mut self, length: usize) -> PageOutline {
        // A page that was cut off in the middle still has its main part.
        let cut = self.open.iter().find(|open| open.part == Some(PagePart::Main)).map(|open| open.start);
        if let Some(start) = cut {
            self.found.push(PageRegion { text: self.text, ..PageRegion::of(start..length, PagePart::Main) });
        }
        self.found.sort_by_key(|region| (region.span.start, std::cmp::Reverse(region.span.end)));
        let skipped = keep_outermost(&self.found);
        let lost: usize = skipped.iter().map(|region| region.text).sum();
        let said = self.text.saturating_sub(lost);
        let main = self.main(said);
        self.page.main = main.map_or(0..length, |region| self.with_header(region));
        self.page.skipped = skipped;
        self.page.text = said;
        self.page
    }

    /// Returns the range of a region, together with the page header before it if the header has a heading.
    fn with_header(&self, region: &PageRegion) -> Range<usize> {
        let before = |header: &&PageRegion| {
            let heads =
                header.part == PagePart::Header && header.headings > 0 && header.linked * 2 < header.text;
            heads && header.span.end <= region.span.start
        };
        let start = self.found.iter().rfind(before).map_or(region.span.start, |header| header.span.start);
        start..region.span.end
    }

    /// Returns the main region, if the author marked one and enough of the text is in it.
    fn main(&self, said: usize) -> Option<&PageRegion> {
        let largest = |part: PagePart| {
            self.found.iter().filter(|region| region.part == part).max_by_key(|region| region.text)
        };
        let article = || {
            let articles = self.found.iter().filter(|region| region.part == PagePart::Article).count();
            largest(PagePart::Article).filter(|region| articles == 1 || region.text * 10 >= said * 8)
        };
        largest(PagePart::Main)
            .filter(|region| region.text * 10 >= said * 4)
            .or_else(article)
            .filter(|region| region.text * 10 >= said * 4)
    }
}

/// Returns the regions that are left out, excluding regions inside other regions.
fn keep_outermost(found: &[PageRegion]) -> Vec<PageRegion> {
    let mut skipped: Vec<PageRegion> = Vec::new();
    let mut main_until = 0;
    for region in found {
        let within = skipped.last().is_some_and(|outer| region.span.start < outer.span.end);
        let leaves = match region.part {
            PagePart::Main | PagePart::Article => {
                if !within {
                    main_until = main_until.max(region.span.end);
                }
                false
            }
            PagePart::Hidden | PagePart::Navigation => true,
            PagePart::Script | PagePart::Style | PagePart::Beside => false,
            PagePart::Sidebar => region.linked * 2 >= region.text || region.span.start >= main_until,
            // A header or footer within an article is part of the article.
            PagePart::Header => region.span.start >= main_until && region.headings == 0,
            PagePart::Footer => region.span.start >= main_until,
        };
        if leaves && !within {
            skipped.push(region.clone());
        }
    }
    skipped
}

/// Returns the role of an element, judged by its name, role attribute or class.
fn part_of_element(name: &str, attributes: &str) -> Option<PagePart> {
    match name {
        "main" => Some(PagePart::Main),
        "article" => Some(PagePart::Article),
        "nav" => Some(PagePart::Navigation),
        "aside" => Some(PagePart::Sidebar),
        "footer" => Some(PagePart::Footer),
        "header" => Some(PagePart::Header),
        "svg" | "select" | "iframe" | "canvas" | "object" => Some(PagePart::Hidden),
        "body" | "html" => None,
        _ if attributes.len() < 5 => None,
        _ => part_by_class(attributes),
    }
}

fn part_by_class(attributes: &str) -> Option<PagePart> {
    match attribute_value(attributes, "role").unwrap_or("") {
        "main" => return Some(PagePart::Main),
        "navigation" | "menu" | "menubar" | "search" => return Some(PagePart::Navigation),
        "contentinfo" => return Some(PagePart::Footer),
        "banner" => return Some(PagePart::Header),
        "complementary" => return Some(PagePart::Sidebar),
        _ => {}
    }
    if attribute_value(attributes, "aria-hidden") == Some("true") {
        return Some(PagePart::Hidden);
    }
    if attribute_value(attributes, "style")
        .is_some_and(|style| style.replace(' ', "").contains("display:none"))
    {
        return Some(PagePart::Hidden);
    }
    let id = attribute_value(attributes, "id").unwrap_or("");
    if ["content", "main", "main-content", "maincontent", "mw-content-text", "bodyContent", "readme"]
        .contains(&id)
    {
        return Some(PagePart::Main);
    }
    let classes = attribute_value(attributes, "class").unwrap_or("");
    let words = || classes.split_ascii_whitespace().chain([id]);
    #[rustfmt::skip]
    const NAVIGATION: [&str; 12] = [
        "nav", "navbar", "navigation", "menu", "breadcrumb", "breadcrumbs", "toc", "skip-link",
        "pagination", "navbox", "topnav", "table-of-contents",
    ];
    #[rustfmt::skip]
    const SIDEBAR: [&str; 6] = [
        "sidebar", "side-bar", "sidenav", "cookie-banner", "share", "related",
    ];
    const FOOTER: [&str; 3] = ["footer", "site-footer", "page-footer"];
    let has = |names: &[&str]| words().any(|word| names.contains(&word));
    if has(&NAVIGATION) {
        Some(PagePart::Navigation)
    } else if has(&SIDEBAR) {
        Some(PagePart::Sidebar)
    } else {
        has(&FOOTER).then_some(PagePart::Footer)
    }
}

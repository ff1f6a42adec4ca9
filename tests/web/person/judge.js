// What one look at the page finds wrong, and what it offers. One call for each act.

(() => {
  const { __person: person } = window;
  if (person.look) return;
  const PANELS = ".rail, .side, .ground, .members, dialog, [popover], .notice, article.row, .panel, .card, .composer";
  const STRAY = /\bundefined\b|\bNaN\b|\[object |Invalid Date|^null$|\bnull,|, null\b/;
  const KEY = /^[a-z_]+\.[a-z_]+$/;
  const LIMIT = 5;
  /** Half a pixel beyond an edge is another element. */
  const EDGE = 2;
  const VISIBLE = { visibilityProperty: true };
  const STATES = ["ariaPressed", "ariaExpanded", "ariaSelected", "ariaChecked", "checked"];

  const tell = (element) => {
    const role = person.roleOf(element);
    const classes = typeof element.className === "string" ? element.className.split(" ").slice(0, 2).join(".") : "";
    const tag = `${element.tagName.toLowerCase()}${classes ? `.${classes}` : ""}`;
    return `${tag} ${role} "${person.nameOf(element)}" in ${person.placeOf(element)}`;
  };

  /** Whether a scroller or a clip between an element and its panel keeps what is beyond out of sight. */
  function isClipped(element, panel) {
    for (let at = element.parentElement; at && at !== panel; at = at.parentElement) {
      if (getComputedStyle(at).overflowX !== "visible") return true;
    }
    return /auto|scroll/.test(getComputedStyle(panel).overflowX);
  }

  /** The box of a panel, measured once a look. @param {Map<Element, DOMRect>} boxes */
  function boxOf(boxes, panel) {
    if (!boxes.has(panel)) boxes.set(panel, panel.getBoundingClientRect());
    return boxes.get(panel);
  }

  function overflows(elements) {
    const found = [];
    const excess = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (excess > 0) found.push(`overflow: the page is ${excess} px wider than the window`);
    const boxes = new Map();
    for (const element of elements) {
      const panel = element.parentElement?.closest(PANELS);
      // A field of a file that a button opens has no box at all.
      if (!panel || !element.checkVisibility()) continue;
      const [inner, outer] = [element.getBoundingClientRect(), boxOf(boxes, panel)];
      const beyond = Math.round(Math.max(inner.right - outer.right, outer.left - inner.left));
      if (outer.width <= 1 || beyond <= 2 || isClipped(element, panel)) continue;
      const where = panel.className.split(" ")[0] || panel.tagName;
      found.push(`overflow: ${tell(element)} stands ${beyond} px beyond ${where}`);
    }
    return found;
  }

  function isInSight(element) {
    const own = element.getBoundingClientRect();
    const [x, y] = [own.left + own.width / 2, own.top + own.height / 2];
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    for (let at = element.parentElement; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const box = at.getBoundingClientRect();
      const [left, right, top, bottom] = [box.left + EDGE, box.right - EDGE, box.top + EDGE, box.bottom - EDGE];
      if (x < left || x > right || y < top || y > bottom) return false;
    }
    return true;
  }

  /** What lies above the page for a moment and goes when it is asked to. */
  const ABOVE = "[popover], dialog, .skip, .members, .notices, .row-tools, .completion, [role=listbox], .new-messages, .newer, .manual-found";

  /** What floats over a part that scrolls: what is under it can be scrolled out. */
  const isFloating = (hit, element) => !!hit.closest(".banner") && scrollerOf(element) !== null;

  function scrollerOf(element) {
    for (let at = element.parentElement; at; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowY) && at.scrollHeight > at.clientHeight) return at;
    return null;
  }

  /** What sticks to an edge covers only what can be scrolled out from under it. */
  function isSticky(hit) {
    for (let at = hit; at && at !== document.body; at = at.parentElement)
      if (getComputedStyle(at).position === "sticky") return true;
    return false;
  }

  function covered(elements) {
    const found = [];
    for (const element of elements) {
      if (element.matches("article, input[type=file]") || !isInSight(element) || person.hits(element)) continue;
      const { x, y } = person.middle(element.getBoundingClientRect());
      const hit = document.elementFromPoint(x, y);
      const layer = hit?.closest(ABOVE);
      if (!hit || (layer && !layer.contains(element)) || isSticky(hit) || isFloating(hit, element))
        continue;
      found.push(`covered: ${tell(element)} by ${tell(hit)}`);
    }
    return found;
  }

  function strays(keys) {
    const found = [];
    // A link may lead to an answer of the API, which has its nulls.
    if (document.contentType !== "text/html") return found;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const words = node.data.trim();
      const parent = node.parentElement;
      if (!words || parent.closest("script, style, textarea, pre, code, .user-words, .manual-frame")) continue;
      if (STRAY.test(words) || (KEY.test(words) && keys.has(words)))
        found.push(`stray: "${words.slice(0, 80)}" in ${tell(parent)}`);
    }
    for (const element of document.querySelectorAll("[aria-label], [title], [placeholder], [alt]")) {
      for (const name of ["aria-label", "title", "placeholder", "alt"]) {
        const words = element.getAttribute(name) ?? "";
        if (!STRAY.test(words) && !keys.has(words)) continue;
        found.push(`stray: ${name} "${words.slice(0, 80)}" of ${tell(element)}`);
      }
    }
    return found;
  }

  const ROWS = "article.row, [role=option], [role=menuitem], ul.channels > li, .member, dialog li, .result, .notice";

  const ABOUT = ".gutter, .author, time, .meta, .tag";

  function empties(all) {
    const found = [];
    for (const row of document.querySelectorAll(ROWS)) {
      if (row.textContent.trim() || !person.isInWindow(row) || !person.isShown(row)) continue;
      if (row.querySelector("img, video, audio, svg, input")) continue;
      found.push(`empty: ${tell(row)}`);
    }
    for (const row of document.querySelectorAll("article.row")) {
      if (!person.isInWindow(row) || !person.isShown(row)) continue;
      if (person.textWithout(row, ABOUT).trim()) continue;
      if (![...row.querySelectorAll("img, video, audio, svg")].some((one) => !one.closest(ABOUT)))
        found.push(`empty: the row of a message says nothing: ${row.getAttribute("aria-label")}`);
    }
    for (const { element, names } of all) {
      if (names.name !== "" || element.matches("article") || element.closest("[aria-hidden=true]")) continue;
      found.push(`nameless: ${tell(element)} ${element.outerHTML.slice(0, 120)}`);
    }
    return found;
  }

  /** Which messages the open list of pins has, the channel before them; null where none is open. */
  function pins() {
    const list = document.querySelector(".found-panel[data-pins] .found[aria-busy=false]");
    if (!list?.checkVisibility()) return null;
    const ids = [...list.querySelectorAll("a.result-link")].map((one) => one.pathname.split("/").at(-1));
    return [list.closest("[data-pins]").dataset.pins, ...ids];
  }

  const TABBED = "a[href], button, input:not([type=hidden]), textarea, select, summary, video, audio, iframe, [tabindex]";

  /** Whether two controls are one stop of Tab: radio buttons of a group are. */
  const isOneStop = (one, other) => one === other || (one.type === "radio" && !!one.name && one.name === other.name);

  /** The keys that lead from the focus to the browser's own controls: it has the first or the last stop of Tab. */
  function leaving(focus) {
    const modal = [...document.querySelectorAll("dialog:modal")].at(-1);
    const stops = [...(modal ?? document).querySelectorAll(`${TABBED}, [contenteditable=true]`)].filter(
      (one) => one.tabIndex >= 0 && !one.matches(":disabled") && !one.closest("[inert]") && one.checkVisibility(VISIBLE),
    );
    const ends = { "Shift+Tab": stops[0], Tab: stops.at(-1) };
    return Object.keys(ends).filter((key) => focus && ends[key] && isOneStop(focus, ends[key]));
  }

  /** The keys of the client's words. */
  const keys = new Set(person.keys);

  /** As JSON: a driver reads a long text sooner than many values. */
  person.look = () => JSON.stringify(looked());

  function looked() {
    const all = person.named();
    const elements = all.map(({ element }) => element);
    const offers = all.map(({ element, names }) => ({
      ...names,
      type: element.type ?? "",
      tag: element.tagName,
      href: element.tagName === "A" ? element.href : "",
      states: STATES.map((state) => element[state] ?? "").join(),
      isHere: element.ariaCurrent === "page",
      isFocused: element === document.activeElement,
      isAway: element.tagName === "A" && (element.target === "_blank" || !element.href.startsWith(location.origin)),
    }));
    const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
    const text = [...document.querySelectorAll(":is(h1, h2, h3, p, span, li, time, bdi, label)")].filter(
      (element) => [...element.childNodes].some(isText) && person.isInWindow(element) && person.isShown(element),
    );
    const faults = [...overflows([...elements, ...text]), ...covered(elements), ...strays(keys), ...empties(all)];
    const focus = document.activeElement;
    return {
      offers,
      faults: [...new Set(faults)].slice(0, LIMIT),
      path: location.pathname,
      focus: !focus || focus === document.body ? null : `${person.roleOf(focus)} "${person.nameOf(focus)}"`,
      leaving: leaving(focus),
      isTyping: !!focus?.matches?.("input:not([type=checkbox], [type=radio]), textarea, [contenteditable=true]"),
      isRow: !!focus?.matches?.("article"),
      layer: document.querySelector("dialog[open], :popover-open") !== null,
      draggables: person.draggables().length,
      pins: pins(),
      isReady: document.querySelector(".app.ready") !== null,
      state: { ...person.state },
    };
  }
})();

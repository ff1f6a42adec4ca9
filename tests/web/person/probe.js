// In every page that a PersonMachine looks at: what the page offers, whether it has come to rest, and what it told.
// It listens beside the client and calls nothing of it.

(() => {
  if (window.__person) return;
  const OFFERED = [
    ...["a[href]", "button", "input:not([type=hidden])", "textarea", "select", "summary", "article.row"],
    ...["[contenteditable=true]", "[role=button]", "[role=tab]", "[role=menuitem]", "[role=menuitemcheckbox]"],
    ...["[role=menuitemradio]", "[role=option]", "[role=gridcell]", "[role=switch]", "[role=checkbox]", "[role=radio]"],
    ...["[role=link]", "[role=row][tabindex]", "[role=treeitem]", "[role=listitem][tabindex]", "[data-act=reveal]"],
  ].join(",");
  const TOLD = "[role=status],[role=alert],[role=log],dialog,.errors,.error,.failed,.fault,.note,[aria-invalid=true]";
  const PLACES =
    "article, dialog, [popover], [role=menu], [role=dialog], .notices, nav, aside, main, form, section";
  const SEEN = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true };
  const HEARTBEAT = 1;
  const HEARTBEAT_ACK = 11;
  const PATIENCE_MS = 1500;
  const REST_MS = 4000;

  const sockets = new Set();
  const state = { inputs: 0, held: 0, mutations: 0, told: 0, opened: 0, copied: 0, lastTold: "" };

  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(...parts) {
      super(...parts);
      this.acknowledged = [];
      sockets.add(this);
      this.addEventListener("close", () => sockets.delete(this));
      this.addEventListener("message", ({ data }) => {
        const { op, s } = JSON.parse(data);
        if (s) this.seq = s;
        if (op === HEARTBEAT_ACK) for (const run of this.acknowledged.splice(0)) run();
      });
    }
  };

  const within = (ms, promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, ms, "late"))]);

  /** What the server sent before now has arrived when this is over: it answers a heartbeat after them. */
  function caughtUp() {
    if (!navigator.onLine) return undefined;
    const open = [...sockets].filter((socket) => socket.readyState === Native.OPEN && socket.seq !== undefined);
    return Promise.all(
      open.map((socket) =>
        within(
          PATIENCE_MS,
          new Promise((resolve) => {
            socket.acknowledged.push(resolve);
            socket.send(JSON.stringify({ op: HEARTBEAT, d: socket.seq }));
          }),
        ),
      ),
    );
  }

  let asking = 0;
  const fetchOf = window.fetch;
  window.fetch = (...parts) => {
    asking += 1;
    return fetchOf.apply(window, parts).finally(() => (asking -= 1));
  };

  const frame = () => within(100, new Promise((resolve) => requestAnimationFrame(resolve)));

  const watch = () => {
    new MutationObserver((records) => {
      state.mutations += records.length;
      for (const { target, addedNodes } of records) {
        const element = target instanceof Element ? target : target.parentElement;
        const added = [...addedNodes].filter((node) => node instanceof Element);
        const spoke = element?.closest(TOLD) ?? added.find((node) => node.matches(TOLD) || node.querySelector(TOLD));
        if (!spoke?.textContent.trim()) continue;
        state.told += 1;
        state.lastTold = spoke.textContent.trim().slice(0, 200);
      }
    }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  };
  if (document.documentElement) watch();
  else document.addEventListener("readystatechange", watch, { once: true });

  // A press comes to the page after the driver was told that it was given.
  for (const type of ["pointerup", "keyup"]) addEventListener(type, () => (state.inputs += 1), { capture: true });

  // The browser's own bubble at a field that has to be filled.
  addEventListener("invalid", () => (state.told += 1), { capture: true });

  // The browser's own menu would swallow the next touch, and it is no part of the page.
  addEventListener("contextmenu", (event) => {
    if (!event.isTrusted) return;
    state.held += 1;
    event.preventDefault();
  });

  // Nobody is there to answer the browser's own question.
  if (window.Notification) window.Notification.requestPermission = async () => "denied";

  const openOf = window.open;
  window.open = (...parts) => ((state.opened += 1), openOf.apply(window, parts));
  if (navigator.clipboard) {
    const write = navigator.clipboard.writeText.bind(navigator.clipboard);
    navigator.clipboard.writeText = (text) => ((state.copied += 1), write(text));
  }

  const shortened = (text) => text.replaceAll(/\s+/g, " ").trim().slice(0, 60);

  const BESIDE = "time, [aria-hidden=true], .badge";

  /** The words in an element without those of parts of it; no copy is made, whose pictures would be loaded. */
  function textWithout(element, selector) {
    let text = "";
    for (const node of element.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) text += node.data;
      else if (node.nodeType === Node.ELEMENT_NODE && !node.matches(selector)) text += textWithout(node, selector);
    }
    return text;
  }

  const textOf = (element) => textWithout(element, BESIDE);

  function nameOf(element) {
    const labelled = element.getAttribute("aria-labelledby");
    if (labelled) {
      const words = labelled.split(" ").map((id) => document.getElementById(id)?.textContent ?? "");
      if (words.join("").trim()) return shortened(words.join(" "));
    }
    if (element.matches("article")) return shortened(element.querySelector(".text")?.textContent ?? textOf(element));
    for (const candidate of NAMES) {
      const words = candidate(element);
      if (words?.trim()) return shortened(words);
    }
    return "";
  }

  /** What may name a control, the first that says something. */
  const NAMES = [
    (element) => element.getAttribute("aria-label"),
    ({ labels }) => (labels?.length ? [...labels].map((label) => label.textContent).join(" ") : null),
    (element) => (element.matches("input, textarea, select") ? null : textOf(element)),
    (element) => element.querySelector("img[alt]:not([alt=''])")?.alt,
    ({ title }) => title,
    ({ placeholder }) => placeholder,
    (element) => element.getAttribute("alt"),
  ];

  const ROLES = { A: "link", TEXTAREA: "textbox", SELECT: "combobox", SUMMARY: "summary", ARTICLE: "article" };
  const INPUTS = { checkbox: "checkbox", radio: "radio", range: "slider", file: "file", submit: "button" };

  function roleOf(element) {
    const given = element.getAttribute("role");
    if (given) return given;
    if (element.tagName === "INPUT") return INPUTS[element.type] ?? "textbox";
    return ROLES[element.tagName] ?? "button";
  }

  /** @type {WeakMap<Element, string>} */
  let places = new WeakMap();

  /** In which part of the page something stands, as a person would say. */
  function placeOf(element) {
    const at = (element.matches(PLACES) ? element.parentElement : element)?.closest(PLACES);
    if (!at) return "";
    if (!places.has(at)) places.set(at, calledPlace(at));
    return places.get(at);
  }

  function calledPlace(at) {
    if (at.matches("article")) return `message of ${shortened(at.querySelector(".author")?.textContent ?? "the same")}`;
    if (at.matches(".notices")) return "notice";
    const labels = (at.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id));
    const label = labels.map((one) => one?.textContent ?? "").join(" ");
    const words = [label, at.getAttribute("aria-label"), at.querySelector("h1, h2, h3")?.textContent, at.id];
    return shortened(words.find((one) => one?.trim()) ?? at.tagName.toLowerCase());
  }

  function isShown(element) {
    // What is there for screen readers alone, until it has the focus.
    if (element.matches(".unseen:not(:focus)")) return false;
    if (element.closest("[inert]") || !element.checkVisibility(SEEN)) return false;
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1;
  }

  function isInWindow(element) {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  function offered(among = null) {
    places = new WeakMap();
    const modal = [...document.querySelectorAll("dialog[open]")].filter((dialog) => dialog.matches(":modal")).at(-1);
    const all = among ?? [...(modal ?? document).querySelectorAll(OFFERED)];
    return all.filter((element) => {
      if (modal && !modal.contains(element)) return false;
      if (element.matches(":disabled") || element.ariaDisabled === "true") return false;
      // A label stands for a hidden field of a file or a box.
      if (element.matches("input[type=file]")) return !element.closest("[inert]");
      return isShown(element);
    });
  }

  /** Controls by what the last look called them. @type {Map<string, Element>} */
  let called = new Map();

  /** Everything that is offered, with its names. */
  function named() {
    const counts = new Map();
    called = new Map();
    return offered().map((element) => {
      const names = described(element, counts);
      called.set(Object.values(names).join("\n"), element);
      return { element, names };
    });
  }

  function described(element, counts) {
    const role = roleOf(element);
    const name = nameOf(element);
    const place = placeOf(element);
    const key = `${place}\n${role}\n${name}`;
    const index = counts.get(key) ?? 0;
    counts.set(key, index + 1);
    return { role, name, place, index };
  }

  /** Where a control that was named is now; null where there is none. */
  function find({ role, name, place, index }) {
    const wanted = [role, name, place, index].join("\n");
    const last = called.get(wanted);
    if (last?.isConnected && nameOf(last) === name && offered([last]).length > 0) return last;
    named();
    return called.get(wanted) ?? null;
  }

  function spotOf(wanted) {
    const element = find(wanted);
    if (!element) return null;
    let box = element.getBoundingClientRect();
    const isWithin = () => box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;
    const isOutside = () => !isWithin() || !hits(element, box);
    for (const block of ["nearest", "center"]) {
      if (!isOutside()) break;
      element.scrollIntoView({ block, inline: "nearest" });
      box = element.getBoundingClientRect();
    }
    const { x, y } = middle(box);
    return { x, y, hit: hits(element, box), type: element.type ?? "", tag: element.tagName, href: element.href ?? "" };
  }

  /** The middle of what of a box is in the window. */
  function middle(box) {
    const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
    const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
    return { x: (left + right) / 2, y: (top + bottom) / 2 };
  }

  function hits(element, box = element.getBoundingClientRect()) {
    const { x, y } = middle(box);
    const hit = document.elementFromPoint(x, y);
    return !!hit && (element.contains(hit) || hit.contains(element) || hit.closest("label")?.control === element);
  }

  const draggables = () => [...document.querySelectorAll("[draggable=true]")].filter(isShown);

  /** Where a drag begins and ends. */
  function ends(from, to) {
    const all = draggables();
    if (all.length < 2) return null;
    const boxes = [all[from % all.length], all[to % all.length]].map((one) => one.getBoundingClientRect());
    return boxes.map(middle);
  }

  /** The middle of something that scrolls. */
  function scroller(index) {
    const all = [...document.querySelectorAll("body *")].filter((one) => {
      if (one.scrollHeight <= one.clientHeight + 1) return false;
      return /auto|scroll/.test(getComputedStyle(one).overflowY) && isShown(one);
    });
    return all.length === 0 ? null : middle(all[index % all.length].getBoundingClientRect());
  }

  /**
   * Resolves when this number of presses was heard and two frames went by without a change, after all that the server
   * has sent by then, with nothing asked for; or when the time is over.
   */
  async function quiet(inputs) {
    const end = performance.now() + PATIENCE_MS;
    while (state.inputs < inputs && performance.now() < end) await frame();
    const last = performance.now() + REST_MS;
    while (performance.now() < last) {
      await caughtUp();
      const before = state.mutations;
      await frame();
      await frame();
      if (before === state.mutations && asking === 0) return;
    }
  }

  window.__person = {
    state,
    draggables,
    ends,
    scroller,
    named,
    find,
    spotOf,
    middle,
    hits,
    isShown,
    isInWindow,
    nameOf,
    textWithout,
    placeOf,
    roleOf,
    /** The look, once the page has come to rest. */
    rested: async (inputs) => (await quiet(inputs), window.__person.look()),
    /** The picture, once the page has come to rest. */
    pictured: async (inputs) => (await quiet(inputs), window.__person.picture()),
  };
})();

// Friends, requests and blocked accounts; adding somebody by their name.

import { fill, h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { t, tn } from "../../words/catalogue.js";
import { incomingRequests } from "../../store/users.js";
import { writeTo } from "../../views/dialogs/write_to.js";
import { wordsOf } from "../../views/shell/faults.js";
import { avatarAddress, plainName, tagOf } from "../../views/names/people.js";
import { presenceDot, presenceWords } from "../../views/names/presence.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const TABS = /** @type {const} */ ([
  ["online", () => t("friends.online")],
  ["all", () => t("friends.all")],
  ["requests", () => t("friends.requests")],
  ["blocked", () => t("friends.blocked")],
]);
const FRIEND = 1;
const BLOCKED = 2;
const INCOMING = 3;

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {HTMLElement} parts.ground
 * @param {() => void} parts.back To the list, where one pane is shown.
 * @param {() => boolean} parts.isWanted Still.
 */
export function open({ app, ground, back, isWanted }) {
  if (!isWanted()) return;
  const { store, acts } = app;
  let tab = "online";
  const tabs = h("div", { role: "tablist", class: "tabs", "aria-label": t("direct.friends") });
  const list = h("ul", { class: "friends-list" });
  const panel = h(
    "div",
    { role: "tabpanel", class: "friends-panel", tabindex: "0", "aria-label": t("direct.friends") },
    list,
  );
  const element = h("main", { id: "talk", class: "talk friends", tabindex: "-1", "data-region": "" });
  const field = h("input", {
    class: "input",
    id: "friend-name",
    required: "",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: "37",
  });
  const said = h("p", { class: "small", role: "status" });
  const form = h("form", { class: "friends-add" }, h("label", { for: "friend-name" }, t("friends.add")), field);
  const mine = h("p", { class: "small muted", id: "friend-mine" });
  field.setAttribute("aria-describedby", "friend-mine");
  form.append(h("button", { type: "submit", class: "button primary" }, t("friends.ask")), mine, said);
  const returns = iconButton("back", t("head.back"), back);
  returns.classList.add("narrow-only");
  const head = h(
    "header",
    { class: "talk-head" },
    returns,
    h("span", { class: "head-sign" }, icon("friends")),
    h("h1", {}, t("direct.friends")),
    tabs,
  );
  fill(element, head, form, panel);

  for (const [name, words] of TABS) {
    const press = () => ((tab = name), draw());
    const one = h("button", { type: "button", role: "tab", class: "tab", click: press }, words());
    one.dataset["tab"] = name;
    tabs.append(one);
  }
  tabs.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    const all = TABS.map(([name]) => name);
    const at = all.findIndex((name) => name === tab) + (event.key === "ArrowRight" ? 1 : -1);
    tab = all.at(at % all.length) ?? "online";
    draw();
    /** @type {HTMLElement | null} */ (tabs.querySelector("[aria-selected=true]"))?.focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = field.value.trim();
    field.value = name;
    if (!field.reportValidity()) return;
    try {
      await acts.people.addFriend(name);
      field.value = "";
      fill(said, t("friends.asked", { name }));
    } catch (error) {
      fill(said, wordsOf(error));
    }
  });

  function draw() {
    for (const one of tabs.children) {
      const isIt = /** @type {HTMLElement} */ (one).dataset["tab"] === tab;
      one.setAttribute("aria-selected", String(isIt));
      one.setAttribute("tabindex", isIt ? "0" : "-1");
    }
    const waiting = incomingRequests(store.read);
    const requests = tabs.querySelector("[data-tab=requests]");
    requests?.querySelector(".badge")?.remove();
    if (waiting > 0) {
      const words = t("direct.requests", { n: waiting });
      requests?.append(h("span", { class: "badge", role: "img", "aria-label": words }, `${waiting}`));
    }
    const me = store.read.users.get(store.read.session.me);
    if (me) fill(mine, ...tn("friends.you_are", { tag: h("bdi", { class: "tag-of" }, tagOf(me)) }));
    const shown = [...store.read.relationships.values()].filter((entry) => isShown(entry));
    const words = EMPTY[tab]?.() ?? "";
    fill(list, ...(shown.length > 0 ? shown.map(row) : [h("li", { class: "muted friends-none" }, words)]));
  }

  /** @param {import("wire").Relationship} entry */
  function isShown({ id, type }) {
    if (tab === "blocked") return type === BLOCKED;
    if (tab === "requests") return type !== FRIEND && type !== BLOCKED;
    return type === FRIEND && (tab === "all" || store.read.presences.has(id));
  }

  /** @param {import("wire").Relationship} entry */
  function row({ id, type }) {
    const user = store.read.users.get(id) ?? { id, username: "", global_name: null, avatar: null };
    const status = store.read.presences.get(id)?.status ?? "offline";
    const picture = h("img", { class: "avatar small-avatar", alt: "", width: "32", height: "32" });
    picture.src = avatarAddress(user, 80);
    const name = plainName(user.global_name || user.username);
    const told = (/** @type {Promise<unknown>} */ done) => void done.catch(app.report);
    const write = () => writeTo(app, id);
    const words =
      type === INCOMING
        ? t("friends.wants")
        : type === FRIEND
          ? presenceWords(status)
          : type === BLOCKED
            ? t("friends.is_blocked")
            : t("friends.waits");
    const buttons = h("span", { class: "friend-buttons" });
    if (type === FRIEND) buttons.append(iconButton("send", t("profile.write"), () => told(write())));
    if (type === INCOMING) buttons.append(iconButton("check", t("profile.accept"), () => told(acts.people.accept(id))));
    const undo =
      type === FRIEND ? t("profile.unfriend") : type === BLOCKED ? t("profile.unblock") : t("friends.decline");
    buttons.append(iconButton("close", undo, () => told(acts.people.remove(id))));
    const open = () => app.open("profile", { userId: id, guildId: null, anchor: button });
    const button = h(
      "button",
      { type: "button", class: "member", "data-user": id, click: open },
      h("span", { class: "face-holder" }, picture, presenceDot(status, true)),
    );
    button.append(
      h(
        "span",
        { class: "panel-words" },
        h("bdi", { class: "clip panel-name" }, name),
        h("span", { class: "meta" }, words),
      ),
    );
    return h("li", { class: "friend" }, button, buttons);
  }

  const unwatch = store.watch(["*"], (topics) => {
    if (!element.isConnected) return unwatch();
    if ([...topics].some((topic) => topic === "relationships" || topic.startsWith("user:"))) draw();
    return undefined;
  });
  draw();
  fill(ground, element);
}

/** @type {Readonly<Record<string, () => string>>} */
const EMPTY = {
  online: () => t("friends.none_online"),
  all: () => t("friends.none"),
  requests: () => t("friends.no_requests"),
  blocked: () => t("friends.none_blocked"),
};

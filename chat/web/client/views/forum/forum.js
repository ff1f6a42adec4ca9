// A forum: its posts, the one with the newest answer first, by tags and words, and a new one.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { BITS, may } from "../../store/permissions.js";
import { isUnread } from "../../store/reads.js";
import { t } from "../../words/catalogue.js";
import { relative } from "../../words/dates.js";
import { makeHead } from "../names/head.js";
import { nameOf, plainName } from "../names/people.js";
import { quoted } from "../names/quoted.js";

/** @typedef {import("../shell/app.js").App} App */

const PAGE = 25;
const NAME_MAXIMUM = 100;
const TEXT_MAXIMUM = 4000;
const TEXT_SHOWN = 200;
const EPOCH_MS = 1_420_070_400_000n;

/** Whom a message shows. @param {import("wire").Message} message */
function peopleOf({ author, mentions = [] }) {
  return [author, ...mentions].map(({ id }) => id);
}

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 * @param {() => void} parts.back
 * @param {() => void} parts.toggleMembers
 * @returns {import("../shell/talk.js").Talk}
 */
export function makeForum({ app, channelId, guildId, back, toggleMembers }) {
  const { store, acts } = app;
  const head = makeHead({ app, channelId, guildId, back, toggleMembers });
  const words = h("input", {
    class: "input",
    type: "search",
    "aria-label": t("forum.search"),
    placeholder: t("forum.search"),
  });
  const fresh = h("button", { type: "button", class: "button primary", click: ask }, icon("add"), t("forum.new"));
  const tags = h("div", { class: "forum-tags", role: "group", "aria-label": t("forum.tags") });
  const list = h("ul", { class: "posts" });
  const more = h(
    "button",
    { type: "button", class: "button", hidden: "", click: () => void load(true) },
    t("forum.more"),
  );
  const scroller = h(
    "div",
    { class: "forum-scroll" },
    h("div", { class: "forum-bar" }, words, fresh),
    tags,
    list,
    more,
  );
  const element = h(
    "main",
    { id: "talk", class: "talk forum", tabindex: "-1", "data-region": "" },
    head.element,
    scroller,
  );
  /** @type {import("wire").Thread[]} */
  let posts = [];
  /** @type {Map<string, import("wire").Message>} the first message of a post */
  const firsts = new Map();
  /** @type {string | null} */
  let tag = null;
  let isOpen = false;
  let isStopped = false;
  let asked = 0;

  function channel() {
    return store.read.channels.get(channelId);
  }

  /** @param {boolean} further A page more, or from the beginning. */
  async function load(further) {
    const mine = (asked += 1);
    const query = {
      sort_by: "last_message_time",
      limit: PAGE,
      offset: further ? posts.length : 0,
      ...(tag && { tag }),
    };
    try {
      const found = await acts.threads.search(channelId, {
        ...query,
        ...(words.value.trim() && { name: words.value.trim() }),
      });
      // Others may have been asked for meanwhile.
      if (isStopped || mine !== asked) return;
      for (const message of found.first_messages) firsts.set(message.channel_id, message);
      if (guildId !== null) acts.members.know(guildId, found.first_messages.flatMap(peopleOf));
      posts = further ? [...posts, ...found.threads] : found.threads;
      more.hidden = !found.has_more;
      draw();
    } catch (error) {
      app.report(error);
    }
  }

  function draw() {
    const here = channel();
    if (!here) return;
    fresh.hidden = !may(store.read, here, BITS.SEND_MESSAGES);
    drawTags(here["available_tags"] ?? []);
    const shown = posts.map(({ id }) => store.read.channels.get(id)).filter((post) => post !== undefined);
    fill(list, ...(shown.length > 0 ? shown.map(card) : [h("li", { class: "muted post-none" }, t("forum.none"))]));
  }

  /** @param {import("wire").ForumTag[]} all */
  function drawTags(all) {
    tags.hidden = all.length === 0;
    fill(
      tags,
      ...all.map((one) => {
        const press = () => ((tag = tag === one.id ? null : one.id), void load(false));
        const button = h("button", {
          type: "button",
          class: "forum-tag small",
          "aria-pressed": String(tag === one.id),
          click: press,
        });
        button.append(...(one.emoji_name ? [`${one.emoji_name} `] : []), h("bdi", {}, plainName(one.name)));
        return button;
      }),
    );
  }

  /** @param {import("../../store/shapes.js").Channel} post */
  function card(post) {
    const first = firsts.get(post.id);
    const link = h("a", { class: "post", href: `/channels/${guildId}/${post.id}` });
    link.classList.toggle("unread", isUnread(store.read, post.id));
    const names = (channel()?.["available_tags"] ?? []).filter((one) => post["applied_tags"]?.includes(one.id));
    const labels = names.map((one) => h("span", { class: "forum-tag meta" }, h("bdi", {}, plainName(one.name))));
    const author = first ? nameOf({ store, guildId }, first.author) : "";
    const at = Number((BigInt(post.last_message_id ?? post.id) >> 22n) + EPOCH_MS);
    link.append(
      ...(labels.length > 0 ? [h("span", { class: "post-tags" }, ...labels)] : []),
      h("strong", { class: "post-name" }, h("bdi", {}, plainName(post.name ?? ""))),
      h(
        "span",
        { class: "post-text small muted" },
        h("bdi", {}, author),
        author ? ": " : "",
        h("bdi", {}, quoted(first?.content ?? "", { store, guildId }).slice(0, TEXT_SHOWN)),
      ),
      h(
        "span",
        { class: "meta" },
        t("forum.answers", { n: post["message_count"] ?? 0 }),
        ` \u00b7 ${relative(at, app.now())}`,
      ),
    );
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      app.go(`/channels/${guildId}/${post.id}`);
    });
    return h("li", {}, link);
  }

  /** Asks for a new post. */
  function ask() {
    const name = /** @type {HTMLInputElement} */ (
      h("input", { class: "input", id: "post-name", required: "", maxlength: String(NAME_MAXIMUM) })
    );
    const text = /** @type {HTMLTextAreaElement} */ (
      h("textarea", {
        class: "input",
        id: "post-text",
        required: "",
        rows: "6",
        maxlength: String(TEXT_MAXIMUM),
        dir: "auto",
      })
    );
    const choices = (channel()?.["available_tags"] ?? []).map((one) =>
      h(
        "label",
        { class: "check" },
        h("input", { type: "checkbox", value: one.id }),
        h("bdi", {}, plainName(one.name)),
      ),
    );
    const chosen = h("fieldset", { class: "field" }, h("legend", {}, t("forum.tags")), ...choices);
    const content = h(
      "div",
      {},
      h("div", { class: "field" }, h("label", { for: "post-name" }, t("forum.title")), name),
      h("div", { class: "field" }, h("label", { for: "post-text" }, t("forum.text")), text),
      ...(choices.length > 0 ? [chosen] : []),
    );
    const run = async () => {
      if (!name.reportValidity() || !text.reportValidity()) return false;
      const applied = [...chosen.querySelectorAll("input:checked")].map(
        (one) => /** @type {HTMLInputElement} */ (one).value,
      );
      const post = await acts.threads.post(channelId, name.value.trim(), text.value.trim(), applied);
      await load(false);
      app.go(`/channels/${guildId}/${post.id}`);
      return true;
    };
    app.layers.dialog({ title: t("forum.new"), content, wide: true, actions: [{ label: t("forum.make"), run }] });
  }

  let timer = 0;
  words.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void load(false), 300);
  });
  const unwatch = store.watch(
    [`channel:${channelId}`, `channels:${guildId}`],
    () => isOpen && (head.draw(), void load(false)),
  );
  // Who is named in a card may become known later.
  const unwatchPeople = store.watch([`guild:${guildId}`], () => isOpen && draw());
  return {
    element,
    channelId,
    open() {
      if (!isOpen) void load(false);
      isOpen = true;
    },
    focus: () => words.focus(),
    leaveUnread() {},
    stop() {
      isStopped = true;
      clearTimeout(timer);
      unwatch();
      unwatchPeople();
    },
  };
}

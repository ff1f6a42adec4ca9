// The field at the end of a channel: what is written, what it answers or changes, and how it is sent.

import { h } from "../../base/dom.js";
import { iconButton } from "../../base/icon.js";
import { newestOwn } from "../../store/logs.js";
import { t } from "../../words/catalogue.js";
import { makeAbout } from "./about.js";
import { formsOf } from "./candidates.js";
import { makeCompletion } from "./completion.js";
import { makeDraft } from "./drafts.js";
import { makeField } from "./field.js";
import { makeFiles } from "./files.js";
import { makeFormatting } from "./formatting.js";
import { makeNotice } from "./hindrance.js";
import { makeLateNames } from "./late_names.js";
import { makeSlowMode, pauseIn } from "./slow_mode.js";

/**
 * @typedef {object} ComposerParts
 * @property {import("../../store/store.js").Store} store
 * @property {import("../../acts/acts.js").Acts} acts
 * @property {string} channelId
 * @property {string | null} guildId
 * @property {string} name of the channel or person
 * @property {HTMLElement} ground where files may be dropped
 * @property {import("../../store/hindrances.js").Hindrance | null} hindrance why nobody may write, or none
 * @property {boolean} isArchived a message brings the thread back
 * @property {() => void} settle the hindrance may be over
 * @property {boolean} canAttach
 * @property {() => number} now
 * @property {(button: HTMLElement, insert: (text: string) => void, send: SendPicked) => void} pickEmoji
 * @property {(button: HTMLElement, send: (stickerId: string) => void) => void} pickSticker
 * @property {(button: HTMLElement, hand: import("../../areas/talk/later.js").Hand) => void} later asks when to send
 * @property {() => void} ask by a poll
 * @property {(leaf: import("./commands.js").Leaf) => void} invoke a command that was chosen
 * @property {(words: string) => void} announce
 * @property {() => void} intoRows the focus goes to the newest message
 * @property {() => void} sent something is on its way
 * @property {(error: unknown) => void} report
 */

/** @typedef {(picked: {content?: string, stickers?: string[], meme?: string}) => Promise<void>} SendPicked */

const LENGTH_MAXIMUM = 4000;
const COUNTED_FROM = 200;
const TYPING_MS = 8000;

/** @param {ComposerParts} parts */
export function makeComposer({
  store,
  acts,
  channelId,
  guildId,
  name,
  ground,
  hindrance,
  isArchived,
  settle: settleRights,
  canAttach,
  now,
  pickEmoji,
  pickSticker,
  later,
  ask,
  invoke,
  announce,
  intoRows,
  sent,
  report,
}) {
  const canSend = hindrance === null;
  const hint = canSend ? t("composer.message_to", { name }) : t("composer.forbidden");
  const placeholder = matchMedia("(width < 30rem)").matches ? t("composer.short") : hint; // where a name has no room
  const commands = () => acts.interactions.commands(channelId);
  const where = { store, channelId, guildId, find: acts.members.find, commands, invoke };
  const text = makeField({ label: hint, placeholder, formsOf: (source) => formsOf(where, source) });
  const field = text.area;
  const about = makeAbout(() => (leave(), field.focus()));
  const count = h("span", { class: "composer-count meta", role: "status" });
  const smile = iconButton("emoji", t("composer.emoji"));
  const stick = iconButton("sticker", t("composer.sticker"));
  const poll = iconButton("poll", t("composer.poll"), ask);
  const send = iconButton("send", t("composer.send"));
  send.type = "submit";
  send.classList.add("send");
  send.setAttribute("aria-keyshortcuts", "Alt+Enter");
  const files = makeFiles(ground, announce);
  const slow = makeSlowMode(() => pauseIn(store.read, channelId), now, settle);
  const completion = makeCompletion(text, where);
  const formatting = makeFormatting(text);
  const late = makeLateNames(where, acts.members.know, text);
  const attach = canAttach ? [files.button, files.input] : [];
  const signs = [poll, stick, smile, send];
  const line = h("div", { class: "composer-line" }, attach, text.element, count, slow.element, ...signs);
  const notice = hindrance && makeNotice(hindrance, now, settleRights);
  const archived = h("p", { class: "composer-archived meta" }, t("composer.archived"));
  const element = h(
    "form",
    { class: "composer", "aria-label": t("composer.name") },
    ...(notice ? [notice.element] : isArchived ? [archived] : []),
    completion.element,
    formatting.element,
    files.element,
    about.element,
    line,
  );
  const draft = makeDraft(channelId, acts.drafts, () => (edited === null ? text.text() : before), now);

  /** @type {import("../../store/shapes.js").Message | null} the message that is answered */
  let answered = null;
  /** @type {import("wire").Message | null} the message that is changed */
  let edited = null;
  /** What stood in the field before a message was taken to be changed. */
  let before = "";
  let typedAt = -TYPING_MS;
  let isUploading = false;

  function settle() {
    const left = LENGTH_MAXIMUM - text.text().length;
    count.textContent = left < COUNTED_FROM ? String(left) : "";
    count.classList.toggle("over", left < 0);
    const isEmpty = field.value.trim() === "" && files.count() === 0;
    const isReady = canSend && !isUploading && left >= 0 && (edited !== null || (!isEmpty && !slow.isWaiting()));
    send.setAttribute("aria-disabled", String(!isReady));
    return isReady;
  }

  /** @param {Event} event */
  function changed(event) {
    text.draw();
    settle();
    draft.changed();
    completion.look(/** @type {InputEvent} */ (event).isComposing, edited === null);
    if (edited !== null || field.value.trim() === "" || now() - typedAt < TYPING_MS) return;
    typedAt = now();
    void acts.messages.typing(channelId);
  }

  /** @param {string} content */
  function put(content) {
    text.put(content);
    late.look();
    settle();
  }

  function leave() {
    if (edited !== null) put(before);
    answered = null;
    edited = null;
    about.hide();
    settle();
  }

  /**
   * @param {import("wire").Message} message
   * @param {string} author its author's name here
   */
  function reply(message, author) {
    leave();
    answered = message;
    about.answers(author, message.author.id !== store.read.session.me);
    field.focus();
  }

  /** @param {import("wire").Message} message */
  function edit(message) {
    leave();
    before = text.text();
    edited = message;
    put(message.content);
    about.changes();
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  async function submit() {
    if (!settle()) return;
    const content = text.text().trim();
    if (edited !== null) return change(edited, content);
    const taken = files.take();
    const [reply, pings] = [answered, about.isPinging()];
    put("");
    leave();
    await draft.sent();
    slow.sent();
    const message = { content, reply, pings, files: taken, progress: files.draw };
    await uploading(taken, () => Promise.all([acts.messages.send(channelId, message), sent()])).catch(() => {
      if (taken.length > 0 && field.value === "") put(content);
    });
  }

  /**
   * Hand over what is written, with its files; where that fails it stays.
   * @type {import("../../areas/talk/later.js").Hand}
   */
  async function hand(run) {
    if (!settle() || edited !== null) return;
    const [content, taken] = [text.text().trim(), files.take()];
    const [reply, pings] = [answered, about.isPinging()];
    await uploading(taken, () => run({ content, reply, pings, files: taken, progress: files.draw }));
    put("");
    leave();
    await draft.sent();
  }

  /**
   * What was sent goes; what was not waits again.
   * @param {import("./files.js").Waiting[]} taken
   * @param {() => Promise<unknown>} run
   */
  async function uploading(taken, run) {
    isUploading = taken.length > 0;
    files.begin(taken);
    settle();
    const sending = run();
    const isSent = await sending.then(() => true, () => false);
    const left = isSent ? [] : taken.filter((one) => !one.controller.signal.aborted);
    isUploading = false;
    files.end(taken, left);
    settle();
    await sending;
  }

  /** @param {import("wire").Message} message @param {string} content */
  async function change(message, content) {
    leave();
    if (content === "" || content === message.content) return;
    const error = await acts.messages.edit(channelId, message.id, content).then(() => null, (why) => why);
    if (error === null) return;
    report(error);
    if (edited === null && text.text() === before) (edit(message), put(content));
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.isComposing || completion.takes(event) || formatting.takes(event)) return;
    if (event.key === "Enter" && event.altKey) {
      event.preventDefault();
      later(send, hand);
    } else if (event.key === "Enter" && !event.shiftKey && !matchMedia("(pointer: coarse)").matches) {
      event.preventDefault();
      void submit();
    } else if (event.key === "ArrowUp" && field.value === "" && edited === null) {
      event.preventDefault();
      const last = newestOwn(store.read, channelId);
      if (event.shiftKey) intoRows();
      else if (last !== null) edit(last);
    } else if (event.key === "Escape" && (edited !== null || answered !== null)) {
      event.stopPropagation();
      leave();
    } else if (event.key === "e" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      smile.click();
    }
  }

  /** @type {SendPicked} */
  async function sendPicked(picked) {
    if (slow.isWaiting()) return;
    const [reply, pings] = [answered, about.isPinging()];
    if (edited === null) leave();
    slow.sent();
    await acts.messages.send(channelId, { content: "", reply, pings, ...picked }).catch(report);
    sent();
  }

  field.disabled = !canSend;
  line.hidden = !canSend;
  field.addEventListener("input", changed);
  field.addEventListener("keydown", pressed);
  field.addEventListener("paste", (event) => {
    if (!canAttach || !event.clipboardData?.files.length) return;
    event.preventDefault();
    files.add(event.clipboardData.files);
    settle();
  });
  element.addEventListener("submit", (event) => (event.preventDefault(), void submit()));
  element.addEventListener("change", settle);
  ground.addEventListener("drop", settle);
  send.addEventListener("contextmenu", (event) => (event.preventDefault(), later(send, hand)));
  smile.addEventListener("click", () => pickEmoji(smile, text.insert, sendPicked));
  stick.addEventListener("click", () => pickSticker(stick, (id) => void sendPicked({ stickers: [id] })));
  void draft.load(put);
  settle();

  return {
    element,
    reply,
    edit,
    insert: text.insert,
    focus: () => field.focus(),
    stop() {
      draft.stop();
      for (const part of [completion, formatting, late, text, files, slow]) part.stop();
      notice?.stop();
      ground.removeEventListener("drop", settle);
    },
  };
}

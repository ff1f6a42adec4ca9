// People of an import, who have no account here: who asks for their messages, who has taken them over, and giving back.

import { fill, h } from "../../base/dom.js";
import { load } from "../../views/settings/loading.js";
import { t } from "../../words/catalogue.js";
import { full, number } from "../../words/dates.js";
import { invitingChannel } from "../../views/dialogs/guild_menu.js";
import { invite } from "../../views/dialogs/invite.js";
import { avatarAddress, nameOf } from "../../views/names/people.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("wire").Placeholder} Placeholder */
/** @typedef {import("wire").PartialUser} User */

const PAGE = 50;
/** The server counts no further. */
const COUNTED = 10_000;

/** @param {App} app @param {string} guildId */
export function oldNamesPage(app, guildId) {
  const { acts, layers, report, store } = app;
  const list = h("ul", { class: "guild-set-rows" }, h("li", { class: "muted" }, t("results.loading")));
  const press = () => load(app, next);
  const more = h("button", { type: "button", class: "button", hidden: "", click: press }, t("search.more"));
  const element = h(
    "div",
    { class: "guild-set-card" },
    h("p", { class: "muted" }, t("old_names.words")),
    list,
    more,
  );
  let last = "0";

  async function next() {
    const from = last;
    const page = await acts.oldNames.page(guildId, from, PAGE);
    if (from !== last) return; // pressed twice
    if (last === "0") fill(list, ...(page.length > 0 ? [] : [h("li", { class: "muted" }, t("old_names.none"))]));
    list.append(...page.map(row));
    last = page.at(-1)?.user.id ?? last;
    more.hidden = page.length < PAGE;
  }

  /** @param {User} user */
  const called = (user) => nameOf({ store, guildId }, user);

  /** Shows how it stands with somebody now, and goes on there with the focus. @param {Placeholder} person */
  function show(person) {
    const next = row(person);
    list.querySelector(`[data-person="${person.user.id}"]`)?.replaceWith(next);
    // A dialog gives the focus back as it closes.
    setTimeout(() => next.querySelector("button")?.focus());
  }

  /** @param {Placeholder} person @returns {HTMLElement} */
  function row(person) {
    const picture = h("img", { class: "avatar small-avatar", alt: "", width: "32", height: "32", loading: "lazy" });
    picture.src = avatarAddress(person.user, 80);
    const words = h(
      "span",
      { class: "panel-words" },
      h("bdi", { class: "clip panel-name" }, called(person.user)),
      h("span", { class: "meta" }, standing(person)),
    );
    const asked = person.requests.map(({ user }) => request(person, user));
    return h(
      "li",
      { class: "old-name", "data-person": person.user.id },
      picture,
      words,
      ...(person.claimed_by ? [back(person, person.claimed_by)] : inviting(person)),
      ...(asked.length > 0 ? [h("ul", { class: "old-name-requests" }, ...asked)] : []),
    );
  }

  /** @param {Placeholder} person */
  function standing({ claimed_by: member, claimed_at: at, message_count: count }) {
    if (member) return t("old_names.claimed", { name: called(member), time: full(Date.parse(at ?? "")) });
    return (count ?? 0) < COUNTED
      ? t("old_names.messages", { n: count ?? 0 })
      : t("old_names.many", { n: number(COUNTED) });
  }

  /** @param {Placeholder} person */
  function inviting({ user }) {
    const channel = invitingChannel(app, guildId);
    if (!channel) return [];
    const label = t("old_names.invite_of", { name: called(user) });
    return [button(t("old_names.invite"), label, () => void invite(app, channel, user).catch(report), true)];
  }

  /** @param {Placeholder} person @param {User} user */
  function request(person, user) {
    const names = { member: called(user), name: called(person.user) };
    const confirm = () =>
      layers.dialog({
        title: t("old_names.confirm_title", names),
        content: h("p", { class: "muted" }, t("old_names.confirm_words", names)),
        actions: [
          {
            label: t("old_names.confirm"),
            run: async () => {
              show(await acts.oldNames.claim(guildId, person.user.id, user.id));
              layers.toast(t("old_names.confirmed", names));
            },
          },
        ],
      });
    const refuse = async () => {
      await acts.oldNames.release(guildId, person.user.id, user.id);
      show(await acts.oldNames.one(guildId, person.user.id));
      layers.toast(t("old_names.refused"));
    };
    return h(
      "li",
      {},
      h("span", { class: "panel-words small" }, t("old_names.asks", names)),
      button(t("old_names.confirm"), t("old_names.confirm_of", names), confirm, true),
      button(t("old_names.refuse"), t("old_names.refuse_of", names), () => void refuse().catch(report)),
    );
  }

  /** @param {Placeholder} person @param {User} user */
  function back({ user: { id }, user: old }, user) {
    const names = { member: called(user), name: called(old) };
    const run = async () => {
      await acts.oldNames.release(guildId, id, user.id);
      show(await acts.oldNames.one(guildId, id));
      layers.toast(t("old_names.given_back", names));
    };
    const ask = () =>
      layers.dialog({
        title: t("old_names.give_back_of", names),
        content: h("p", { class: "muted" }, t("old_names.give_back_words", names)),
        actions: [{ label: t("old_names.give_back"), kind: "danger", run }],
      });
    return button(t("old_names.give_back"), t("old_names.give_back_of", names), ask, true);
  }

  load(app, next);
  return { element };
}

/** @param {string} words @param {string} label @param {() => void} press @param {boolean} [opens] A dialog. */
function button(words, label, press, opens = false) {
  const ways = { type: "button", class: "button small-button", "aria-label": label, click: press };
  return h("button", { ...ways, ...(opens && { "aria-haspopup": "dialog" }) }, words);
}

// A link that leads into a guild.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../names/people.js";

/** @typedef {import("../shell/app.js").App} App */

const DAY_S = 86_400;

/**
 * An invite, ready to be copied.
 * @param {App} app
 * @param {import("../../store/shapes.js").Channel} channel
 * @param {import("wire").PartialUser} [person] The person of an import whose messages go to who follows it.
 */
export async function invite(app, channel, person) {
  const { acts, layers } = app;
  const name = plainName(person?.global_name || person?.username || "");
  const whom = person ? { placeholder_id: person.id } : {};
  const field = /** @type {HTMLInputElement} */ (
    h("input", { class: "input", readonly: "", "aria-label": t("invite.link") })
  );
  const lasting = h("select", { class: "select", id: "invite-lasting" });
  for (const [seconds, words] of [
    [DAY_S, t("invite.day")],
    [7 * DAY_S, t("invite.week")],
    [0, t("invite.ever")],
  ]) {
    lasting.append(h("option", { value: String(seconds) }, String(words)));
  }
  lasting.value = String(7 * DAY_S);

  async function make() {
    try {
      const made = await acts.guilds.makeInvite(channel.id, { max_age: Number(lasting.value), max_uses: 0, ...whom });
      field.value = `${location.origin}/invite/${made.code}`;
      field.select();
    } catch (error) {
      app.report(error);
    }
  }

  lasting.addEventListener("change", () => void make());
  const label = h("label", { for: "invite-lasting" }, t("invite.lasting"));
  const content = h(
    "div",
    {},
    h("p", { class: "muted" }, person ? t("old_names.invite_words", { name }) : t("invite.words")),
    h("div", { class: "field" }, field),
    h("div", { class: "field" }, label, lasting),
  );
  const copy = async () => {
    await navigator.clipboard.writeText(field.value);
    layers.toast(t("invite.copied"));
  };
  const title = person ? t("old_names.invite_of", { name }) : t("guild.invite");
  layers.dialog({ title, content, actions: [{ label: t("invite.copy"), run: copy }] });
  await make();
}

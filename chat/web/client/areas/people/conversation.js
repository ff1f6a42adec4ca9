// A conversation with those who are chosen among the friends; a group with its name, its picture and one more person.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { fileField } from "../../views/dialogs/file_field.js";
import { dataAddress } from "../../base/data_address.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { scoreOf } from "../../views/names/matching.js";
import { avatarAddress, nameOf } from "../../views/names/people.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").User} User */

const FRIEND = 1;
const NAME_MAXIMUM = 100;
const PICTURES = "image/png,image/jpeg,image/gif,image/webp";

/** @param {{app: App, channelId?: string}} parts Without a channel a conversation begins. */
export function open({ app, channelId }) {
  if (channelId === undefined) begin(app);
  else change(app, channelId);
}

/** @param {App} app */
function begin(app) {
  const { layers, acts } = app;
  const friends = friendPicker(app, new Set());
  const run = async () => {
    if (friends.chosen.size === 0) return false;
    const id = await acts.people.openConversation([...friends.chosen]);
    app.go(`/channels/@me/${id}`);
    return true;
  };
  const content = h("div", {}, h("p", { class: "muted" }, t("conversation.words")), friends.element);
  layers.dialog({ title: t("conversation.begin"), content, actions: [{ label: t("conversation.begin_it"), run }] });
}

/** @param {App} app @param {string} channelId */
function change(app, channelId) {
  const { store, layers, acts } = app;
  const channel = store.read.channels.get(channelId);
  if (!channel) return;
  const name = h("input", {
    class: "input",
    id: "group-name",
    maxlength: String(NAME_MAXIMUM),
    autocomplete: "off",
    placeholder: nameOfChannel(store.read, { ...channel, name: "" }),
  });
  name.value = channel.name ?? "";
  const { element, input: picture } = fileField("group-picture", t("new_guild.picture"), PICTURES);
  const friends = friendPicker(app, new Set((channel.recipients ?? []).map(({ id }) => id)));
  const run = async () => {
    const file = picture.files?.[0];
    const changes = {
      ...(name.value.trim() !== (channel.name ?? "") && { name: name.value.trim() || null }),
      ...(file && { icon: await dataAddress(file) }),
    };
    if (Object.keys(changes).length > 0) await acts.people.changeGroup(channelId, changes);
    for (const id of friends.chosen) await acts.people.addToGroup(channelId, id);
    return true;
  };
  const content = h(
    "div",
    {},
    h("div", { class: "field" }, h("label", { for: "group-name" }, t("conversation.group_name")), name),
    element,
    h("h3", { class: "meta" }, t("conversation.add")),
    friends.element,
  );
  layers.dialog({ title: t("conversation.change"), content, actions: [{ label: t("panel.save"), run }] });
}

/**
 * Friends with a box before each.
 * @param {App} app
 * @param {Set<string>} without Those who are there already.
 */
function friendPicker({ store }, without) {
  /** @type {Set<string>} */
  const chosen = new Set();
  const all = [...store.read.relationships.values()]
    .filter(({ type, id }) => type === FRIEND && !without.has(id))
    .map(({ id }) => store.read.users.get(id))
    .filter((user) => user !== undefined);
  const search = h("input", { class: "input", type: "search", id: "friend-search", autocomplete: "off" });
  const rows = h("div");
  const none = h(
    "p",
    { class: "muted small" },
    all.length === 0 ? t("conversation.no_friends") : t("conversation.none"),
  );
  const list = h("fieldset", { class: "forward-list" }, h("legend", { class: "unseen" }, t("direct.friends")), rows);

  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const found = all.filter((user) => scoreOf(nameOf({ store, guildId: null }, user), wanted) !== null);
    fill(rows, ...(found.length > 0 ? found.map(row) : [none]));
  }

  /** @param {User} user */
  function row(user) {
    const box = h("input", { type: "checkbox", value: user.id });
    box.checked = chosen.has(user.id);
    box.addEventListener("change", () => (box.checked ? chosen.add(user.id) : chosen.delete(user.id)));
    const face = h("img", { class: "avatar tiny", alt: "", width: "24", height: "24", src: avatarAddress(user, 80) });
    return h(
      "label",
      { class: "check" },
      box,
      face,
      h("bdi", { class: "clip" }, nameOf({ store, guildId: null }, user)),
    );
  }

  search.addEventListener("input", draw);
  draw();
  const label = h("label", { for: "friend-search" }, t("conversation.search"));
  return { element: h("div", {}, h("div", { class: "field" }, label, search), list), chosen };
}

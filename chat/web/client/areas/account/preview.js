// The account's card as others see it, with what is not saved yet.

import { fill, h } from "../../base/dom.js";
import { body } from "../../views/messages/body.js";
import { avatarAddress, plainName } from "../../views/names/people.js";
import { presenceDot } from "../../views/names/presence.js";
import { t } from "../../words/catalogue.js";

/** @param {import("../../views/shell/app.js").App} app */
export function makePreview({ store }) {
  const element = h("div", { class: "preview-card" });
  return {
    element,
    /**
     * Pictures of the account stand by name or as data addresses.
     * @param {Partial<import("wire").PrivateUser> & {id: string}} user
     */
    draw(user) {
      const banner = h("div", { class: "preview-banner" });
      if (user.accent_color != null) {
        banner.style.setProperty("background-color", `#${user.accent_color.toString(16).padStart(6, "0")}`);
      }
      if (user.banner) {
        const picture = h("img", { alt: "" });
        picture.addEventListener("error", () => picture.remove(), { once: true });
        picture.src = isData(user.banner) ? user.banner : `/media/banners/${user.id}/${user.banner}.webp?size=600`;
        banner.append(picture);
      }
      const face = h("img", { class: "preview-face", alt: "", width: "80", height: "80" });
      // What this browser cannot draw, a HEIC for example, the server can.
      face.addEventListener("error", () => (face.src = avatarAddress({ id: user.id }, 160)), { once: true });
      const { avatar = null } = user;
      face.src = isData(avatar) ? avatar : avatarAddress({ id: user.id, avatar }, 160);
      const about = user.bio ? body(user.bio, { store, guildId: null }) : null;
      const status = store.read.settings?.["status"] ?? "online";
      fill(
        element,
        banner,
        h("span", { class: "face-holder" }, face, presenceDot(status)),
        h(
          "div",
          { class: "preview-words" },
          h("p", { class: "preview-name" }, h("bdi", {}, plainName(user.global_name || user.username || ""))),
          h(
            "p",
            { class: "small muted" },
            h("bdi", {}, plainName(user.username || "")),
            ...(user.pronouns ? [" \u00b7 ", h("bdi", {}, plainName(user.pronouns))] : []),
          ),
          ...(about ? [h("h3", { class: "meta" }, t("profile.about")), about] : []),
        ),
      );
    },
  };
}

/**
 * @param {unknown} picture
 * @returns {picture is string}
 */
function isData(picture) {
  return typeof picture === "string" && picture.startsWith("data:");
}

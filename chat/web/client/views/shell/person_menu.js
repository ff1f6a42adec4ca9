// The menu of a person everywhere: whatever shows somebody says who it is (`data-user`), and the right button, the menu
// key or a finger that rests asks here.

import { spotOf } from "../../base/spot.js";

/** @param {import("./app.js").App} app */
export function personMenus(app) {
  document.addEventListener("contextmenu", (event) => {
    const shown = event.target instanceof Element ? event.target.closest("[data-user]") : null;
    if (!(shown instanceof HTMLElement) || event.defaultPrevented) return;
    event.preventDefault();
    const { guildId } = app.place();
    app.open("person_menu", { userId: shown.dataset["user"], guildId, spot: spotOf(event, shown) });
  });
}

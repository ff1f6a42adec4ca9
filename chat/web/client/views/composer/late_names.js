// Names of those whom nobody knew yet when a text was put into the field, as after a reload: they are asked for, and
// stand in place of their ids once they are there.

import { ALL } from "../../store/store.js";
import { formsOf } from "./candidates.js";
import { SOURCE } from "./names.js";

const PERSON = /^<@!?(\d+)>$/;

/**
 * @param {import("./candidates.js").Where} where
 * @param {(guildId: string, userIds: string[]) => void} know
 * @param {import("./field.js").Field} field
 */
export function makeLateNames(where, know, field) {
  let stop = () => {};

  /** A text was put just now. */
  function look() {
    stop();
    const shown = field.area.value;
    const sources = (shown.match(SOURCE) ?? []).filter((source) => formsOf(where, source).length === 0);
    if (sources.length === 0) return;
    const people = sources.flatMap((source) => PERSON.exec(source)?.[1] ?? []);

    function settle() {
      if (field.area.value !== shown) return stop(); // somebody types
      if (where.guildId !== null) know(where.guildId, people);
      if (!sources.some((source) => formsOf(where, source).length > 0)) return;
      const isAtEnd = field.area.selectionEnd === shown.length;
      field.put(field.text());
      if (isAtEnd) field.area.setSelectionRange(field.area.value.length, field.area.value.length);
      look();
    }

    stop = where.store.watch([ALL], settle);
    settle();
  }

  return { look, stop: () => stop() };
}

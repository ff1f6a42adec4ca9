// What a store knows: a tab that opens now is told a clone of it, and knows the same.

import { deepStrictEqual } from "node:assert";

import { adopt, cloneOf } from "../../../chat/web/client/store/clone.js";
import { picture } from "../../../chat/web/client/store/picture.js";
import { makeStore } from "../../../chat/web/client/store/store.js";

export function pictureOfBoth(state) {
  const store = makeStore();
  const told = structuredClone(cloneOf(state));
  store.put((read, touch) => adopt(read, told, touch));
  const known = picture(state);
  deepStrictEqual(picture(store.read), known);
  return known;
}

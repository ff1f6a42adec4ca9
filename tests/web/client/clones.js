// What a tab that has just opened knows, after another has told it.

import { adopt, cloneOf } from "../../../chat/web/client/store/clone.js";
import { picture } from "../../../chat/web/client/store/picture.js";
import { makeStore } from "../../../chat/web/client/store/store.js";

export function pictureOfClone(state) {
  const store = makeStore();
  const told = structuredClone(cloneOf(state));
  store.put((read, touch) => adopt(read, told, touch));
  return picture(store.read);
}

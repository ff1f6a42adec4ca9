// Logs of the store as the oracle of messages opens, closes and reads them.

import { putPage } from "../../../chat/web/client/store/logs.js";

export function open(store, channelId, page) {
  store.put((state, touch) => {
    state.logs.delete(channelId);
    putPage(state, channelId, page, { before: true, after: false }, touch);
  });
}

export function close(store, channelId) {
  store.put((state) => state.logs.delete(channelId));
}

export function messages(store, channelId) {
  const log = store.read.logs.get(channelId);
  return log.ids.map((id) => log.byId.get(id));
}

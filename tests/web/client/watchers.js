// What watchers of a store hear.

import { makeStore } from "../../../chat/web/client/store/store.js";

function acknowledge(store, channelId) {
  store.apply("MESSAGE_ACK", { channel_id: channelId, message_id: "9", mention_count: 0 });
}

export function onceAFlush() {
  let wakes = 0;
  const store = makeStore({ wake: () => (wakes += 1) });
  const runs = [];
  const stop = store.watch(["read:5", "read:6"], (touched) => runs.push([...touched].sort()));
  acknowledge(store, "5");
  acknowledge(store, "5");
  acknowledge(store, "6");
  const before = [...runs];
  store.flush();
  const first = [...runs];
  store.flush();
  const again = [...runs];
  stop();
  acknowledge(store, "6");
  const versions = ["read:5", "read:6", "read:7"].map((topic) => store.version(topic));
  store.flush();
  return { before, runs: first, again, ended: runs, wakes, versions: [versions[0], versions[1] - 1, versions[2]] };
}

export function oneThrows() {
  const reported = [];
  const store = makeStore({ report: (error) => reported.push(`${error}`) });
  let ran = 0;
  store.watch(["read:5"], () => (ran += 1));
  store.watch(["read:5"], () => {
    throw new Error("oh");
  });
  store.watch(["read:5"], () => (ran += 1));
  acknowledge(store, "5");
  store.flush();
  return { ran, reported };
}

// A channel of many messages without a server: `window.channel` has the list, its store, and what it asked for.
async ({ count, unread, loaded, failures, picture }) => {
  const client = document.body.dataset.client;
  const { makeMessageList } = await import(`${client}/views/messages/list.js`);
  const { useCatalogue } = await import(`${client}/words/catalogue.js`);
  useCatalogue(await (await fetch(`${client}/words/en.json`)).json(), "en");
  const START = Date.UTC(2026, 10, 1, 9);
  const EPOCH = 1_000_000;
  const PEOPLE = ["Ana", "Ben", "Cem", "Dora"].map((name, index) => ({
    id: String(index + 1),
    username: name.toLowerCase(),
    global_name: name,
    avatar: null,
  }));
  // The same number always gives the same: what is shown is as random as it looks, and the same in each run.
  const mixed = (number) => (Math.imul(number ^ 0x9e3779b9, 2654435761) >>> 0) / 2 ** 32;
  const idOf = (number) => String(EPOCH + number * 10);
  const words =
    "we sow tomato seed in March and the leaves come up before the last frost has gone from the plots".split(" ");
  const text = (number) =>
    Array.from(
      { length: 1 + Math.floor(mixed(number) ** 3 * 90) },
      (_, at) => words[(number + at) % words.length],
    ).join(" ");
  const message = (number, more = {}) => ({
    id: idOf(number),
    channel_id: "100",
    type: 0,
    flags: 0,
    content: text(number),
    author: PEOPLE[Math.floor(number / 3) % 4],
    timestamp: new Date(START + number * 97_000).toISOString(),
    edited_timestamp: number % 23 === 0 ? new Date(START).toISOString() : null,
    pinned: false,
    mention_everyone: false,
    mentions: [],
    mention_roles: [],
    embeds: [],
    stickers: [],
    attachments:
      number % 17 === 0
        ? [
            {
              id: `${number}`,
              filename: "leaf.png",
              content_type: "image/png",
              flags: 0,
              size: 900,
              width: 400,
              height: 300,
              url: picture,
              title: null,
              description: "A leaf",
            },
          ]
        : [],
    reactions:
      number % 11 === 0 ? [{ emoji: { name: "\u{1F331}", id: null }, count: 2, me: number % 2 === 0 }] : [],
    ...more,
  });
  const all = new Map(Array.from({ length: count }, (_, number) => [idOf(number), message(number)]));
  const ids = () => [...all.keys()].sort((a, b) => a - b);
  const watchers = new Set();
  const logs = new Map();
  const read = {
    session: { me: "9" },
    users: new Map(PEOPLE.map((one) => [one.id, one])),
    guilds: new Map(),
    channels: new Map(),
    reads: new Map([["100", { last: idOf(count - 1 - unread), mentions: 0 }]]),
    logs,
    outbox: new Map(),
    used: new Map(),
  };
  const tell = () => watchers.forEach((run) => run());
  const store = { read, watch: (_, run) => (watchers.add(run), () => watchers.delete(run)) };
  const asked = [];
  const put = (page) => {
    const known = ids();
    const old = logs.get("100");
    const touches = old && page.some((id) => old.byId.has(id));
    const next =
      old &&
      page.length &&
      (touches ||
        known.indexOf(old.ids.at(-1)) + 1 === known.indexOf(page[0]) ||
        known.indexOf(page.at(-1)) + 1 === known.indexOf(old.ids[0]));
    const merged = [...new Set([...(next ? old.ids : []), ...page])].sort((a, b) => a - b);
    logs.set("100", {
      ids: merged,
      byId: new Map(merged.map((id) => [id, all.get(id)])),
      before: merged[0] !== known[0],
      after: merged.at(-1) !== known.at(-1),
      fault: null,
    });
  };
  let fails = failures;
  const acts = {
    guilds: { knownInvite: async () => null },
    messages: new Proxy(
      {
        history: async (_, query) => {
          asked.push(["history", query]);
          await new Promise((resolve) => setTimeout(resolve));
          if (fails > 0) throw ((fails -= 1), new Error("no answer"));
          const known = ids();
          const { limit } = query;
          const at = (id) => known.findIndex((one) => one >= Number(id));
          if (query.before) put(known.slice(Math.max(0, at(query.before) - limit), at(query.before)));
          else if (query.after) put(known.slice(at(query.after) + 1, at(query.after) + 1 + limit));
          else if (query.around)
            put(known.slice(Math.max(0, at(query.around) - limit / 2), at(query.around) + limit / 2));
          else put(known.slice(-limit));
          tell();
        },
      },
      { get: (target, name) => target[name] ?? (async (...args) => void asked.push([name, ...args])) },
    ),
    reads: {
      acknowledge: async (...args) => void asked.push(["acknowledge", ...args]),
      markUnread: async (...args) => void asked.push(["markUnread", ...args]),
    },
  };
  if (loaded) put(ids().slice(-loaded));
  const said = [];
  const done = [];
  const list = makeMessageList({
    store,
    acts,
    channelId: "100",
    guildId: null,
    isWatched: () => true,
    on: (act, one) => done.push([act, one.id]),
    announce: (what) => said.push(what),
  });
  const main = document.createElement("main");
  main.append(
    Object.assign(document.createElement("h1"), { textContent: "seeds", className: "unseen" }),
    list.element,
  );
  main.style.display = "grid";
  main.style.gridTemplateRows = "minmax(0, 1fr)";
  main.style.blockSize = "100dvb";
  document.body.replaceChildren(main);
  document.title = "seeds";
  const change = (id, one) => {
    const log = logs.get("100");
    one === null ? all.delete(id) : all.set(id, one);
    if (log.byId.has(id) || (one !== null && !log.after)) {
      const next =
        one === null
          ? log.ids.filter((other) => other !== id)
          : [...new Set([...log.ids, id])].sort((a, b) => a - b);
      logs.set("100", { ...log, ids: next, byId: new Map(next.map((other) => [other, all.get(other)])) });
    }
    tell();
  };
  const scroller = list.element.querySelector(".scroller");
  window.channel = {
    list,
    asked,
    said,
    done,
    scroller,
    idOf,
    message,
    change,
    read,
    tell,
    all,
    mounted: () => [...list.element.querySelectorAll("article")].map((one) => one.dataset.id),
    row: (id) => list.element.querySelector(`article[data-id="${id}"]`),
    frame: () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    // The row that is read: the first one that ends well below the upper edge. And where it stands.
    held: () => {
      const edge = scroller.getBoundingClientRect().top + 150;
      const row = [...scroller.querySelectorAll(".slot")].find((one) => one.getBoundingClientRect().bottom > edge);
      return row && [row.querySelector("article").dataset.id, row.getBoundingClientRect().top];
    },
    place: (id) =>
      document.querySelector(`article[data-id="${id}"]`)?.parentElement.getBoundingClientRect().top ?? null,
    // Some mounted row that is not the one that is read.
    other: (number) => {
      const ids = window.channel.mounted().filter((id) => id !== window.channel.held()[0]);
      return ids[number % ids.length];
    },
  };
  await list.open(null);
  await window.channel.frame();
};

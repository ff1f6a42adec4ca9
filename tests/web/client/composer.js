// A composer without a server: `window.composer` has it and what it asked its acts for.
async ({ slow, refuses }) => {
  const client = document.body.dataset.client;
  const { makeComposer } = await import(`${client}/views/composer/composer.js`);
  const { makeDraftActs } = await import(`${client}/acts/drafts.js`);
  const { makeStore } = await import(`${client}/store/store.js`);
  const { useCatalogue } = await import(`${client}/words/catalogue.js`);
  useCatalogue(await (await fetch(`${client}/words/en.json`)).json(), "en");
  const store = makeStore();
  const ana = { id: "1", username: "ana", global_name: "Ana", avatar: null };
  const own = { id: "7", channel_id: "5", type: 0, content: "me first", author: ana };
  store.put((state) => {
    state.session.me = "1";
    state.users.set("1", ana);
    state.users.set("2", { id: "2", username: "ben", global_name: "Ben <b>", avatar: null });
    const members = new Map([["1", { user: { id: "1" }, roles: [] }], ["2", { user: { id: "2" }, roles: [] }]]);
    state.guilds.set("4", { id: "4", properties: { owner_id: "3" }, members, roles: new Map(), emojis: [] });
    state.channels.set("5", { id: "5", type: 0, guild_id: "4", name: "seeds", rate_limit_per_user: slow });
    state.logs.set("5", { ids: ["7"], byId: new Map([["7", own]]), before: false, after: false, fault: null });
  });
  const asked = [];
  const act = (name) => async (...given) => {
    asked.push([name, ...JSON.parse(JSON.stringify(given.slice(1), (key, value) => (key === "files" ? value.length : value)))]);
    if (refuses === name) throw new Error("refused");
  };
  const rest = { get: async () => [], put: async () => null };
  const drafts = makeDraftActs({ store, rest, now: Date.now });
  const acts = { messages: { send: act("send"), edit: act("edit"), typing: act("typing") }, members: { find: () => {} }, drafts };
  const ground = document.createElement("main");
  const composer = makeComposer({
    store,
    acts,
    channelId: "5",
    guildId: "4",
    name: "#seeds",
    ground,
    hindrance: null,
    isArchived: false,
    settle: () => {},
    canAttach: true,
    now: () => Date.now(),
    pickEmoji: (_, insert) => insert("\u{1F331}"),
    announce: () => {},
    intoRows: () => asked.push(["rows"]),
    sent: () => {},
    report: () => {},
  });
  const heading = document.createElement("h1");
  heading.textContent = "seeds";
  ground.append(heading, composer.element);
  document.body.append(ground);
  document.body.dataset.mounted = "yes";
  window.composer = { composer, asked, own };
}

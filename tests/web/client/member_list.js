// A member list without a server: `window.members` has it, and the rows that it asked for.
async ({ people }) => {
  const client = document.body.dataset.client;
  const { makeMemberList } = await import(`${client}/views/members/member_list.js`);
  const { makeStore } = await import(`${client}/store/store.js`);
  const { useCatalogue } = await import(`${client}/words/catalogue.js`);
  useCatalogue(await (await fetch(`${client}/words/en.json`)).json(), "en");
  const store = makeStore({ wake: () => queueMicrotask(() => store.flush()) });
  const groups = [
    { id: "9", count: 2 },
    { id: "online", count: people - 3 },
    { id: "offline", count: 1 },
  ];
  const STATUSES = ["online", "idle", "dnd"];
  const items = groups.flatMap((group, at) => [
    { group },
    ...Array.from({ length: group.count }, (_, place) => {
      const id = String(100 + at * 1_000_000 + place);
      const user = { id, username: `p${id}`, global_name: place === 0 ? `First <b> of ${group.id}` : null, avatar: null };
      const status = group.id === "offline" ? "offline" : STATUSES[place % 3];
      const custom_status = place === 1 ? { text: "in the \u202egarden", emoji_id: null, emoji_name: null } : null;
      const roles = group.id === "9" ? ["9"] : [];
      return { member: { user, nick: null, roles, presence: { status, custom_status } } };
    }),
  ]);
  const asked = [];
  const opened = [];
  store.put((state) => {
    state.session.me = "100";
    const roles = new Map([["9", { id: "9", name: "Gardeners", position: 2, color: 0xe91e63, hoist: true }]]);
    const properties = { owner_id: "100" };
    const own = { user: { id: "100" }, roles: [], nick: null };
    state.guilds.set("4", { id: "4", properties, members: new Map([["100", own]]), roles, emojis: [] });
    state.channels.set("5", { id: "5", type: 0, guild_id: "4", name: "seeds" });
  });
  const show = (guildId, channelId, ranges) => {
    asked.push(ranges);
    const ops = ranges.map(([start, end]) => ({ range: [start, end], items: items.slice(start, end + 1) }));
    const counts = { member_count: people, online_count: people - 1 };
    store.apply("GUILD_MEMBER_LIST_UPDATE", { guild_id: guildId, id: channelId, groups, ops, ...counts });
  };
  const app = { store, acts: { interest: { show } }, open: (name, { userId }) => opened.push([name, userId]) };
  const list = makeMemberList({ app, channelId: "5", guildId: "4" });
  const main = document.createElement("main");
  const heading = document.createElement("h1");
  heading.textContent = "seeds";
  main.append(heading);
  document.body.replaceChildren(main, list.element);
  list.element.style.setProperty("block-size", "600px");
  window.members = { list, asked, opened, length: items.length, store, groups };
}

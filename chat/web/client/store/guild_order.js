// The order of guilds in the rail: folders and single guilds, as the account has set them; new ones come first.

/** @typedef {import("./shapes.js").Guild} Guild */
/** @typedef {import("./shapes.js").State} State */
/** @typedef {{id: number, name: string | null, color: number | null, guilds: Guild[]}} Folder */
/** @typedef {{key: string, guild: Guild, folder: null} | {key: string, guild: null, folder: Folder}} Entry */

/** The folder that stands for those in none. */
const LOOSE = -1;

/**
 * @param {State} state
 * @returns {Entry[]}
 */
export function railEntries(state) {
  const left = new Map(state.guilds);
  /** @type {Entry[]} */
  const entries = [];
  for (const folder of state.settings?.["guild_folders"] ?? []) {
    const guilds = folder.guild_ids.map((id) => left.get(id)).filter((guild) => guild !== undefined);
    for (const guild of guilds) left.delete(guild.id);
    if (folder.id === LOOSE || folder.id === null) entries.push(...guilds.map(single));
    else if (guilds.length > 0) entries.push(folderOf({ ...folder, guilds }));
  }
  return [...[...left.values()].map(single), ...entries];
}

/**
 * @param {Guild} guild
 * @returns {Entry}
 */
function single(guild) {
  return { key: guild.id, guild, folder: null };
}

/** @param {State} state */
export function orderedGuilds(state) {
  return railEntries(state).flatMap((entry) => entry.guild ?? entry.folder.guilds);
}

/**
 * The entries after one has been moved.
 * @param {Entry[]} entries
 * @param {number} from
 * @param {number} to
 */
export function moved(entries, from, to) {
  const next = [...entries];
  const [entry] = next.splice(from, 1);
  if (entry) next.splice(to, 0, entry);
  return next;
}

/**
 * The entries with a guild in that folder: in a new one of that name where it has no id, in none where it is null.
 * @param {Entry[]} entries
 * @param {Guild} guild
 * @param {{id: number} | {name: string} | null} wanted
 * @returns {Entry[]}
 */
export function inFolder(entries, guild, wanted) {
  return entries.flatMap((entry) => {
    const isHere = entry.guild ? entry.guild.id === guild.id : entry.folder.guilds.some(({ id }) => id === guild.id);
    const guilds = (entry.folder?.guilds ?? []).filter(({ id }) => id !== guild.id);
    /** @type {Entry[]} */
    const found = [];
    if (isHere && wanted === null) found.push(single(guild));
    if (isHere && wanted !== null && "name" in wanted) {
      found.push(folderOf({ id: freeId(entries), name: wanted.name, color: null, guilds: [guild] }));
    }
    if (entry.folder && wanted !== null && "id" in wanted && entry.folder.id === wanted.id) guilds.push(guild);
    if (entry.folder && guilds.length > 0) found.unshift(folderOf({ ...entry.folder, guilds }));
    return entry.guild && !isHere ? [entry] : found;
  });
}

/**
 * The entries with a folder under another name; without it, its guilds in its place, where that is null.
 * @param {Entry[]} entries
 * @param {number} id
 * @param {string | null} name
 * @returns {Entry[]}
 */
export function renamedFolder(entries, id, name) {
  return entries.flatMap((entry) => {
    if (entry.folder?.id !== id) return [entry];
    return name === null ? entry.folder.guilds.map(single) : [folderOf({ ...entry.folder, name })];
  });
}

/** @param {Folder} folder @returns {Entry} */
function folderOf(folder) {
  return { key: `folder:${folder.id}`, guild: null, folder };
}

/** @param {Entry[]} entries */
function freeId(entries) {
  return Math.max(0, ...entries.map(({ folder }) => folder?.id ?? 0)) + 1;
}

/**
 * The order and the folders as the settings keep them.
 * @param {Entry[]} next
 */
export function orderSettings(next) {
  const positions = next.flatMap((entry) => (entry.guild ? [entry.guild.id] : entry.folder.guilds.map(({ id }) => id)));
  const folders = next.map((entry) =>
    entry.guild
      ? { id: LOOSE, name: null, color: null, guild_ids: [entry.guild.id] }
      : {
          id: entry.folder.id,
          name: entry.folder.name,
          color: entry.folder.color,
          guild_ids: entry.folder.guilds.map(({ id }) => id),
        },
  );
  return { positions, folders };
}

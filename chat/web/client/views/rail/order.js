// The order of guilds in the rail: folders and single guilds, as the account has set them; new ones come first.

/** @typedef {import("../../store/shapes.js").Guild} Guild */
/** @typedef {import("../../store/shapes.js").State} State */
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
    const guilds = folder.guild_ids.map((/** @type {string} */ id) => left.get(id)).filter(Boolean);
    for (const guild of guilds) left.delete(guild.id);
    if (folder.id === LOOSE || folder.id === null || guilds.length < 2) entries.push(...guilds.map(single));
    else entries.push({ key: `folder:${folder.id}`, guild: null, folder: { ...folder, guilds } });
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
 * The order and the folders after an entry has been moved, as the settings keep them.
 * @param {Entry[]} entries
 * @param {number} from
 * @param {number} to
 */
export function movedOrder(entries, from, to) {
  const next = [...entries];
  const [moved] = next.splice(from, 1);
  if (moved) next.splice(to, 0, moved);
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

// Where the person is: addresses of this client, and the way back and forward.

/**
 * @typedef {object} Place
 * @property {string | null} guildId None: conversations.
 * @property {string | null} channelId
 * @property {string | null} messageId
 * @property {boolean} isFriends Friends are looked at, and no channel.
 * @property {boolean} isStart After signing in: nothing was chosen.
 * @property {string | null} settings The page of the settings of this guild, or of the account.
 */

const ID = /^\d{1,20}$/;

/**
 * What an address of the client means; anything else is the beginning.
 * @param {string} path
 * @returns {Place}
 */
export function placeOf(path) {
  const [, root, first = "@me", second = null, third = null] = path.split("/");
  const guildId = root === "channels" && ID.test(first) ? first : null;
  if (second === "settings")
    return { guildId, channelId: null, messageId: null, isFriends: false, isStart: false, settings: third ?? "" };
  const channelId = second !== null && ID.test(second) ? second : null;
  const messageId = channelId !== null && third !== null && ID.test(third) ? third : null;
  const named = guildId === null ? second : null;
  return {
    guildId,
    channelId,
    messageId,
    isFriends: named === "friends",
    isStart: named === "start",
    settings: null,
  };
}

/**
 * @param {Partial<Place>} place
 */
export function pathOf({ guildId = null, channelId = null, messageId = null }) {
  return ["/channels", guildId ?? "@me", channelId, messageId].filter((part) => part !== null).join("/");
}

/** @param {(place: Place) => void} arrived */
export function makeRouter(arrived) {
  const show = () => arrived(placeOf(location.pathname));
  window.addEventListener("popstate", show);
  return {
    show,
    place: () => placeOf(location.pathname),
    /** @param {string} path @param {{replace?: boolean}} [options] */
    go(path, { replace = false } = {}) {
      if (path === location.pathname) replace = true;
      history[replace ? "replaceState" : "pushState"](null, "", path);
      show();
    },
  };
}

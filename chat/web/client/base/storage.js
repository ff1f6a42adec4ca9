// What the browser keeps for the client: in IndexedDB; where that is refused or full, in memory as long as the page
// lives.

const NAME = "chat";
const TABLE = "kept";

/** @type {Map<string, any>} Who reads a key knows what was put there, and is not asked to say so. */
const MEMORY = new Map();

/** @type {{opened: Promise<IDBDatabase> | null}} */
const database = { opened: null };

/** @returns {Promise<IDBDatabase>} */
function opened() {
  database.opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return database.opened;
}

/**
 * @template Result
 * @param {IDBTransactionMode} mode
 * @param {(table: IDBObjectStore) => IDBRequest<Result>} ask
 * @returns {Promise<Result>}
 */
async function asked(mode, ask) {
  const table = (await opened()).transaction(TABLE, mode).objectStore(TABLE);
  return new Promise((resolve, reject) => {
    const request = ask(table);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export const storage = {
  /** @param {string} key @returns {Promise<any>} */
  async get(key) {
    if (MEMORY.has(key)) return MEMORY.get(key);
    return asked("readonly", (table) => table.get(key)).catch(() => undefined);
  },
  /** @param {string} key @param {any} value */
  async put(key, value) {
    MEMORY.delete(key);
    await asked("readwrite", (table) => table.put(value, key)).catch(() => MEMORY.set(key, value));
  },
  /** @param {string} key */
  async remove(key) {
    MEMORY.delete(key);
    await asked("readwrite", (table) => table.delete(key)).catch(() => undefined);
  },
  /** @param {string} prefix */
  async keys(prefix) {
    const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
    const found = await asked("readonly", (table) => table.getAllKeys(range)).catch(() => []);
    const held = [...MEMORY.keys()].filter((key) => key.startsWith(prefix));
    return [...new Set([...found.map(String), ...held])];
  },
};

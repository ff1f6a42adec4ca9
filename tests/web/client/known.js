// A part of what a store knows, as plain data: maps as objects, sets as lists.

export function part(state, ...path) {
  let found = state;
  for (const name of path) found = found instanceof Map ? found.get(name) : found?.[name];
  return plain(found);
}

function plain(known) {
  if (known instanceof Map) return plain(Object.fromEntries(known));
  if (known instanceof Set) return [...known].sort();
  if (Array.isArray(known)) return known.map(plain);
  if (known === null || typeof known !== "object") return known ?? null;
  return Object.fromEntries(Object.entries(known).map(([name, value]) => [name, plain(value)]));
}

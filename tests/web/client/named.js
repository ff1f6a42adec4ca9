// How things are shown in the composer, out of a table: a function that stays in Node.
export const formsOf = (table) => (source) => table[source] ?? [];

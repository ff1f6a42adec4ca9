// Answers JSON lines, so that a test in Python calls the client's pure modules: one line asks, one line answers.
//   {"call": "makeStore", "of": PATH, "arguments": [...], "keep": true}   an export of a module
//   {"call": "apply", "on": HANDLE, "arguments": [...]}                   a method of something kept
// An argument {"kept": HANDLE, "member": NAME} stands for something kept, or for a member of it.

import { createInterface } from "node:readline";

const kept = [];

function meant(argument) {
  if (argument === null || typeof argument !== "object" || !("kept" in argument)) return argument;
  const thing = kept[argument.kept];
  return "member" in argument ? thing[argument.member] : thing;
}

async function answer({ call, of, on, arguments: given, keep }) {
  const place = of === undefined ? kept[on] : await import(of);
  const result = await place[call](...given.map(meant));
  return keep ? kept.push(result) - 1 : result;
}

for await (const line of createInterface({ input: process.stdin })) {
  let said;
  try {
    said = { result: (await answer(JSON.parse(line))) ?? null };
  } catch (error) {
    said = { error: `${error.stack ?? error}` };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

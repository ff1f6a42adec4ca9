// Answers JSON lines, so that a test in Python calls the client's pure modules: one line asks, one line answers.
// A line is a list of calls, which are made one after the other as long as none throws:
//   {"call": "makeStore", "of": PATH, "arguments": [...], "keep": HANDLE}   an export of a module
//   {"call": "apply", "on": HANDLE, "arguments": [...]}                     a method of something kept
//   {"forget": true}                                                        nothing is kept any more
// An argument {"kept": HANDLE, "member": NAME} stands for something kept, or for a member of it.

const kept = new Map();

function meant(argument) {
  if (argument === null || typeof argument !== "object" || !("kept" in argument)) return argument;
  const thing = kept.get(argument.kept);
  return "member" in argument ? thing[argument.member] : thing;
}

async function answer({ call, of, on, arguments: given, keep, forget }) {
  if (forget) return kept.clear();
  const place = of === undefined ? kept.get(on) : await import(of);
  const result = await place[call](...given.map(meant));
  if (keep === undefined) return result;
  kept.set(keep, result);
}

// Only a line feed ends a line: `node:readline` would also break at U+2028, which stands as itself in JSON.
async function* lines() {
  let begun = "";
  for await (const part of process.stdin.setEncoding("utf8")) {
    const [first, ...rest] = part.split("\n");
    begun += first;
    for (const next of rest) {
      yield begun;
      begun = next;
    }
  }
}

for await (const line of lines()) {
  const results = [];
  let error = "";
  try {
    // Each result is put into words at once, since the next call may change what it is made of.
    for (const asked of JSON.parse(line)) results.push(JSON.stringify((await answer(asked)) ?? null));
  } catch (thrown) {
    error = `,"error":${JSON.stringify(`${thrown.stack ?? thrown}`)}`;
  }
  process.stdout.write(`{"results":[${results}]${error}}\n`);
}

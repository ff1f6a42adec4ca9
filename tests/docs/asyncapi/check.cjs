// Prints what AsyncAPI's own parser says of a document: node check.cjs FOLDER_OF_NODE_MODULES DOCUMENT

const { readFileSync } = require("node:fs");
const [folder, path] = process.argv.slice(2);
const { Parser } = require(`${folder}/node_modules/@asyncapi/parser`);

new Parser().parse(readFileSync(path, "utf8")).then(({ document, diagnostics }) => {
  const wrong = diagnostics.filter(({ severity }) => severity <= 1).map(({ code, message }) => `${code}: ${message}`);
  console.log(JSON.stringify({ messages: document?.messages().length ?? 0, wrong }));
});

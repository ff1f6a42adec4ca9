// What every conversation's script shares: the world that it is told, and how it tells what it did.

export const world = JSON.parse(process.argv[2]);
/** What `chat dev --json` printed. */

export const origin = new URL(world.base_url).origin;

export const alice = world.users[0];

/** One line of JSON for the test. */
export function report(step, members = {}) {
  process.stdout.write(`${JSON.stringify({ step, ...members })}\n`);
}

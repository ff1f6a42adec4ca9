// Votes in the polls of messages that are known. A Dispatch goes to many, so it does not say what the account voted.

/** @typedef {import("./shapes.js").Message} Message */
/** @typedef {import("./shapes.js").Payload} Payload */
/** @typedef {import("./shapes.js").Id} Id */

/**
 * A message as an event told it, with the account's own votes as they were known.
 * @param {Message} message
 * @param {Message | undefined} known
 * @returns {Message}
 */
export function withOwnVotes(message, known) {
  if (!message.poll || !known?.poll) return message;
  const mine = new Set(known.poll.results.answer_counts.filter((one) => one.me_voted).map(({ id }) => id));
  const counts = message.poll.results.answer_counts.map((one) => ({ ...one, me_voted: mine.has(one.id) }));
  return { ...message, poll: { ...message.poll, results: { ...message.poll.results, answer_counts: counts } } };
}

/**
 * The message after a vote was given (`change` 1) or taken back (-1).
 * @param {Message} message
 * @param {Payload} vote
 * @param {Id | null} me
 * @param {1 | -1} change
 * @returns {Message}
 */
export function withVote(message, vote, me, change) {
  if (!message.poll) return message;
  const { results } = message.poll;
  const counts = results.answer_counts.map((one) =>
    one.id === vote.answer_id
      ? { ...one, count: one.count + change, me_voted: vote.user_id === me ? change > 0 : one.me_voted }
      : one,
  );
  return { ...message, poll: { ...message.poll, results: { ...results, answer_counts: counts } } };
}

// What a person does with applications: commands, components, forms. What becomes of it comes by the gateway, under the
// nonce of the request.

import { dismiss } from "../store/logs.js";
import { putUsed } from "../store/interactions.js";

/** @typedef {import("../store/shapes.js").Id} Id */
/** @typedef {import("../store/shapes.js").Message} Message */
/** @typedef {import("../store/shapes.js").Payload} Payload */
/** @typedef {import("wire").Component} Component */
/**
 * @typedef {object} Form What an application opens as a dialog.
 * @property {Id} id The interaction that it answers.
 * @property {string} custom_id
 * @property {string} title
 * @property {Component[]} components
 * @property {import("wire").CommandApplication} application
 * @property {Id} channel_id
 */
/** @typedef {NonNullable<import("wire").CommandOption["choices"]>[number]} Choice */
/** @typedef {{isAnswered: boolean, form?: Form, choices?: Choice[]}} Outcome */
/** @typedef {{channelId: Id, guildId: Id | null}} Where */
/** @typedef {import("wire").ApplicationCommand} Command */
/** @typedef {{name: string, value?: string | number | boolean, focused?: boolean, options?: Filled[]}} Filled */

const COMMAND = 2;
const COMPONENT = 3;
const TYPED = 4;
const FORM = 5;
/** The server gives up after three seconds and says so; without a connection nobody does. */
const SILENT_MS = 8000;

/** @type {Readonly<Record<string, (data: Payload) => Outcome>>} */
const OUTCOMES = {
  INTERACTION_SUCCESS: () => ({ isAnswered: true }),
  INTERACTION_FAILURE: () => ({ isAnswered: false }),
  INTERACTION_AUTOCOMPLETE: ({ choices }) => ({ isAnswered: true, choices }),
  INTERACTION_MODAL_CREATE: (form) => ({ isAnswered: true, form }),
};

/** @param {import("./acts.js").Parts} parts */
export function makeInteractionActs({ store, rest, connection, random }) {
  /** @type {Map<string, (outcome: Outcome) => void>} by nonce */
  const waiting = new Map();

  connection.hear((name, data) => {
    const outcome = OUTCOMES[name];
    if (outcome) waiting.get(data.nonce)?.(outcome(data));
  });

  /**
   * Tell an application; resolves when it has answered, or has not in time.
   * @param {string} nonce
   * @param {Omit<import("wire").Body<"POST", "/v1/interactions">, "nonce" | "session_id">} act
   * @param {File[]} [files] In the order of their numbers.
   * @returns {Promise<Outcome>}
   */
  async function tell(nonce, act, files = []) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {Promise<Outcome>} */
    const answered = new Promise((resolve) => void waiting.set(nonce, resolve));
    try {
      const body = { ...act, session_id: store.read.session.id, nonce };
      await rest.post("/interactions", files.length === 0 ? { body } : { form: withFiles(body, files) });
      timer = setTimeout(() => waiting.get(nonce)?.({ isAnswered: false }), SILENT_MS);
      return await answered;
    } finally {
      clearTimeout(timer);
      waiting.delete(nonce);
    }
  }

  /**
   * @param {2 | 4} type
   * @param {Where} where
   * @param {Command} command
   * @param {{options: Filled[]} | {target_id: Id}} filled
   * @param {File[]} [files]
   */
  function withCommand(type, { channelId, guildId }, command, filled, files) {
    const { id, application_id } = command;
    const data = { id, type: command.type, name: command.name, ...filled };
    return tell(random(), { type, application_id, channel_id: channelId, guild_id: guildId, data }, files);
  }

  return {
    /** What can be invoked in a channel. @param {Id} channelId */
    commands: (channelId) => rest.get(`/channels/${channelId}/application-commands`),
    /** @param {Where} where @param {Command} command @param {Filled[]} options @param {File[]} [files] */
    invoke: (where, command, options, files) => withCommand(COMMAND, where, command, { options }, files),
    /**
     * A command for a person, or for a message.
     * @param {Where} where
     * @param {Command} command
     * @param {Id} target
     */
    invokeOn: (where, command, target) => withCommand(COMMAND, where, command, { target_id: target }),
    /**
     * What the application offers for an option that is being typed: that one is `focused`.
     * @param {Where} where
     * @param {Command} command
     * @param {Filled[]} options
     */
    complete: async (where, command, options) =>
      (await withCommand(TYPED, where, command, { options })).choices ?? [],
    /**
     * Press a button, or choose in a menu.
     * @param {Message} message
     * @param {Id | null} guildId
     * @param {Component} component
     * @param {string[]} [values] What was chosen.
     */
    async use(message, guildId, component, values) {
      const nonce = random();
      const customId = component.custom_id ?? "";
      const put = (/** @type {"waiting" | "silent" | null} */ state) => {
        const used = state && { message: message.id, customId, state };
        store.put((read, touch) => putUsed(read, nonce, message.channel_id, used, touch));
      };
      put("waiting");
      try {
        const outcome = await tell(nonce, {
          type: COMPONENT,
          application_id: message.author.id,
          channel_id: message.channel_id,
          guild_id: guildId,
          message_id: message.id,
          data: { custom_id: customId, component_type: component.type, ...(values && { values }) },
        });
        put(outcome.isAnswered ? null : "silent");
        return outcome;
      } catch (error) {
        put(null);
        throw error;
      }
    },
    /**
     * Send a form that was filled in.
     * @param {Form} form
     * @param {Id | null} guildId
     * @param {object[]} parts What was filled in, by the `custom_id` of each part.
     */
    submit: (form, guildId, parts) =>
      tell(random(), {
        type: FORM,
        application_id: form.application.id,
        channel_id: form.channel_id,
        guild_id: guildId,
        data: { id: form.id, custom_id: form.custom_id, components: parts },
      }),
    /** Take an answer that nobody else sees out of sight. @param {Message} message */
    dismiss: (message) => store.put((state, touch) => dismiss(state, message, touch)),
  };
}

/**
 * @param {object} body
 * @param {File[]} files
 */
function withFiles(body, files) {
  const form = new FormData();
  form.append("payload_json", JSON.stringify(body));
  for (const [number, file] of files.entries()) form.append(`files[${number}]`, file, file.name);
  return form;
}

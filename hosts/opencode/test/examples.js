/**
 * Messages in the host's shape, as short as a test can be about them.
 */

/** @typedef {import("../plugin/ctxplugin/host.js").Message} Message */

export const MODEL = { providerID: "acme", modelID: "m" };
export const SESSION = "ses_example";

/**
 * @param {string} id
 * @param {string} text
 * @param {object} [part]
 * @returns {Message}
 */
export function user(id, text, part = {}) {
  return /** @type {any} */ ({
    info: { id, sessionID: SESSION, role: "user", time: { created: 1 }, agent: "build", model: MODEL },
    parts: [{ id: `${id}_p0`, type: "text", text, ...part }],
  });
}

/**
 * @param {string} id
 * @param {string} text
 * @param {object[]} [parts] behind the text
 * @returns {Message}
 */
export function assistant(id, text, parts = []) {
  return /** @type {any} */ ({
    info: {
      id,
      sessionID: SESSION,
      role: "assistant",
      time: { created: 2 },
      mode: "build",
      finish: "stop",
      tokens: { input: 10, output: 1, reasoning: 0, cache: { read: 0, write: 0 } },
      ...MODEL,
    },
    parts: [{ id: `${id}_p0`, type: "text", text }, ...parts],
  });
}

/**
 * @param {string} output
 * @param {object} [state]
 */
export function call(output, state = {}) {
  return {
    type: "tool",
    tool: "bash",
    callID: "call_1",
    state: { status: "completed", input: { command: "ls" }, output, time: { start: 1, end: 2 }, ...state },
  };
}

/** @param {Message[]} messages */
export function ids(messages) {
  return messages.map(({ info }) => info.id);
}

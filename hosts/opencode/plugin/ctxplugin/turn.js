/**
 * Where in a turn a list is.
 */
import { isRealUser } from "./fit.js";

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./host.js").UserMessage} UserMessage */

/**
 * Whether the list is that of the first step: one user message and no answer yet.
 * @param {Message[]} messages
 */
export function isFirstStep(messages) {
  return !messages.some(isAnswer) && messages.filter(({ info }) => info.role === "user").length === 1;
}

/** @param {Message} message */
function isAnswer({ info, parts }) {
  return info.role === "assistant" && parts.length > 0;
}

/**
 * The message that says whose turn it is: the newest that a person wrote, or
 * failing that the newest of role user.
 * @param {Message[]} messages
 * @returns {UserMessage | undefined}
 */
export function turnOf(messages) {
  const found = messages.findLast(isRealUser) ?? messages.findLast(({ info }) => info.role === "user");
  return found?.info.role === "user" ? found.info : undefined;
}

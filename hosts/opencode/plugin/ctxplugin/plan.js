/**
 * A plan applied to the host's list. The host keeps its own reference to the
 * list, so everything happens in place; what the plan does not name is not
 * touched and keeps its bytes.
 */
import { revisions } from "./revision.js";

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./host.js").UserMessage} UserMessage */
/** @typedef {import("./host.js").Part} Part */

/**
 * @typedef {object} Plan
 * @property {string} id
 * @property {{text: string, cacheMark: boolean}[]} head
 * @property {string} through
 * @property {string[]} keep
 * @property {Edit[]} edits
 */
/** @typedef {{messageID: string, part: number, field: string, value: string}} Edit */

const REPLY_TEXT = "Noted.";

/**
 * Whether a value from outside has the shape of a plan.
 * @param {any} value
 * @returns {value is Plan}
 */
export function isPlan(value) {
  return (
    typeof value?.id === "string" &&
    typeof value.through === "string" &&
    Array.isArray(value.head) &&
    value.head.every((/** @type {any} */ pair) => typeof pair?.text === "string") &&
    Array.isArray(value.keep) &&
    Array.isArray(value.edits)
  );
}

/**
 * Applies a plan. A plan whose `through` is not in the list is void: the list
 * stays as it is and the answer is false.
 * @param {Message[]} messages
 * @param {Plan} plan
 * @param {UserMessage} user the newest real user message: whose model answers
 * @param {Record<string, object>} [mark] metadata for the cache mark, if one may be set
 * @param {import("./revision.js").Revisions} [revs] of the messages, where they are at hand
 */
export function applyPlan(messages, plan, user, mark, revs = revisions(messages)) {
  let dropped = 0;
  if (plan.through) {
    dropped = revs.place(plan.through) + 1;
    if (dropped === 0) return false;
  }
  const kept = plan.keep.map((id) => revs.place(id)).filter((place) => place >= 0 && place < dropped);
  const places = [...new Set(kept)].sort((x, y) => x - y);
  const stays = [...places.map((place) => messages[place]), ...messages.slice(dropped)];
  applyEdits(stays, plan.edits);
  const head = plan.head.flatMap((pair, i) => headPair(pair, i, user, mark));
  messages.length = 0; // nothing below can fail: an emptied list would really be sent
  for (const message of head) messages.push(message);
  for (const message of stays) messages.push(message);
  return true;
}

/**
 * @param {Message[]} messages
 * @param {Edit[]} edits
 */
function applyEdits(messages, edits) {
  if (edits.length === 0) return;
  const byID = new Map(messages.map((message) => [message.info.id, message]));
  /** @type {Map<Message, Set<Part>>} */
  const drops = new Map();
  for (const { messageID, part: place, field, value } of edits) {
    const message = byID.get(messageID);
    const part = message?.parts[place];
    if (!message || !part) continue;
    if (field !== "drop") editPart(part, field, value);
    else drops.set(message, (drops.get(message) ?? new Set()).add(part));
  }
  // Last, since places count the parts as they are stored.
  for (const [message, parts] of drops) message.parts = message.parts.filter((part) => !parts.has(part));
}

/**
 * @param {Part} part
 * @param {string} field
 * @param {string} value
 */
function editPart(part, field, value) {
  if (field === "text") {
    if ("text" in part) part.text = value;
    return;
  }
  if (part.type !== "tool" || !part.state) return;
  if (field === "input") {
    const input = parseObject(value);
    if (input) part.state.input = input;
  } else if (field === "output" && part.state.status === "completed") {
    part.state.output = value;
    delete part.state.attachments; // the value stands for the whole result
  } else if (field === "output" && part.state.status === "error") {
    part.state.error = value;
  }
}

/** @param {string} text */
function parseObject(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * The two messages of one pair. Ids and times are fixed, so that the same pair
 * is the same messages at every step, and a fork of the host accepts them.
 * @param {{text: string, cacheMark: boolean}} pair
 * @param {number} i
 * @param {UserMessage} user
 * @param {Record<string, object>} [mark]
 * @returns {Message[]}
 */
function headPair(pair, i, user, mark) {
  const { sessionID, agent, model } = user;
  const userID = `msg_ctx_${i}_u`;
  const replyID = `msg_ctx_${i}_a`;
  return [
    {
      info: { id: userID, sessionID, role: "user", time: { created: 2 * i }, agent, model },
      parts: [
        {
          id: `prt_ctx_${i}_u`,
          sessionID,
          messageID: userID,
          type: "text",
          text: pair.text,
          synthetic: true, // or the host's title agent counts it as a person's words
        },
      ],
    },
    {
      info: {
        id: replyID,
        sessionID,
        role: "assistant",
        parentID: userID,
        // Part metadata reaches the wire only under the model that the request is for.
        providerID: model.providerID,
        modelID: model.modelID,
        mode: agent,
        path: { cwd: "", root: "" },
        cost: 0,
        tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
        time: { created: 2 * i + 1, completed: 2 * i + 1 },
        finish: "stop",
      },
      parts: [
        {
          id: `prt_ctx_${i}_a`,
          sessionID,
          messageID: replyID,
          type: "text",
          text: REPLY_TEXT,
          synthetic: true,
          ...(pair.cacheMark && mark ? { metadata: mark } : {}),
        },
      ],
    },
  ];
}

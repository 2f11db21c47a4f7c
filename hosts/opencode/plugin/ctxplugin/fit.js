/**
 * The last resort, for a turn that the binary does not answer: what would not
 * fit the window goes without its oldest steps. Sizes are estimates on the safe
 * side; nothing here tries to be clever about what matters.
 */

/** @typedef {import("./host.js").Message} Message */
/** @typedef {import("./host.js").Part} Part */

export const TOKENS_PER_BYTE = 1 / 3; // English has about 1 / 4.5
const MEDIA_BYTES = 6000; // providers charge media by the picture, not by its bytes
const MESSAGE_BYTES = 24; // frame of a message or part on the wire
const AIM = 0.7; // share of the window to shrink to, so that the next steps need no cut
const STUB_FROM_BYTES = 1000; // smaller outputs are not worth a stub
const DEFAULT_RESERVE = 20_000;
const RESERVE_CAP = 32_000;

/**
 * Tokens that messages may take: the window without what the answer and the
 * fixed part of the request need. Infinity if the window is unknown.
 * @param {{context: number, output: number}} limits
 * @param {number} fixedBytes
 */
export function usableTokens({ context, output }, fixedBytes) {
  if (!context) return Infinity;
  const reserve = Math.min(output ? Math.min(output, RESERVE_CAP) : DEFAULT_RESERVE, context / 4);
  return Math.max(0, context - reserve - fixedBytes * TOKENS_PER_BYTE);
}

/**
 * No tokenizer makes more tokens of a message than this.
 * @param {Message} message
 */
export function messageBytes(message) {
  return message.parts.reduce((sum, part) => sum + partBytes(part), MESSAGE_BYTES);
}

/** @param {Part} part */
function partBytes(part) {
  let bytes = MESSAGE_BYTES;
  if (part.type === "text" && part.ignored) return 0;
  if (part.type === "file") bytes += part.mime === "text/plain" ? 0 : MEDIA_BYTES;
  else if (part.type === "tool") {
    const state = part.state ?? {};
    bytes += Buffer.byteLength(part.tool ?? "") + Buffer.byteLength(JSON.stringify(state.input ?? {}));
    if (state.status === "completed") {
      bytes += Buffer.byteLength(String(state.output)) + (state.attachments?.length ?? 0) * MEDIA_BYTES;
    } else if (state.status === "error") bytes += Buffer.byteLength(String(state.error));
  } else bytes += Buffer.byteLength(String(/** @type {{text?: unknown}} */ (part).text ?? ""));
  return bytes;
}

/**
 * Whether a person spoke: some part is theirs, sent, and not blank.
 * @param {Message} message
 */
export function isRealUser({ info, parts }) {
  if (info.role !== "user" || parts.some((part) => part.type === "compaction")) return false;
  return parts.some((part) =>
    part.type === "text" ? !part.synthetic && !part.ignored && part.text?.trim() : part.type === "file",
  );
}

/**
 * Shrinks a list that is too large, in place: first by the oldest messages
 * behind the head, then by the largest outputs. What stays begins, behind the
 * head, with a user message, and holds the newest real user message and the
 * newest message.
 *
 * @param {Message[]} messages
 * @param {object} how
 * @param {number} how.head messages at the front that stay
 * @param {number} how.usable tokens
 * @param {(message: Message) => number} how.tokens
 * @param {string} [how.cut] the first message that stayed last time: a cut that
 *   still fits is kept, so that consecutive requests share their prefix
 * @returns {string} the cut made, "" if none was needed
 */
export function fit(messages, { head, usable, tokens, cut }) {
  const sizes = messages.map(tokens);
  const from = suffixSums(sizes);
  const headTokens = from[0] - from[head];
  const newestUser = messages.findLastIndex(isRealUser);
  /** @param {number} k */
  const total = (k) => headTokens + from[k] + (newestUser >= head && newestUser < k ? sizes[newestUser] : 0);

  const sticky = cut ? messages.findIndex(({ info }) => info.id === cut) : -1;
  let first = beginning(messages, Math.max(head, sticky), newestUser);
  if (total(first) <= usable) return keepFrom(messages, head, first, newestUser);
  while (first < messages.length - 1 && total(first) > usable * AIM) {
    first = beginning(messages, first + 1, newestUser);
  }
  const over = total(first) - usable;
  const made = keepFrom(messages, head, first, newestUser);
  if (over > 0) stubLargest(messages, over);
  return made;
}

/** @typedef {{last: string, tokens: number, usable: number}} Measured tokens of a list that ended with a message, and what fitted then */

/**
 * Shrinks a list as fit does. What was measured counts as it was measured, everything
 * else by its bytes.
 * @param {Message[]} messages
 * @param {object} how
 * @param {number} how.head
 * @param {number} how.usable tokens, where nothing was measured
 * @param {Measured | null} how.measured
 * @param {string} [how.cut]
 */
export function fitMeasured(messages, { head, usable, measured, cut }) {
  const old = measured ? messages.findIndex(({ info }) => info.id === measured.last) + 1 : 0;
  const known = new Set(messages.slice(0, old));
  let rate = TOKENS_PER_BYTE;
  if (measured && old > 0) {
    const bytes = messages.slice(0, old).reduce((sum, message) => sum + messageBytes(message), 0);
    rate = Math.min(rate, measured.tokens / bytes);
    usable = measured.usable;
  }
  /** @param {Message} message */
  const tokens = (message) => messageBytes(message) * (known.has(message) ? rate : TOKENS_PER_BYTE);
  return fit(messages, { head, usable, tokens, cut });
}

/**
 * The first place from k on where a list may begin: a user message, or any
 * message once the newest real user message stands before it.
 * @param {Message[]} messages
 * @param {number} k
 * @param {number} newestUser
 */
function beginning(messages, k, newestUser) {
  while (k < messages.length - 1 && k <= newestUser && messages[k].info.role !== "user") k++;
  return k;
}

/**
 * @param {Message[]} messages
 * @param {number} head
 * @param {number} first
 * @param {number} newestUser
 */
function keepFrom(messages, head, first, newestUser) {
  if (first <= head) return "";
  const cut = messages[first].info.id;
  const kept = newestUser >= head && newestUser < first ? [messages[newestUser]] : [];
  messages.splice(head, first - head, ...kept);
  return cut;
}

/** @param {number[]} sizes */
function suffixSums(sizes) {
  const sums = new Array(sizes.length + 1).fill(0);
  for (let i = sizes.length - 1; i >= 0; i--) sums[i] = sums[i + 1] + sizes[i];
  return sums;
}

/**
 * @param {Message[]} messages
 * @param {number} tokens to get rid of
 */
function stubLargest(messages, tokens) {
  const outputs = messages
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === "tool" && part.state?.status === "completed" ? [part.state] : []))
    .map((state) => ({ state, bytes: Buffer.byteLength(String(state.output)) }))
    .filter(({ bytes }) => bytes >= STUB_FROM_BYTES)
    .sort((x, y) => y.bytes - x.bytes);
  for (const { state, bytes } of outputs) {
    if (tokens <= 0) return;
    state.output = `[${bytes} bytes of output left out: it does not fit the window. Ask for a smaller part of it.]`;
    delete state.attachments;
    tokens -= (bytes - Buffer.byteLength(state.output)) * TOKENS_PER_BYTE;
  }
}

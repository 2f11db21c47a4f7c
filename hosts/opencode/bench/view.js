/**
 * What a request lets the model see: the rendered history at its head, and the
 * turns that are still there whole.
 */

/**
 * @typedef {object} Expected what a turn consists of so far
 * @property {string} ask
 * @property {string[]} texts of the model
 * @property {number} calls
 */

/** @typedef {{range: string, tier: string, bytes: number}} Entry one of a rendered history */

const HEADING = /^\[(\d+(?:-\d+)?) (full|dense|compact|anchor|index)\]/gm;

/**
 * The texts of the pairs at the head of a request.
 * @param {any} body
 * @returns {string[]}
 */
export function pairs({ messages }) {
  const texts = [];
  for (let i = 0; messages[i + 1]?.role === "assistant" && textOf(messages[i + 1]) === "Noted."; i += 2) {
    texts.push(textOf(messages[i]));
  }
  return texts;
}

/**
 * The entries of a rendered history.
 * @param {string[]} texts of pairs
 * @returns {Entry[]}
 */
export function entries(texts) {
  return texts.flatMap((text) => {
    const headings = [...text.matchAll(HEADING)];
    return headings.map(({ 1: range, 2: tier, index }, i) => ({
      range,
      tier,
      bytes: Buffer.byteLength(text.slice(index, headings[i + 1]?.index)),
    }));
  });
}

/**
 * How many turns are whole: their user message as it was said, every call with
 * a result, every text; a stub stands for what it replaces.
 * @param {any} body
 * @param {Expected[]} turns
 * @returns {number}
 */
export function wholeTurns(body, turns) {
  const byAsk = new Map(turns.map((turn, i) => [turn.ask, i]));
  /** @type {Map<number, {texts: Set<string>, stubs: number, calls: number, results: number}>} */
  const found = new Map();
  /** @type {{texts: Set<string>, stubs: number, calls: number, results: number} | undefined} */
  let current;
  for (const { role, content } of body.messages.slice(2 * pairs(body).length)) {
    for (const block of typeof content === "string" ? [{ type: "text", text: content }] : content) {
      const turn = role === "user" && block.type === "text" ? byAsk.get(block.text) : undefined;
      if (turn !== undefined) {
        current = { texts: new Set(), stubs: 0, calls: 0, results: 0 };
        found.set(turn, current);
      } else if (!current) continue;
      else if (block.type === "tool_use") current.calls++;
      else if (block.type === "tool_result") current.results++;
      else if (role === "assistant" && isStub(block.text)) current.stubs++;
      else if (role === "assistant" && block.text) current.texts.add(block.text.trim());
    }
  }
  let whole = 0;
  for (const [turn, { texts, stubs, calls, results }] of found) {
    const expected = turns[turn];
    const missing = expected.texts.filter((text) => !texts.has(text.trim())).length;
    if (missing <= stubs && calls >= expected.calls && results >= expected.calls) whole++;
  }
  return whole;
}

/** @param {string} [text] */
function isStub(text) {
  return text?.startsWith("[") && text.includes("ctx_expand(");
}

/** @param {any} message */
function textOf({ content }) {
  return typeof content === "string"
    ? content
    : content.map((/** @type {any} */ block) => block.text ?? "").join("\n");
}

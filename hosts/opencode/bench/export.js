/**
 * The workload as a session file, in the shape of the host's own export: made
 * without the host, so that the engine can be tried on it in seconds.
 */

/** @typedef {import("./workload.js").Workload} Workload */

const BYTES_PER_TOKEN = 4.5;
const FIXED_TOKENS = 7_100; // system text and tools
const STEP_MS = 9_000;
const TURN_MS = 40_000;
const START_MS = 1_760_000_000_000;
const SESSION = "ses_bench000000000000000000000";

/**
 * @param {Workload} workload
 * @param {string} project
 * @returns {{info: object, messages: {info: any, parts: any[]}[]}}
 */
export function exported({ turns }, project) {
  let [now, tokens, count] = [START_MS, FIXED_TOKENS, 0];
  const id = (/** @type {string} */ kind) => `${kind}_${String(++count).padStart(12, "0")}bench`;
  const grow = (/** @type {string} */ text) => {
    const more = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
    tokens += more;
    return more;
  };
  const model = { providerID: "anthropic-mock", modelID: "m" };
  const messages = [];
  for (const { ask, replies } of turns) {
    now += TURN_MS;
    const user = id("msg");
    const of = { sessionID: SESSION, messageID: user };
    grow(ask);
    messages.push({
      info: { id: user, sessionID: SESSION, role: "user", time: { created: now }, agent: "build", model },
      parts: [{ id: id("prt"), ...of, type: "text", text: ask }],
    });
    for (const { text, calls = [] } of replies) {
      now += STEP_MS;
      const [before, assistant] = [tokens, id("msg")];
      const at = { sessionID: SESSION, messageID: assistant };
      const time = { start: now, end: now + 100 };
      /** @type {any[]} */
      const parts = [{ id: id("prt"), ...at, type: "step-start" }];
      let said = 0;
      if (text) {
        said += grow(text);
        parts.push({ id: id("prt"), ...at, type: "text", text, time });
      }
      for (const { name, input, output, exit } of calls) {
        said += grow(JSON.stringify(input));
        grow(output);
        const title = String(Object.values(input)[0]);
        const metadata = exit === undefined ? {} : { output, exit };
        const state = { status: "completed", input, output, title, metadata, time };
        parts.push({ id: id("prt"), ...at, type: "tool", callID: id("toolu"), tool: name, state });
      }
      const finish = calls.length > 0 ? "tool-calls" : "stop";
      const used = { total: before + said, input: 0, output: said, reasoning: 0 };
      parts.push({ id: id("prt"), ...at, type: "step-finish", reason: finish, cost: 0 });
      messages.push({
        info: {
          id: assistant,
          sessionID: SESSION,
          role: "assistant",
          time: { created: now, completed: now + 200 },
          parentID: user,
          ...model,
          mode: "build",
          agent: "build",
          path: { cwd: project, root: "/" },
          cost: 0,
          tokens: { ...used, cache: { read: 0, write: before } },
          finish,
        },
        parts,
      });
    }
  }
  const title = "Bench";
  return {
    info: { id: SESSION, title, directory: project, version: "1.18.33", time: { created: START_MS } },
    messages,
  };
}

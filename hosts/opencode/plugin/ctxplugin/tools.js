/**
 * The binary's tools as tools of the host.
 */

/** @typedef {import("./host.js").ToolDefinition} ToolDefinition */
/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./connection.js").Hello} Hello */

/**
 * @param {Hello} hello
 * @param {Connection} connection
 * @returns {Record<string, ToolDefinition>}
 */
export function toolsOf(hello, connection) {
  return Object.fromEntries(
    hello.tools.map(({ name, description, inputSchema }) => [
      name,
      {
        description,
        // The host takes JSON schemas of properties as they are; the tool.definition
        // hook then puts the whole schema in place, which knows what is required.
        args: inputSchema.properties ?? {},
        execute: (args, context) => call(connection, name, args, context.sessionID),
      },
    ]),
  );
}

/**
 * @param {Connection} connection
 * @param {string} name
 * @param {unknown} args
 * @param {string} sessionID the host's word, never the model's
 * @returns {Promise<string>}
 */
async function call(connection, name, args, sessionID) {
  if (!(await connection.ready(connection.timing.start))) {
    throw new Error(`${name} is not available: the context manager is not running.`);
  }
  const result = await connection.request(
    "tools/call",
    { sessionID, name, arguments: args ?? {} },
    connection.timing.tool,
  );
  /** @type {{type: string, text?: string}[]} */
  const content = Array.isArray(result?.content) ? result.content : [];
  const text = content.map((block) => block.text ?? "").join("\n");
  if (result?.isError) throw new Error(text || `${name} failed`);
  return text;
}

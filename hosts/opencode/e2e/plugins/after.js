// Loaded after the shim: writes down how long its hook took, one JSON text a line.
import { appendFileSync } from "node:fs";

export default async () => ({
  "experimental.chat.messages.transform": async (
    /** @type {object} */ _,
    /** @type {any} */ { messages },
  ) => {
    appendFileSync(String(process.env.CTXPLUGIN_E2E_LATENCY), `${JSON.stringify(messages.hook.end())}\n`);
  },
});

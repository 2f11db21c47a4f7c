// Loaded after the shim: writes down how long its hook took, in ms.
import { appendFileSync } from "node:fs";

export default async () => ({
  "experimental.chat.messages.transform": async (
    /** @type {object} */ _,
    /** @type {any} */ { messages },
  ) => {
    const ms = performance.now() - messages.hookStarted;
    appendFileSync(String(process.env.CTXPLUGIN_E2E_LATENCY), `${ms.toFixed(3)}\n`);
  },
});

// Loaded before the shim: notes when its hook is about to run.
export default async () => ({
  "experimental.chat.messages.transform": async (
    /** @type {object} */ _,
    /** @type {any} */ { messages },
  ) => {
    Object.defineProperty(messages, "hookStarted", {
      value: performance.now(),
      configurable: true,
      enumerable: false,
    });
  },
});

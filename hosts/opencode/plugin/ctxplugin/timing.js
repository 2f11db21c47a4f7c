/**
 * How long the shim waits for what, in ms. On a slow machine all of it can be
 * stretched by a factor in CTXPLUGIN_PATIENCE.
 */

/** @param {NodeJS.ProcessEnv} [env] */
export function timing(env = {}) {
  const patience = Math.max(1, Number(env.CTXPLUGIN_PATIENCE) || 1);
  return Object.freeze({
    /** that the start of the host waits for the binary */
    hello: 1000 * patience,
    /** that a step waits for a binary that starts again */
    start: 1000 * patience,
    /** that further steps wait while it still has not started */
    slowStart: 100,
    /** for the binary to answer initialize; a database may be migrating */
    initialize: 10_000 * patience,
    /** of silence with a question open, after which the binary is killed */
    hang: 10_000 * patience,
    /** to answer a step of a known session */
    answer: 2000 * patience,
    /** the same while the last question is unanswered still */
    silent: 250,
    /** to answer a step at most, when a whole session is to be sent first */
    longestAnswer: 20_000 * patience,
    /** to store a piece of a list at least; larger ones get more by their size */
    sync: 10_000 * patience,
    /** for the host to name a model's limits */
    lookup: 500 * patience,
    /** to answer a tool call */
    tool: 30_000 * patience,
    /** for the binary to exit when its input ends */
    close: 1000,
  });
}

/** @typedef {ReturnType<typeof timing>} Timing */

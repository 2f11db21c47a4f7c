/**
 * Where a step is, for whoever measures it: told on the diagnostics channel
 * `ctxplugin:step`, and to nobody while nobody listens.
 */
import { channel } from "node:diagnostics_channel";

const steps = channel("ctxplugin:step");

/** @param {"begun" | "asked" | "heard" | "done"} at asked: the questions are written; heard: output of the binary is read */
export function reached(at) {
  if (steps.hasSubscribers) steps.publish(at);
}

/**
 * What OpenCode loads: one default export, and nothing else, or the host refuses
 * the file. The modules lie in a folder beside it, where the host loads none.
 */
import { createPlugin } from "./ctxplugin/plugin.js";

const binary = ""; // the installer writes the path of the binary here

export default createPlugin(binary);

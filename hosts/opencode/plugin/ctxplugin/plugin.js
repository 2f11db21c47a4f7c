/**
 * The hooks of one plugin instance: one directory of the host, one binary. They
 * translate and decide nothing, and none of them ever throws: a hook that throws
 * costs the user a turn.
 */
import { Connection } from "./connection.js";
import { AGENT, Generator } from "./generate.js";
import { FixedParts, Models } from "./models.js";
import { Notices } from "./notices.js";
import { PlanFiles, planFolder } from "./planfile.js";
import { Session } from "./session.js";
import { timing } from "./timing.js";
import { toolsOf } from "./tools.js";
import { turnOf } from "./turn.js";
import { wireEvent } from "./wire.js";

/** @typedef {import("./host.js").Hooks} Hooks */
/** @typedef {import("./host.js").PluginInput} PluginInput */
/** @typedef {import("./host.js").Event} Event */

const SESSIONS_KEPT = 100;
const COMPACTION_MS = 60_000; // between the host's announcement and its list

/**
 * @param {string} installed path of the binary as the installer knew it, "" if unknown
 * @returns {import("@opencode-ai/plugin").Plugin}
 */
export function createPlugin(installed) {
  return async (input, options) => {
    const { client, directory } = input;
    const notices = new Notices(client);
    const generator = new Generator(client, directory);
    const connection = new Connection({
      command: process.env.CTXPLUGIN_BIN || installed || "ctxplugin",
      args: ["serve"],
      cwd: directory,
      initialize: {
        host: { name: "opencode", version: "" },
        project: { directory },
        capabilities: { notify: true, generate: true, plan: true },
        options: options ?? {},
      },
      timing: timing(process.env),
      notice: (level, text) => notices.tell(level, text),
      generate: (params, signal) => generator.generate(params, signal),
      planned: (news) => host.planned(news),
    });
    const planFiles = new PlanFiles(planFolder(process.env));
    /** @type {Host} */
    const host = new Host(
      {
        connection,
        planFiles,
        notices,
        models: new Models(client),
        fixedParts: new FixedParts(client),
        host: { plugins: "" },
      },
      generator,
    );
    planFiles.sweep().catch(() => {});
    const hello = await connection.ready(connection.timing.hello);
    return host.hooks(input, hello);
  };
}

/**
 * Whether a string anywhere in a value matches.
 * @param {unknown} value
 * @param {RegExp} pattern
 * @returns {boolean}
 */
function holds(value, pattern) {
  if (typeof value === "string") return pattern.test(value);
  if (!value || typeof value !== "object") return false;
  return Object.values(value).some((inner) => holds(inner, pattern));
}

class Host {
  /**
   * @param {import("./session.js").Surroundings} around
   * @param {Generator} generator
   */
  constructor(around, generator) {
    this.around = around;
    this.generator = generator;
    /** @type {Map<string, Session>} the last used ones, oldest first */
    this.sessions = new Map();
    /** @type {Map<string, number>} sessions whose next list is the compaction's, and since when */
    this.compacting = new Map();
  }

  /**
   * @param {PluginInput} input
   * @param {import("./connection.js").Hello | null} hello
   * @returns {Hooks}
   */
  hooks({ client }, hello) {
    const { connection, fixedParts, models, notices, planFiles } = this.around;
    const tools = hello ? toolsOf(hello, connection) : {};
    /**
     * @template {unknown[]} A
     * @param {(...args: A) => unknown} hook
     * @returns {(...args: A) => Promise<void>}
     */
    const safely =
      (hook) =>
      async (...args) => {
        try {
          await hook(...args);
        } catch (error) {
          notices.tell(
            "error",
            `The context manager failed: ${error instanceof Error ? error.stack : error}`,
          );
        }
      };
    return {
      tool: tools,
      config: safely((config) => {
        models.configured = config.provider;
        this.around.host.plugins = JSON.stringify(config.plugin ?? []);
        // Only a binary that is there may take over from the host.
        const { agent } = /** @type {{agent?: object}} */ (config);
        if (hello) Object.assign(config, { agent: { ...agent, [AGENT]: Generator.agent() } });
        const compaction = /** @type {{compaction?: object}} */ (config).compaction;
        if (hello) Object.assign(config, { compaction: { ...compaction, auto: false, prune: false } });
      }),
      "chat.message": safely(({ sessionID, model }) => {
        if (this.generator.owns(sessionID)) return;
        if (model) {
          // Asked for now, it is there when the first step begins.
          models.lookup(model, 0);
          fixedParts.list(model).catch(() => {});
        }
        const { mirror } = this.session(sessionID);
        if (mirror.parent !== undefined) return;
        client.session.get({ path: { id: sessionID } }).then(
          ({ data }) => (mirror.parent = data?.parentID ?? ""),
          () => {},
        );
      }),
      "experimental.chat.messages.transform": safely((_, { messages }) => this.transform(messages)),
      "experimental.chat.system.transform": safely(({ sessionID, model }, { system }) => {
        if (this.generator.owns(sessionID)) return this.generator.system(sessionID, system);
        models.note(model);
        fixedParts.system(sessionID, system);
      }),
      "chat.params": safely(({ sessionID, agent, model }, output) => {
        if (this.generator.owns(sessionID)) return this.generator.request(sessionID, output);
        models.note(model);
        fixedParts.request(sessionID, agent, model);
        const session = this.sessions.get(sessionID);
        if (!session?.maxOutput || session.agent !== agent) return;
        if (Number(output.maxOutputTokens) > session.maxOutput) output.maxOutputTokens = session.maxOutput;
      }),
      // The one hook that throws: what stands for something else must reach no file.
      "tool.execute.before": async ({ tool }, { args }) => {
        const { placeholder } = connection.hello ?? hello ?? {};
        if (!placeholder || tools[tool]) return;
        if (holds(args, new RegExp(placeholder.pattern))) throw new Error(placeholder.refusal);
      },
      "tool.definition": safely(({ toolID }, output) => {
        const own = hello?.tools.find(({ name }) => name === toolID);
        if (own) Object.assign(output, { jsonSchema: own.inputSchema });
        fixedParts.tool(toolID, output);
      }),
      "experimental.session.compacting": safely(({ sessionID }) => {
        this.compacting.set(sessionID, Date.now());
      }),
      event: safely(({ event }) => this.event(event)),
      dispose: safely(async () => {
        await connection.close();
        await planFiles.flush();
      }),
    };
  }

  /** @param {import("./standing.js").News} news */
  planned(news) {
    this.sessions.get(String(news.sessionID))?.planned(news);
  }

  /** @param {import("./host.js").Message[]} messages */
  async transform(messages) {
    const user = turnOf(messages);
    if (!user?.model) return this.compacting.clear();
    if (this.generator.owns(user.sessionID) || user.agent === AGENT) return;
    this.generator.seen(user.sessionID, user.model);
    const session = this.session(user.sessionID);
    const since = this.compacting.get(user.sessionID) ?? 0;
    this.compacting.delete(user.sessionID);
    if (Date.now() - since < COMPACTION_MS) await session.compaction(messages, user);
    else await session.step(messages, user);
  }

  /**
   * @param {string} id
   * @returns {Session}
   */
  session(id) {
    const session = this.sessions.get(id) ?? new Session(id, this.around);
    this.sessions.delete(id);
    this.sessions.set(id, session);
    for (const oldest of this.sessions.keys()) {
      if (this.sessions.size <= SESSIONS_KEPT) break;
      this.sessions.delete(oldest);
    }
    return session;
  }

  /** @param {Event} event */
  event(event) {
    if (this.generator.event(event)) return;
    if (event.type === "message.part.updated") {
      const { part } = event.properties;
      const session = this.sessions.get(part.sessionID);
      session?.mirror.edited.add(part.messageID);
      session?.newest.part(part);
      return;
    }
    if (event.type === "message.part.removed") {
      const { sessionID, partID } = event.properties;
      this.sessions.get(sessionID)?.newest.removed(partID);
    }
    if (event.type === "message.updated") {
      const { info } = event.properties;
      this.sessions.get(info.sessionID)?.newest.message(info);
    }
    const news = wireEvent(event);
    if (!news) return;
    if (news.type === "deleted") {
      this.sessions.delete(news.sessionID);
      this.around.planFiles.forget(news.sessionID);
    }
    if (news.type === "idle") this.sessions.get(news.sessionID)?.ended();
    if (news.type === "error") this.sessions.get(news.sessionID)?.planned({}); // it may have been too long
    this.around.connection.notify("session/event", news);
  }
}

/**
 * The real OpenCode with a scripted model as the historian: what a good reply
 * becomes, and that a bad one leaves nothing but its verdict. One start of the host
 * serves all of it.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { OpenCode, Place } from "./opencode.js";
import { Provider } from "./provider.js";

/** @typedef {import("./provider.js").Reply} Reply */
/** @typedef {import("./provider.js").Recorded} Recorded */

const WINDOW = 24_000;
const HERE = fileURLToPath(new URL(".", import.meta.url));
const provider = new Provider(WINDOW);
const place = new Place();
const binary = join(place.root, "ctxplugin");
const impatient = join(place.root, "impatient"); // projects whose binary starts with other settings
const other = join(place.root, "other");
/** @type {OpenCode} */
let host;

/** What the historian says next, by parent session; without a line it writes well. @type {Map<string, (prompt: string) => Reply>} */
const moods = new Map();

process.once("SIGTERM", () => process.exit(1)); // the host goes with us
process.once("SIGINT", () => process.exit(1));

before(async () => {
  const agent = { "ctx-historian": { mode: "primary", prompt: "THEIRS", permission: { "*": "allow" } } };
  place.configure(await provider.start(), { context: WINDOW, output: 2_000 }, [], { agent });
  provider.aside = (request) => {
    if (!request.parent) return undefined;
    const prompt = text(request.body.messages.at(-1));
    return moods.get(request.parent)?.(prompt) ?? { text: wellWritten(prompt) };
  };
  execFileSync("go", ["build", "-o", binary, "./cmd/ctxplugin"], {
    cwd: join(HERE, "../../.."),
    stdio: "inherit",
  });
  ctxplugin("install", "opencode");
  settings({ backend: "host", tries: 1, timeout: 100 });
  writeFileSync(join(place.project, "AGENTS.md"), "THEIR INSTRUCTIONS\n");
  for (const project of [impatient, other]) mkdirSync(project, { recursive: true });
  host = await OpenCode.start(place);
});

after(async () => {
  await host?.stop();
  await provider.stop();
  if (process.env.CTXPLUGIN_E2E_KEEP) console.log(`kept ${place.root}`);
  else place.remove();
});

/** @param {string[]} args */
function ctxplugin(...args) {
  return execFileSync(binary, args, { env: place.environment(), encoding: "utf8" });
}

/** @param {object} historian */
function settings(historian) {
  const folder = join(place.config, "ctxplugin");
  mkdirSync(folder, { recursive: true });
  const all = { historian, writeBehind: 1000, tailShare: 0, tailMost: 0, tailTurns: 0 };
  writeFileSync(join(folder, "config.jsonc"), JSON.stringify(all));
}

/** @param {any} message */
function text(message) {
  const content = message?.content;
  return typeof content === "string"
    ? content
    : (content ?? []).map((/** @type {any} */ b) => b.text).join("\n");
}

/**
 * What a good model answers: a compartment for each span that is suggested, in
 * words of its messages.
 * @param {string} prompt
 * @param {(compartment: {first: string, last: string, full: string, dense: string, compact: string, anchor: string, title: string}) => void} [spoil]
 */
function wellWritten(prompt, spoil = () => {}) {
  const [head, rest] = prompt.split("<transcript>");
  const transcript = rest.split("</transcript>")[0];
  const entries = [...transcript.matchAll(/^\[(\d+)\]( user)?$\n((?: {2}.*\n)*)/gm)].map(
    ([, n, user, lines]) => ({
      n: Number(n),
      user: user !== undefined,
      said: lines.trim().split("\n")[0],
    }),
  );
  const spans = head.slice(head.indexOf("Suggested spans")).split("\n").slice(1);
  return spans
    .map((line) => /^\D*(\d+)(?:-(\d+))?/.exec(line))
    .filter((found) => found !== null)
    .map(([, first, last = first]) => {
      const c = { first, last, full: "", dense: "", compact: "", anchor: "", title: "" };
      for (const { n, user, said } of entries) {
        if (n < Number(first) || n > Number(last) || !said) continue;
        const sentences = said.split(". ");
        if (user) c.full += `Asked: [${n}] "${said}"\n`;
        else {
          c.full += `Outcome: [${n}] ${sentences.slice(0, 2).join(". ")}\n`;
          c.dense += `Outcome: [${n}] ${sentences.slice(0, 2).join(". ")}\n`;
          c.compact += `Outcome: ${sentences[0]}\n`;
          c.title = c.anchor = sentences[0].split(":")[0];
        }
      }
      spoil(c);
      return (
        `<compartment first="${c.first}" last="${c.last}" importance="40" types="fix" title="${c.title}">\n` +
        `<full>\n${c.full}</full>\n<dense>\n${c.dense}</dense>\n<compact>\n${c.compact}</compact>\n` +
        `<anchor>${c.anchor}</anchor>\n</compartment>`
      );
    })
    .join("\n");
}

const TOPICS = ["parser", "cache", "router", "ledger", "queue", "mailer"];

/**
 * @param {string} session
 * @param {number} from
 * @param {number} to
 */
async function turns(session, from, to, directory = place.project) {
  for (let i = from; i < to; i++) {
    const topic = TOPICS[i % TOPICS.length];
    const row = `The ${topic} reads its rows one by one and keeps what it has read. `;
    provider.say(session, [
      {
        text:
          `Found in the ${topic} in round ${i}: the retry loop never resets its counter. ` +
          `I changed ${topic}_${i}.go and left the tests alone. ${row.repeat(60)}`,
      },
    ]);
    const ask = `round ${i}: look into the ${topic} for me, it fails after a restart. do not touch the tests`;
    const answer = await host.turn(session, ask, { directory });
    assert.equal(answer.info.error, undefined, JSON.stringify(answer.info.error));
  }
}

/**
 * Waits until the historian has done what there is to do for a session.
 * @param {string} session
 * @returns {Promise<{calls: any[], line: string}>}
 */
async function settled(session) {
  for (;;) {
    const { calls } = JSON.parse(ctxplugin("historian", "--json", session));
    const children = await host.call("GET", `/session/${session}/children`);
    const open = calls.some((/** @type {any} */ { verdict }) => verdict === "asked");
    if (calls.length > 0 && !open && children.length === 0) {
      const { historian } = JSON.parse(ctxplugin("status", "--json", session));
      return { calls, line: historian };
    }
    await new Promise((resolve) => setTimeout(resolve, 100)); // the test's own limit ends this
  }
}

/** @param {string} session */
function asked(session) {
  return provider.requests.filter(({ parent, title }) => parent === session && !title);
}

/**
 * The most requests for one range. How many ranges there are depends on how much
 * the session has grown when the historian comes to it.
 * @param {string} session
 */
function tries(session) {
  /** @type {Map<string, number>} */
  const of = new Map();
  for (const { body } of asked(session)) {
    const prompt = body.messages.map(text).join("\n");
    const range = /Messages (\d+ to \d+) are to be covered/.exec(prompt)?.[1] ?? "";
    of.set(range, (of.get(range) ?? 0) + 1);
  }
  return Math.max(...of.values());
}

test(
  "a good reply is published and rendered, from a child that nobody sees",
  { timeout: 300_000 },
  async () => {
    const session = await host.session();
    await turns(session, 0, 4);
    const { calls, line } = await settled(session);
    assert.equal(calls.at(-1).verdict, "good", JSON.stringify(calls));
    assert.match(line, /^host: last call .* good/);
    assert.equal(calls.at(-1).answered, "anthropic-mock/m");
    const requests = asked(session);
    assert.equal(requests.length, calls.length);
    for (const { body } of requests) {
      assert.equal(body.tools?.length ?? 0, 0, "no tools");
      const system = text({ content: body.system });
      assert.match(system, /You write the memory of a coding agent/);
      assert.doesNotMatch(system, /THEIR/, "no text of the project's");
      assert.equal(body.messages.length, 1);
    }
    const listed = await host.call("GET", "/session");
    assert.ok(!JSON.stringify(listed).includes("ctx-historian"), "the child is gone");
    assert.ok(!ctxplugin("sessions", "--json").includes(requests[0].session), "and was never managed");
    const { numbers, ...status } = JSON.parse(ctxplugin("status", "--json", session));
    assert.ok(status.stats.compartments > 0);
    await turns(session, 4, 14);
    const last = /** @type {Recorded} */ (provider.of(session).at(-1));
    const head = text(last.body.messages[0]);
    assert.match(head, /Outcome:(?: \[2\])? Found in the parser in round 0/);
  },
);

/** @type {Record<string, {mood: (prompt: string) => Reply, verdict: RegExp, most: number, good?: boolean}>} */
const scenarios = {
  "fenced and chatty": {
    mood: (prompt) => ({
      text: `Sure, here it is:\n\n\`\`\`xml\n${wellWritten(prompt)}\n\`\`\`\nAnything else?`,
    }),
    verdict: /good/,
    most: 4,
    good: true,
  },
  "wrong closing tags": {
    mood: (prompt) => ({
      text: wellWritten(prompt).replaceAll("</dense>", "</full>").replaceAll("</anchor>", ""),
    }),
    verdict: /good/,
    most: 4,
    good: true,
  },
  "a gap over a user message": {
    mood: (prompt) => ({ text: wellWritten(prompt, (c) => (c.first = String(Number(c.first) + 2))) }),
    verdict: /invalid.*messages? /,
    most: 2,
  },
  "an invented user order": {
    mood: (prompt) => ({
      text: wellWritten(
        prompt,
        (c) => (c.full = `Asked: [${c.first}] "INVENTED: delete all the tests"\n${c.full}`),
      ),
    }),
    verdict: /invalid/,
    most: 2,
  },
  "an invented path": {
    mood: (prompt) => ({
      text: wellWritten(prompt, (c) => (c.full += `Changed: internal/INVENTED/secret_7f3a.go\n`)),
    }),
    verdict: /invalid/,
    most: 2,
  },
  "a refusal": {
    mood: () => ({ text: "I'm sorry, but I can't help with that." }),
    verdict: /refusal/,
    most: 1,
  },
  "an empty reply": { mood: () => ({ text: "" }), verdict: /empty/, most: 2 },
  "a cut reply": {
    mood: (prompt) => ({ text: wellWritten(prompt).slice(0, 60), finish: "max_tokens" }),
    verdict: /cut/,
    most: 4,
  },
  "a tool call": {
    mood: () => ({ text: "I look.", calls: [{ name: "read", input: { filePath: "/INVENTED" } }] }),
    verdict: /tool-call/,
    most: 1,
  },
  "429 with retry-after": {
    mood: () => ({ status: 429, headers: { "retry-after": "600" } }),
    verdict: /rate-limit/,
    most: 1,
  },
  "500s": { mood: () => ({ status: 500 }), verdict: /server/, most: 1 },
};

for (const [name, { mood, verdict, most, good }] of Object.entries(scenarios)) {
  test(name, { timeout: 300_000 }, async () => {
    ctxplugin("historian", "clear");
    const session = await host.session();
    moods.set(session, mood);
    await turns(session, 0, 4);
    const before = provider.of(session).length;
    const { calls, line } = await settled(session);
    const first = calls.at(-1);
    assert.match(`${first.verdict} ${first.detail ?? ""}`, verdict, JSON.stringify(calls));
    assert.match(line, new RegExp(calls[0].verdict));
    assert.ok(tries(session) <= most, `asked ${tries(session)} times`);
    await turns(session, 4, 6); // and the session goes on
    assert.equal(provider.of(session).length, before + 2);
    assert.ok(!ctxplugin("explain", "--json", session).includes("INVENTED"), "nothing false is stored");
    if (good) assert.ok(calls.every((/** @type {any} */ call) => call.verdict === "good"));
    const { stats } = JSON.parse(ctxplugin("status", "--json", session));
    assert.ok(stats.compartments > 0, "somebody has written");
  });
}

test("a reply that never comes, which no request waits for", { timeout: 300_000 }, async () => {
  ctxplugin("historian", "clear");
  settings({ backend: "host", tries: 1, timeout: 5 });
  const session = await host.session(impatient);
  moods.set(session, () => ({ never: true }));
  await turns(session, 0, 5, impatient);
  const { calls, line } = await settled(session);
  assert.equal(calls.at(-1).verdict, "timeout", JSON.stringify(calls));
  assert.match(line, /timeout/);
  await turns(session, 5, 6, impatient);
});

test("an unknown model", { timeout: 300_000 }, async () => {
  settings({ backend: "host", model: "anthropic-mock/nobody", tries: 2, timeout: 20 });
  const session = await host.session(other);
  await turns(session, 0, 4, other);
  const { calls, line } = await settled(session);
  assert.equal(calls.at(-1).verdict, "unknown-model", JSON.stringify(calls));
  assert.match(line, /anthropic-mock\/nobody.* rests until .*unknown-model.*built-in meanwhile/);
  assert.equal(asked(session).length, 0);
  await turns(session, 4, 5, other);
  assert.equal(
    JSON.parse(ctxplugin("historian", "--json", session)).calls.length,
    1,
    "it is not asked again",
  );
});

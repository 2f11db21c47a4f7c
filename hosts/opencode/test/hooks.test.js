/**
 * The hooks as the host calls them, with a stand-in for the binary in every mood
 * that a binary can be in.
 */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assistant, call, ids, SESSION, user } from "./examples.js";
import { FAKE, Rig } from "./rig.js";

const rig = new Rig();
/** @type {Rig["open"]} */
const open = (...how) => rig.open(...how);
/** @type {Rig["asked"]} */
const asked = (method) => rig.asked(method);

function session() {
  return [user("a", "first"), assistant("b", "answer", [call("output")]), user("c", "second")];
}

const PLANNED = ["msg_ctx_0_u", "msg_ctx_0_a", "c"];

test("an answer to a piece of a list that is lost delays nothing", async () => {
  const hooks = await open("loses");
  const list = session();
  for (const id of "defg") {
    const messages = structuredClone(list);
    const began = performance.now();
    await hooks.transform(messages);
    assert.deepEqual(ids(messages).slice(0, 3), PLANNED);
    assert.ok(performance.now() - began < 10_000, "it waited for what was lost"); // for 40 s
    list.push(assistant(id, "more"));
  }
});

test("a step sends what is new and applies the plan", async () => {
  const hooks = await open();
  const messages = session();
  await hooks.transform(messages);
  assert.deepEqual(ids(messages), PLANNED);

  const next = [...session(), assistant("d", "more")];
  await hooks.transform(next);
  assert.deepEqual(ids(next), [...PLANNED, "d"]);
  const syncs = asked("session/sync").map(({ params }) => params);
  assert.deepEqual(
    syncs.map(({ keep, messages }) => [keep, messages.length]),
    [
      [3, 0], // announced, as a restart would find it
      [0, 3],
      [3, 1],
    ],
  );
  const transforms = asked("session/transform").map(({ params }) => params);
  assert.deepEqual(
    transforms.map(({ applied }) => applied),
    ["", "", "through b"], // asked at once, and again once the list had been sent
  );
  assert.deepEqual(transforms[0].model.prices.kind, "marks");
  assert.equal(transforms[0].model.context, 100_000);
});

test("nothing is sent again for a list that the binary has", async () => {
  const hooks = await open();
  await hooks.transform(session());
  const sent = asked("session/sync").length;
  await hooks.transform(session());
  assert.equal(asked("session/sync").length, sent);
});

test("where all is known the questions are written before the hook first waits", async () => {
  const hooks = await open();
  await hooks.transform(session());
  /** @type {unknown[]} */
  const reached = [];
  const note = (/** @type {unknown} */ at) => reached.push(at);
  subscribe("ctxplugin:step", note);
  const under = hooks.transform([...session(), assistant("d", "more")]);
  assert.deepEqual(reached, ["begun", "asked"]);
  await under;
  unsubscribe("ctxplugin:step", note);
  assert.equal(reached.at(-1), "done");
});

test("an edit of equal length that an event names is sent", async () => {
  const hooks = await open();
  await hooks.transform(session());
  const part = { sessionID: SESSION, messageID: "b" };
  await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
  const edited = [user("a", "first"), assistant("b", "ANSWER", [call("output")]), user("c", "second")];
  await hooks.transform(edited);
  const last = asked("session/sync").at(-1).params;
  assert.deepEqual([last.keep, last.messages.length, last.messages[0].parts[0].text], [1, 2, "ANSWER"]);
});

test("the end of a step, which parts do not show, is sent", async () => {
  const hooks = await open();
  const unfinished = () => {
    const messages = session();
    Object.assign(messages[1].info, { finish: undefined });
    return messages;
  };
  await hooks.transform(unfinished());
  await hooks.transform(session());
  assert.equal(asked("session/sync").at(-1).params.keep, 1);
});

test("the first step of a session is left alone, and no other", async () => {
  const hooks = await open();
  const messages = [user("a", "plan at once")];
  await hooks.transform(messages);
  assert.deepEqual(ids(messages), ["a"]);
  assert.ok(asked("session/transform").length > 0);
  const second = [user("a", "plan at once"), assistant("b", "", [call("output")])];
  await hooks.transform(second);
  assert.deepEqual(ids(second), ["msg_ctx_0_u", "msg_ctx_0_a", "a", "b"]);
});

test("the list of the host's compaction is left alone unless it would not fit", async () => {
  const hooks = await open();
  await hooks.transform(session());
  const questions = asked().length;
  await hooks["experimental.session.compacting"]({ sessionID: SESSION }, { context: [] });
  const messages = session();
  await hooks.transform(messages);
  assert.deepEqual(ids(messages), ["a", "b", "c"]);
  assert.equal(asked().length, questions);

  await hooks["experimental.session.compacting"]({ sessionID: SESSION }, { context: [] });
  const large = session();
  large[1] = assistant("b", "answer", [call("x".repeat(400_000))]);
  await hooks.transform(large);
  assert.deepEqual(ids(large), PLANNED);
});

test("the cache mark is set only where the request has room for it", async () => {
  const hooks = await open();
  /** @returns {Promise<any>} */
  const mark = async () => {
    const messages = /** @type {any[]} */ (session());
    await hooks.transform(messages);
    return messages[1].parts[0].metadata;
  };
  assert.equal(await mark(), undefined, "no request was seen yet");
  await hooks.request(["one block"]);
  assert.ok(await mark());
  await hooks.request(["title"], "title");
  assert.ok(await mark(), "another agent's request says nothing");
  const system = ["one block"];
  await hooks.request(system);
  system.push("of another plugin, added after ours was asked");
  assert.equal(await mark(), undefined);
});

test("the answer may be kept shorter, never longer", async () => {
  const hooks = await open();
  await hooks.transform(session());
  assert.equal((await hooks.request(["s"])).maxOutputTokens, 1000);
  process.env.FAKE_MODE = "";
  await hooks.transform([...session(), assistant("d", "limit the answer to 300")]);
  assert.equal((await hooks.request(["s"])).maxOutputTokens, 300);
  assert.equal((await hooks.request(["s"], "title")).maxOutputTokens, 1000, "another agent's request");
});

test("the system text and the tool definitions are measured", async () => {
  const hooks = await open();
  await hooks["tool.definition"](
    { toolID: "bash" },
    { description: "12345", jsonSchema: { type: "object" } },
  );
  await hooks.request(["grüße"]);
  await hooks.transform(session());
  const { fixedBytes } = asked("session/transform")[0].params;
  assert.equal(fixedBytes, 7 + "bash".length + 5 + '{"type":"object"}'.length);
});

test("tools are those of the binary, called with the host's session", async () => {
  const hooks = await open();
  const { description, args, execute } = hooks.tool.ctx_echo;
  assert.equal(description, "Repeats a text.");
  assert.deepEqual(Object.keys(args), ["text", "times"]);
  const text = await execute({ text: "hi", sessionID: "ses_forged" }, { sessionID: SESSION });
  assert.equal(text, `ctx_echo in ${SESSION}: {"text":"hi","sessionID":"ses_forged"}`);
  await assert.rejects(execute({ text: "fail" }, { sessionID: SESSION }), /ctx_echo in/);
  const definition = { description: "", parameters: {}, jsonSchema: { required: ["text", "times"] } };
  await hooks["tool.definition"]({ toolID: "ctx_echo" }, definition);
  assert.deepEqual(definition.jsonSchema.required, ["text"], "the host thinks all are required");
});

test("the host's compaction is switched off once the binary has answered", async () => {
  const there = await open();
  const config = { compaction: { auto: true, prune: true } };
  await there.config(config);
  assert.deepEqual(config.compaction, { auto: false, prune: false });
  const absent = await open("", { binary: join(rig.folder, "no-such-binary") });
  const kept = { compaction: { auto: true, prune: true } };
  await absent.config(kept);
  assert.deepEqual(kept.compaction, { auto: true, prune: true });
  assert.deepEqual(absent.tool, {});
});

test("a call whose arguments hold a placeholder is refused", async () => {
  const { "tool.execute.before": before } = await open();
  const input = { tool: "write", sessionID: SESSION, callID: "1" };
  const text = "before [stored argument 7] after";
  for (const args of [{ content: text }, { edits: [{ newString: text }] }])
    await assert.rejects(before(input, { args }), /That stands for something else/);
  for (const args of [{ content: "plain" }, { content: "[stored argument]" }, {}, undefined, { n: null }])
    await before(input, { args });
  await before({ ...input, tool: "ctx_echo" }, { args: { text } }); // ours answers for itself
  const { "tool.execute.before": absent } = await open("", { binary: join(rig.folder, "no-such-binary") });
  await absent(input, { args: { content: text } });
});

test("a binary that dies at every step costs nothing but its plan", async () => {
  const hooks = await open("crash");
  for (let i = 0; i < 4; i++) {
    const messages = session();
    await hooks.transform(messages);
    assert.deepEqual(ids(messages), ["a", "b", "c"]);
  }
});

test("a binary that hangs delays one step, and the last plan is used", async () => {
  const first = await open();
  await first.transform(session());
  await first.dispose();
  process.env.CTXPLUGIN_PATIENCE = "3";
  const hooks = await open("hang");
  for (let i = 0; i < 2; i++) {
    const messages = session();
    await hooks.transform(messages);
    assert.deepEqual(ids(messages), PLANNED);
  }
});

test("a binary that never answers initialize is no binary", async () => {
  process.env.CTXPLUGIN_PATIENCE = "1";
  const hooks = await open("mute");
  assert.deepEqual(hooks.tool, {});
  const messages = session();
  await hooks.transform(messages);
  assert.deepEqual(ids(messages), ["a", "b", "c"]);
});

test("rubbish on stdout is skipped", async () => {
  const hooks = await open("rubbish");
  const messages = session();
  await hooks.transform(messages);
  assert.deepEqual(ids(messages), PLANNED);
});

test("a binary that comes later is used from then on", async () => {
  const binary = join(rig.folder, "late-binary");
  const hooks = await open("", { binary });
  const before = session();
  await hooks.transform(before);
  assert.deepEqual(ids(before), ["a", "b", "c"]);
  writeFileSync(binary, `#!/bin/sh\nexec "${process.execPath}" "${FAKE}"\n`);
  chmodSync(binary, 0o755);
  const after = session();
  for (let i = 0; i < 100 && after.length !== PLANNED.length - 1 && ids(after)[0] === "a"; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    after.splice(0, after.length, ...session());
    await hooks.transform(after);
  }
  assert.deepEqual(ids(after), PLANNED);
});

test("a killed binary is rig.told only that the list is known, and the bytes stay", async () => {
  const hooks = await open();
  await hooks.request(["s"]);
  const first = session();
  await hooks.transform(first);
  process.kill(Number(readFileSync(join(rig.folder, "log.pid"), "utf8")), "SIGKILL");
  await new Promise((resolve) => setTimeout(resolve, 100));
  const second = session();
  await hooks.transform(second);
  assert.deepEqual(second, first);
  assert.deepEqual([asked("session/sync").at(-2).params.keep, asked("initialize").length], [3, 2]);
});

test("without a binary the last plan is applied, from a file of the owner's alone", async () => {
  const first = await open();
  await first.request(["s"]);
  const planned = session();
  await first.transform(planned);
  await first.dispose();

  const plans = join(rig.folder, "ctxplugin", "opencode");
  const files = readdirSync(plans);
  assert.deepEqual(files, [`${SESSION}.json`]);
  assert.equal(statSync(join(plans, files[0])).mode & 0o777, 0o600);
  assert.equal(statSync(plans).mode & 0o777, 0o700);

  const hooks = await open("", { binary: join(rig.folder, "no-such-binary") });
  const messages = session();
  await hooks.transform(messages);
  assert.deepEqual(messages, planned);
  assert.equal(rig.told.filter((text) => /does not answer/.test(text)).length, 1);
  await hooks.transform(session());
  assert.equal(rig.told.filter((text) => /does not answer/.test(text)).length, 1, "rig.told once");
});

test("without a binary a list that no longer fits loses its oldest steps behind the head", async () => {
  const first = await open();
  await first.transform(session());
  await first.dispose();
  const hooks = await open("", { binary: join(rig.folder, "no-such-binary"), context: 10_000 });
  /** @type {any[]} */
  const messages = session();
  for (let i = 0; i < 40; i++) messages.push(assistant(`s${i}`, "step", [call("x".repeat(1500))]));
  await hooks.transform(messages);
  assert.deepEqual(ids(messages).slice(0, 3), PLANNED);
  assert.equal(messages.at(-1).info.id, "s39");
  assert.ok(messages.length > 5 && messages.length < 20, `${messages.length} messages`);
});

test("parts that lack what they should have are sent and kept", async () => {
  const hooks = await open();
  const odd = () => {
    const messages = session();
    messages[1].parts.push(
      .../** @type {any[]} */ ([{ type: "tool", tool: "x" }, { type: "text" }, { type: "new" }]),
    );
    messages[2].parts.push(/** @type {any} */ ({ type: "text" }));
    return messages;
  };
  const messages = odd();
  await hooks.transform(messages);
  assert.deepEqual(ids(messages), PLANNED);
  const absent = await open("", { binary: join(rig.folder, "no-such-binary"), context: 1000 });
  const alone = odd();
  await absent.transform(alone);
  assert.deepEqual(alone.at(-1), odd().at(-1));
});

test("a damaged plan file is as none", async () => {
  const first = await open();
  await first.transform(session());
  await first.dispose();
  writeFileSync(
    join(rig.folder, "ctxplugin", "opencode", `${SESSION}.json`),
    '{"version":1,"plan":{"id":7}}',
  );
  const hooks = await open("", { binary: join(rig.folder, "no-such-binary") });
  const messages = session();
  await hooks.transform(messages);
  assert.deepEqual(ids(messages), ["a", "b", "c"]);
});

test("a deleted session is forgotten", async () => {
  const hooks = await open();
  await hooks.transform(session());
  await hooks.event({ event: { type: "session.deleted", properties: { info: { id: SESSION } } } });
  await hooks.dispose();
  assert.deepEqual(readdirSync(join(rig.folder, "ctxplugin", "opencode")), []);
  assert.equal(asked("session/event").at(-1).params.type, "deleted");
});

test("no hook throws, whatever the host hands it", async () => {
  const hooks = await open();
  await hooks["experimental.chat.messages.transform"]({}, { messages: [] });
  await hooks["experimental.chat.messages.transform"]({}, {});
  await hooks["experimental.chat.messages.transform"]({}, { messages: [{}] });
  await hooks["experimental.chat.messages.transform"](
    {},
    { messages: [{ info: { role: "user" }, parts: null }] },
  );
  await hooks["experimental.chat.system.transform"]({}, {});
  await hooks["chat.params"]({}, {});
  await hooks["tool.definition"]({}, {});
  await hooks.event({});
  await hooks["chat.message"]({}, {});
});

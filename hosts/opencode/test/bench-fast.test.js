import assert from "node:assert/strict";
import { test } from "node:test";
import { requestBody } from "../bench/fast.js";
import { assistant, call, user } from "./examples.js";

const noted = assistant("b", "Noted.");
Object.assign(noted.parts[0], { metadata: { anthropic: { cacheControl: { type: "ephemeral" } } } });

test("a request without the host is built as the host builds it", () => {
  const list = [
    user("a", "record"),
    noted,
    user("c", "kept"),
    user("d", "asked"),
    assistant("e", "I look.", [{ type: "step-finish" }, call("output"), call("more", { input: {} })]),
    user("f", "unseen", { ignored: true }),
  ];
  const mark = { cache_control: { type: "ephemeral" } };
  const { messages, system, max_tokens } = requestBody(list, ["s"], [], 5);
  assert.deepEqual(system, [{ type: "text", text: "s", ...mark }]);
  assert.equal(max_tokens, 5);
  const tool = { type: "tool_use", id: "call_1", name: "bash" };
  const result = { type: "tool_result", tool_use_id: "call_1" };
  assert.deepEqual(messages, [
    { role: "user", content: [{ type: "text", text: "record" }] },
    { role: "assistant", content: [{ type: "text", text: "Noted.", ...mark }] },
    {
      role: "user",
      content: [
        { type: "text", text: "kept" },
        { type: "text", text: "asked" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { ...tool, input: { command: "ls" } },
        { ...tool, input: {}, ...mark },
      ],
    },
    {
      role: "user",
      content: [
        { ...result, content: "output" },
        { ...result, content: "more", ...mark },
      ],
    },
  ]);
});

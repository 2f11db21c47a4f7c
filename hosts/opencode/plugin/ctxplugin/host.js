/**
 * The shapes of OpenCode that the shim reads, named once. There is no code here.
 *
 * @typedef {import("@opencode-ai/plugin").PluginInput} PluginInput
 * @typedef {import("@opencode-ai/plugin").Hooks} Hooks
 * @typedef {import("@opencode-ai/plugin").Config} Config
 * @typedef {import("@opencode-ai/plugin").ToolDefinition} ToolDefinition
 * @typedef {import("@opencode-ai/sdk").UserMessage} UserMessage
 * @typedef {import("@opencode-ai/sdk").AssistantMessage} AssistantMessage
 * @typedef {import("@opencode-ai/sdk").Part} Part
 * @typedef {import("@opencode-ai/sdk").TextPart} TextPart
 * @typedef {import("@opencode-ai/sdk").Model} Model
 * @typedef {import("@opencode-ai/sdk").Event} Event
 * @typedef {{info: UserMessage | AssistantMessage, parts: Part[]}} Message
 */
export {};

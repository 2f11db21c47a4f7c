// Package models calls language models over HTTP: the Messages API of Anthropic,
// and the chat completions of OpenAI that Ollama, vLLM, LM Studio, OpenRouter and
// others speak too. It implements the historian's interface and judges nothing but
// transport.
//
// # Invariants
//
//   - One call is one request: the libraries' own retries are off, redirects are not
//     followed, and no tools are offered.
//   - Endpoint and key come from the caller alone. No variable of the environment is
//     read here, though the libraries would.
//   - The key is in the header of the request and nowhere else: no text of an error
//     holds it, also where the other end repeats it.
//   - An answer of any size, shape or speed ends in a Reply or a Failure, at the
//     latest when the context does.
package models

package expand

import "strings"

// Definition describes a tool to the model.
type Definition struct {
	Name        string
	Description string
	InputSchema []byte // JSON Schema
}

// toolNames lists the tools in a sentence.
func toolNames() string {
	var names []string
	for _, d := range Definitions() {
		names = append(names, d.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Definitions are the tools of the model. The first two stay below 400 tokens
// together and the other two below 200, since every request carries them.
func Definitions() []Definition {
	return []Definition{
		{
			Name: ToolExpand,
			Description: "Reads original messages of this session that the session record only summarises, or that a stub stands for, word for word. " +
				"Call it before relying on a detail that the record merely hints at: exact code, an error text, a command, why something was decided or rejected. " +
				"Give first and last, or compartment, from an entry's heading [first-last tier], or message and part from a stub or a search hit. " +
				"Long content comes in pages: repeat the exact call in a line starting with More: or Rest:.",
			InputSchema: []byte(`{"type":"object","properties":{` +
				`"first":{"type":"integer","description":"first message number of a range"},` +
				`"last":{"type":"integer"},` +
				`"compartment":{"type":"integer","description":"first message number of an entry"},` +
				`"message":{"type":"integer","description":"one message"},` +
				`"part":{"type":"integer","description":"0-based part of it"},` +
				`"field":{"type":"string","enum":["text","input","output"]},` +
				`"offset":{"type":"integer","description":"bytes into the field"}}}`),
		},
		{
			Name: ToolSearch,
			Description: "Searches all messages of this session, also those no longer in view, for words or an exact string. " +
				"Call it when something was said, tried or decided earlier and you do not see where. Each hit names the call that opens it.",
			InputSchema: []byte(`{"type":"object","properties":{` +
				`"query":{"type":"string","description":"few distinctive words, a path, an error text"},` +
				`"limit":{"type":"integer"}},"required":["query"]}`),
		},
		{
			Name: ToolPin,
			Description: "Keeps words of a message verbatim when it fades: give message, and part or an exact quote of it. " +
				"first and last keep whole messages. Pin only what must not be lost, such as an order or a spec; it takes room from the history.",
			InputSchema: []byte(`{"type":"object","properties":{` +
				`"message":{"type":"integer"},"part":{"type":"integer"},` +
				`"quote":{"type":"string","description":"copied exactly"},` +
				`"first":{"type":"integer"},"last":{"type":"integer"}}}`),
		},
		{
			Name:        ToolUnpin,
			Description: "Ends a pin.",
			InputSchema: []byte(`{"type":"object","properties":{"pin":{"type":"integer"}},"required":["pin"]}`),
		},
	}
}

package compartments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// DecodeMessage reads one message as it stands on the wire and in the store:
//
//	{id?, role, time, agent?, model?, tokens?, finish?, summary?, error?, parts[]}
//
// where time is Unix ms. Unknown fields are ignored, unknown part types become
// PartOther, and a field of a surprising type counts as absent, so that only
// text that is no JSON object, a missing role, or parts that are no array are
// errors. Names count with their case. The returned strings do not alias raw.
func DecodeMessage(raw []byte) (Message, error) {
	var valid json.RawMessage
	if err := json.Unmarshal(raw, &valid); err != nil {
		return Message{}, fmt.Errorf("message is no JSON object: %w", err)
	}
	var m Message
	var parts, failure []byte
	if !eachMember(raw, func(name string, value []byte) {
		switch name {
		case "id":
			_ = m.ID.UnmarshalJSON(value) // a wrong type counts as absent
		case "role":
			m.Role = Role(decodeText(value))
		case "time":
			m.Time = decodeTime(value)
		case "agent":
			m.Agent = decodeText(value)
		case "model":
			m.Model = decodeString(value)
		case "tokens":
			m.Usage = decodeUsage(value)
		case "finish":
			m.Finish = decodeText(value)
		case "summary":
			m.Summary = string(value) == "true"
		case "error":
			m.Failed, failure = string(value) != "null", value
		case "parts":
			parts = value
		}
	}) {
		return Message{}, errors.New("message is no JSON object")
	}
	switch m.Role {
	case RoleUser, RoleAssistant, RoleTool:
	default:
		return Message{}, fmt.Errorf("message %q: role %q is none of user, assistant, tool", m.ID, m.Role)
	}
	if parts != nil && string(parts) != "null" && !eachElement(parts, func(value []byte) {
		m.Parts = append(m.Parts, decodePart(value))
	}) {
		return Message{}, fmt.Errorf("message %q: parts are no array", m.ID)
	}
	m.Unsent = m.Failed && m.Role == RoleAssistant && !(aborted(failure) && m.begun())
	return m, nil
}

// aborted reports whether the error of a message says that the user broke it off.
func aborted(failure []byte) bool {
	name := ""
	eachMember(failure, func(member string, value []byte) {
		if member == "name" {
			name = decodeText(value)
		}
	})
	return name == "MessageAbortedError"
}

// begun reports whether a reply has more than what the model thought: the host sends
// what there is of one that was broken off then, and nothing of one that failed.
func (m *Message) begun() bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind != PartReasoning && p.Type != "step-start" {
			return true
		}
	}
	return false
}

func decodeUsage(raw []byte) Usage {
	var u Usage
	eachMember(raw, func(name string, value []byte) {
		switch name {
		case "input":
			u.Input = int(decodeNumber(value))
		case "output":
			u.Output = int(decodeNumber(value))
		case "reasoning":
			u.Reasoning = int(decodeNumber(value))
		case "cache":
			eachMember(value, func(name string, value []byte) {
				switch name {
				case "read":
					u.CacheRead = int(decodeNumber(value))
				case "write":
					u.CacheWrite = int(decodeNumber(value))
				}
			})
		}
	})
	return u
}

func decodePart(raw []byte) Part {
	var p Part
	var state []byte
	eachMember(raw, func(name string, value []byte) {
		switch name {
		case "type":
			p.Type = decodeText(value)
		case "text":
			p.Text = decodeText(value)
		case "synthetic":
			p.Synthetic = string(value) == "true"
		case "ignored":
			p.Ignored = string(value) == "true"
		case "tool":
			p.Tool = decodeText(value)
		case "callID":
			p.CallID = decodeText(value)
		case "mime":
			p.Mime = decodeText(value)
		case "filename":
			p.Filename = decodeText(value)
		case "url":
			p.URLBytes = stringBytes(value)
		case "state":
			state = value
		}
	})
	p.Kind = partKind(p.Type)
	if p.Kind != PartTool {
		p.Tool, p.CallID = "", ""
		return p
	}
	decodeState(state, &p)
	return p
}

func decodeState(raw []byte, p *Part) {
	var output, failure, attachments []byte
	p.Status = StatusPending
	eachMember(raw, func(name string, value []byte) {
		switch name {
		case "status":
			p.Status = toolStatus(decodeText(value))
		case "input":
			p.Input = string(value)
		case "output":
			output = value
		case "error":
			failure = value
		case "title":
			p.Title = decodeText(value)
		case "metadata":
			p.ExitCode, p.HasExit = decodeExit(value)
		case "attachments":
			attachments = value
		}
	})
	switch p.Status {
	case StatusCompleted:
		p.Output = decodeString(output)
		decodeAttachments(attachments, p)
	case StatusError:
		p.Output = decodeString(failure)
	}
}

// decodeAttachments takes what is sent beside a result: how many files, of which
// types, and how large. Their content is never decoded.
func decodeAttachments(raw []byte, p *Part) {
	eachElement(raw, func(file []byte) {
		var mime string
		size := 0
		eachMember(file, func(name string, value []byte) {
			switch name {
			case "mime":
				mime = decodeText(value)
			case "url":
				size = stringBytes(value)
			}
		})
		if !SentAsMedia(mime, size) {
			return
		}
		p.Media++
		p.MediaBytes += size
		if mime == "" {
			mime = "type unknown"
		}
		if !slices.Contains(strings.Split(p.MediaTypes, ", "), mime) {
			p.MediaTypes = strings.TrimPrefix(p.MediaTypes+", "+mime, ", ")
		}
	})
}

// stringBytes is how many bytes the value of a JSON string has; 0 if it is none.
func stringBytes(value []byte) int {
	switch {
	case !isString(value):
		return 0
	case bytes.IndexByte(value, '\\') < 0:
		return len(value) - 2
	}
	return len(decodeText(value))
}

func partKind(t string) PartKind {
	switch t {
	case "text":
		return PartText
	case "reasoning":
		return PartReasoning
	case "tool":
		return PartTool
	case "file":
		return PartFile
	case "compaction":
		return PartCompaction
	case "step-start", "step-finish", "snapshot", "patch", "agent", "retry":
		return PartMarker
	}
	return PartOther
}

func toolStatus(s string) ToolStatus {
	switch s {
	case "running":
		return StatusRunning
	case "completed":
		return StatusCompleted
	case "error":
		return StatusError
	}
	return StatusPending
}

// largestNumber bounds the numbers that are taken from a host, so that all
// machines read the same.
const largestNumber = 1 << 53

// decodeNumber is a JSON number without its fraction; anything else is 0.
func decodeNumber(raw []byte) int64 {
	var n float64
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	return int64(max(-largestNumber, min(n, largestNumber)))
}

func decodeTime(raw []byte) int64 {
	at := decodeNumber(raw)
	eachMember(raw, func(name string, value []byte) {
		if name == "created" {
			at = decodeNumber(value)
		}
	})
	return at
}

func decodeExit(metadata []byte) (code int, ok bool) {
	var other []byte
	eachMember(metadata, func(name string, value []byte) {
		switch name {
		case "exit":
			if number(value) {
				code, ok = int(decodeNumber(value)), true
			}
		case "exitCode":
			other = value
		}
	})
	if !ok && number(other) {
		return int(decodeNumber(other)), true
	}
	return code, ok
}

// number reports whether a JSON value is a number.
func number(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || value[0] >= '0' && value[0] <= '9')
}

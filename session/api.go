package session

import (
	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// SyncRequest is one piece of a host's message list.
type SyncRequest struct {
	Session  compartments.SessionID
	Parent   compartments.SessionID
	Base     string   // revision that Keep counts in
	Keep     int      // messages kept from the front of the list
	Check    string   // revision of the kept messages
	Messages [][]byte // JSON of each message, byte for byte as it came
	More     bool     // further pieces follow; nothing is withdrawn yet
}

// Model is the model of the very request that a transform prepares.
type Model struct {
	ID       string
	Provider string
	Context  int // tokens; 0 unknown
	Output   int // most output tokens; 0 unknown
	Prices   compartments.Prices
}

// TransformRequest asks for the plan of the next request.
type TransformRequest struct {
	Session    compartments.SessionID
	Rev        string
	Applied    string // plan of the last request that was really sent
	DeadlineMs int    // time left for the answer; 0 means no limit
	Agent      string
	Model      Model
	FixedBytes int   // bytes of system text and tool definitions last seen; 0 unknown
	Now        int64 // Unix ms, the host's clock
	// Sent says that the request went out already, with Applied: nothing is decided for
	// it, and the answer is for the next one.
	Sent bool
}

// TransformReply is the newest committed plan.
type TransformReply struct {
	PlanID    string
	Plan      []byte // the plan's JSON with its id; nil when PlanID equals Applied
	MaxOutput int    // most output tokens this request may ask for; 0 leaves it
	Stats     Stats
	Standing  *Standing // nil where the next request has to ask
}

// Standing says for which requests the answer is known already: those of the same
// agent and model, whose list is the one named with new messages behind it. They may
// be made with the plan that this came with, and told afterwards.
type Standing struct {
	Rev string `json:"rev"`
	decay.Standing
	Until int64 `json:"until"` // Unix ms of the host's clock: the cache is gone then
}

// Stats are the numbers that the decision used, in tokens unless said otherwise.
type Stats struct {
	Window       int      `json:"window"`
	Usable       int      `json:"usable"`
	Reserve      int      `json:"reserve"`
	Fixed        int      `json:"fixed"`
	Messages     int      `json:"messages"` // of messages to be sent, the head included
	Pressure     int      `json:"pressure"` // permille of the usable window
	Budget       int      `json:"budget"`
	History      int      `json:"history"` // rendered history in the head
	Fold         int      `json:"fold"`    // number of the fold in force; 0 before the first
	Folded       bool     `json:"folded"`  // this very pass folded
	Reason       string   `json:"reason,omitempty"`
	Compartments int      `json:"compartments"`
	Stubs        int      `json:"stubs"` // in force
	Irreducible  string   `json:"irreducible,omitempty"`
	Warnings     []string `json:"warnings,omitempty"`
}

// Event is news that the list cannot show.
type Event struct {
	Session compartments.SessionID
	Type    string // usage, error, idle, deleted, forkedFrom
	Message compartments.MessageID
	Usage   compartments.Usage
	// Overflow says that the provider refused the request as too long.
	Overflow bool
	Text     string
	Source   compartments.SessionID
}

// Tool is the definition of one tool for the model.
type Tool struct {
	Name        string
	Description string
	InputSchema []byte // JSON
}

// ToolResult is what a tool call returns to the model.
type ToolResult struct {
	Text    string
	IsError bool
}

// ExpandRequest asks for stored JSON. Either First and Last, or Compartment, or
// Message is given.
type ExpandRequest struct {
	Session     compartments.SessionID
	First, Last compartments.Ordinal
	Compartment compartments.CompartmentID
	Message     compartments.MessageID
	Part        int // 0-based; negative: whole messages
	Offset      int // bytes, with Part; messages otherwise
	Limit       int // bytes; 0 means the default
}

// ExpandReply is one page of stored JSON.
type ExpandReply struct {
	Messages []ExpandedMessage
	Text     string // with Part
	Offset   int
	Next     int // offset of the next page; 0 when this was the last
	Total    int
}

// ExpandedMessage is one message as it is stored.
type ExpandedMessage struct {
	Ordinal   compartments.Ordinal
	ID        compartments.MessageID
	Withdrawn bool
	Raw       []byte
}

// FoldReply says whether a fold was scheduled or, in a dry run, would be.
type FoldReply struct {
	Folded bool
	PlanID string
	Reason string
}

// Status is what the user is shown: the numbers that decisions use.
type Status struct {
	Session      compartments.SessionID `json:"session"`
	Stats        Stats                  `json:"stats"`
	Messages     int                    `json:"messages"`
	Withdrawn    int                    `json:"withdrawn"`
	Unknown      int                    `json:"unknownParts"`
	Tiers        map[string]int         `json:"tiers"` // compartments by applied tier
	Folds        []FoldLine             `json:"folds"`
	Ahead        bool                   `json:"ahead,omitempty"` // the last of them was made when a turn had ended, and no request was made since
	Numbers      map[string]int         `json:"numbers"`         // every setting in force that is a number
	Prefer       string                 `json:"prefer"`          // what folds that nothing forces are made for
	Notices      []string               `json:"notices,omitempty"`
	HostIgnoring bool                   `json:"hostIgnoring,omitempty"`
	Historian    string                 `json:"historian"`
	Timing       *Timing                `json:"timing,omitempty"`      // what decides when the next fold is made; nil before the first request
	Calibration  map[string]int         `json:"calibration,omitempty"` // permille by model
}

// FoldLine is one fold in the ledger.
type FoldLine struct {
	Number     int            `json:"number"`
	At         int64          `json:"at"`
	Reason     string         `json:"reason"`
	Divergence int            `json:"divergence"` // first pair that changed; 0 is a full fold
	Pairs      int            `json:"pairs"`
	Through    int64          `json:"through"` // last ordinal that the head stands for
	Before     int            `json:"before"`  // tokens of messages
	After      int            `json:"after"`
	Tiers      map[string]int `json:"tiers"` // compartments by tier, this fold
}

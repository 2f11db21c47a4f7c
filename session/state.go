package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"ctxplugin/compartments"
	"ctxplugin/tokens"
)

// state is the small rest of a session that is stored as one value.
type state struct {
	// Layout stays the first field: encode puts it in its place.
	Layout   []compartments.PairLayout `json:"layout"`             // texts stand in the plan
	Through  compartments.Ordinal      `json:"through,omitempty"`  // last message that the plan in force drops, or hides
	Hidden   []compartments.Ordinal    `json:"hidden,omitempty"`   // behind the host's own summary
	HiddenBy compartments.Ordinal      `json:"hiddenBy,omitempty"` // the host's request for that summary
	Stands   compartments.Ordinal      `json:"stands,omitempty"`   // the same, where no record could be made of what it hides

	Compartments int `json:"compartments"` // ever numbered in this session

	Source compartments.SessionID `json:"source,omitempty"` // of the copies, while the first list of a fork is told in pieces

	Applied  bool   `json:"applied"`           // the host named the plan in force
	Unnamed  int    `json:"unnamed,omitempty"` // answers in a row whose plan the host did not name
	Model    string `json:"model"`             // of the last request
	Rev      string `json:"rev,omitempty"`     // list of the last request
	Now      int64  `json:"now"`               // host's clock at the last request
	FoldAt   int    `json:"foldAt"`            // tokens behind the head right after the last fold
	Steps    int    `json:"steps"`             // requests since the last fold
	Overflow bool   `json:"overflow,omitempty"`
	Owed     int    `json:"owed,omitempty"` // tokens that the historian may still write behind the last answer
	Asked    bool   `json:"asked,omitempty"`
	Ahead    bool   `json:"ahead,omitempty"` // the last fold was made when a turn had ended, and no request was made since
	// Again are the compartments that Historian wrote in the place of Slow, by first
	// and last message, the newest last: each is given to Slow once more.
	Again    [][2]compartments.Ordinal `json:"again,omitempty"`
	PinsTold bool                      `json:"pinsTold,omitempty"` // the user knows that pins take more than the budget

	FloorsTold compartments.Survival `json:"floorsTold,omitzero"` // floors of which the user knows that the budget does not hold them

	// Undone is the last message that a fold stood for which the user took back:
	// none that nothing forces is made before there is material behind it.
	Undone compartments.Ordinal `json:"undone,omitempty"`

	Prices compartments.Prices `json:"prices"` // of the last request's model

	// Predicted is our own count of the last request, system and tools included,
	// for the calibration; PredictedAt the length of its list.
	Predicted   int `json:"predicted"`
	PredictedAt int `json:"predictedAt"`

	Fixed       map[string]int                `json:"fixed,omitempty"`       // tokens of system and tools by agent and model
	Calibration map[string]tokens.Calibration `json:"calibration,omitempty"` // by model
	Learned     map[string]int                `json:"learned,omitempty"`     // windows that refusals showed, by model
	Stats       Stats                         `json:"stats"`
}

// encode is the state as it is stored, with a layout that is encoded already: it is
// by far the most of it, and only a fold changes it.
func (st *state) encode(layout []byte) ([]byte, error) {
	out := *st
	out.Layout = nil
	b, err := json.Marshal(&out)
	if err != nil {
		return nil, fmt.Errorf("encode session state: %w", err)
	}
	rest, ok := bytes.CutPrefix(b, []byte(`{"layout":null`))
	if !ok {
		panic("the layout is the first field of a state")
	}
	return slices.Concat([]byte(`{"layout":`), layout, rest), nil
}

// encodedLayout is a layout without its texts, as JSON, and the layout that it is of.
type encodedLayout struct {
	of   []compartments.PairLayout
	json []byte
}

// encode encodes a layout, unless it is the one that was encoded last: no layout is
// ever changed in its place but for the texts.
func (e *encodedLayout) encode(layout []compartments.PairLayout) []byte {
	if e.json != nil && len(layout) == len(e.of) && (len(layout) == 0 || &layout[0] == &e.of[0]) {
		return e.json
	}
	e.of, e.json = layout, compartments.AppendLayout(nil, layout)
	return e.json
}

func withoutTexts(layout []compartments.PairLayout) []compartments.PairLayout {
	out := make([]compartments.PairLayout, len(layout))
	for i, p := range layout {
		p.Text = ""
		out[i] = p
	}
	return out
}

func decodeState(b []byte) (state, error) {
	st := state{}
	if len(b) > 0 {
		if err := json.Unmarshal(b, &st); err != nil {
			return state{}, fmt.Errorf("decode session state: %w", err)
		}
	}
	if st.Fixed == nil {
		st.Fixed = map[string]int{}
	}
	if st.Calibration == nil {
		st.Calibration = map[string]tokens.Calibration{}
	}
	if st.Learned == nil {
		st.Learned = map[string]int{}
	}
	return st, nil
}

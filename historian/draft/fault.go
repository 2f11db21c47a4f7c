package draft

import (
	"fmt"
	"slices"
	"strings"

	"ctxplugin/compartments"
)

// FaultCode names a rule that a draft broke. Codes go into the ledger; texts may
// change.
type FaultCode string

// The faults for which a draft is not taken.
const (
	FaultNothing     FaultCode = "nothing"     // no compartment could be read
	FaultBadRange    FaultCode = "bad-range"   // first or last is no number, or last is before first
	FaultOutside     FaultCode = "outside"     // a message that was not sent
	FaultOverlap     FaultCode = "overlap"     // a message in two compartments
	FaultGap         FaultCode = "gap"         // messages with words in none
	FaultUncovered   FaultCode = "uncovered"   // messages with words behind the last
	FaultGroup       FaultCode = "group"       // begins inside a group of calls
	FaultTooLarge    FaultCode = "too-large"   // more than one objective can be
	FaultTier        FaultCode = "tier"        // one is missing or says nothing
	FaultCeiling     FaultCode = "ceiling"     // takes too many tokens
	FaultRising      FaultCode = "rising"      // takes more than the one above
	FaultTitle       FaultCode = "title"       // missing
	FaultImportance  FaultCode = "importance"  // no number from 1 to 100
	FaultTemplate    FaultCode = "template"    // a line of the prompt
	FaultMarkup      FaultCode = "markup"      // headings or tags of ours
	FaultInstruction FaultCode = "instruction" // speaks to the reader
	FaultName        FaultCode = "name"        // an identifier that the source lacks
	FaultNumber      FaultCode = "number"      // a number that the source lacks
	FaultQuote       FaultCode = "quote"       // a quotation that the source lacks
	FaultUser        FaultCode = "user"        // words or wishes that the user did not utter
	FaultUnproven    FaultCode = "unproven"    // a success without an outcome in the source
	FaultOrdinal     FaultCode = "ordinal"     // a message of elsewhere as evidence
	FaultSpan        FaultCode = "span"        // an exact span that its message lacks
	FaultGains       FaultCode = "gains"       // a lower tier that says more
	FaultContradicts FaultCode = "contradicts" // a lower tier that says otherwise
	FaultLanguage    FaultCode = "language"    // not that of the messages
)

// The faults for which a fact or an event is left out, and nothing else.
const (
	DroppedFact  FaultCode = "fact"
	DroppedEvent FaultCode = "event"
)

// Fault is one broken rule, where and how.
type Fault struct {
	Code        FaultCode
	First, Last compartments.Ordinal // of the compartment as the draft has it; 0 if it is about all
	Tier        compartments.Tier    // TierNone if it is about no tier
	Text        string               // for whoever has to mend it
}

func (f Fault) String() string {
	var b strings.Builder
	if f.First != 0 {
		fmt.Fprintf(&b, "%d-%d", f.First, f.Last)
		if f.Tier != compartments.TierNone {
			b.WriteString(" " + f.Tier.String())
		}
		b.WriteString(": ")
	}
	b.WriteString(f.Text)
	return b.String()
}

// codesOf lists the codes of faults, each once, in order of first sight.
func codesOf(faults []Fault) []string {
	var out []string
	for _, f := range faults {
		if !slices.Contains(out, string(f.Code)) {
			out = append(out, string(f.Code))
		}
	}
	return out
}

// told is how faults are shown to the model: the first of each compartment and
// tier, and not too many.
func told(faults []Fault) string {
	const most = 30
	var b strings.Builder
	for i, f := range faults {
		if i == most {
			fmt.Fprintf(&b, "- and %d more of the same kinds\n", len(faults)-most)
			break
		}
		b.WriteString("- " + f.String() + "\n")
	}
	return b.String()
}

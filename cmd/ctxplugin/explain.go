package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxplugin/compartments"
	"ctxplugin/decay"
	"ctxplugin/session"
)

// explainCommand says why the head of a session is as it is.
type explainCommand struct {
	database
	Session     string `arg:"" help:"A session, or the start of its name."`
	Compartment *int64 `placeholder:"N" xor:"one" help:"Say of the compartment that message N is in why it has its tier, and at which budget it would have another."`
	Fold        *int   `placeholder:"N" xor:"one" help:"Say of this fold alone what it weighed, cost and saved."`
	DryRun      bool   `xor:"one" help:"Show the next fold as it would be made now. Nothing changes."`
	JSON        bool   `help:"Print one JSON document, with every number that the text follows from."`
}

// Run implements the command.
func (e *explainCommand) Run(p *program) (err error) {
	if e.Compartment != nil && *e.Compartment < 1 || e.Fold != nil && *e.Fold < 1 {
		return usage("messages and folds count from 1")
	}
	in, err := e.open(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(p.ctx)) }()
	id, err := in.name(p.ctx, e.Session)
	if err != nil {
		return err
	}
	turning := compartments.CompartmentID(0)
	if e.Compartment != nil {
		if turning, err = in.holding(p.ctx, id, *e.Compartment); err != nil {
			return err
		}
	} else if e.JSON {
		turning = -1
	}
	x, err := in.Explain(p.ctx, id, turning)
	if err != nil {
		return err
	}
	if e.DryRun {
		next, err := in.Preview(p.ctx, id, time.Now().UnixMilli())
		if err != nil {
			return err
		}
		x.Next = &next
	}
	if e.Compartment != nil {
		keepOnly(&x.Compartments, func(c *session.Explained) bool { return c.Compartment == turning })
	}
	if e.Fold != nil && !keepOnly(&x.Folds, func(f *session.FoldCost) bool { return f.Number == *e.Fold }) {
		return usage("session %s has no fold %d; ctxplugin status lists them", id, *e.Fold)
	}
	if e.JSON {
		return printJSON(p, &x)
	}
	var out bytes.Buffer
	switch {
	case e.Compartment != nil:
		compartmentText(&out, &x)
	case e.Fold != nil:
		foldText(&out, &x.Folds[0])
	case e.DryRun:
		previewText(&out, x.Next)
	default:
		explanationText(&out, &x)
	}
	_, err = p.stdout.Write(out.Bytes())
	return err
}

// titleMost is how much of a title a line of the table shows, in characters.
const titleMost = 60

func shortTitle(title string) string {
	if runes := []rune(title); len(runes) > titleMost {
		return string(runes[:titleMost-1]) + "…"
	}
	return title
}

// keepOnly drops all others and reports whether one is left.
func keepOnly[T any](list *[]T, keep func(*T) bool) bool {
	for i := range *list {
		if keep(&(*list)[i]) {
			*list = (*list)[i : i+1]
			return true
		}
	}
	return false
}

// explanationText is the whole of a session: what is shown, what it cost, and what
// is not in view.
func explanationText(out *bytes.Buffer, x *session.Explanation) {
	rows := [][]string{{"messages", "tier", "tokens", "of raw", "fold", "title"}}
	for i := range x.Compartments {
		c := &x.Compartments[i]
		fold := "–"
		if c.Fold > 0 {
			fold = strconv.Itoa(c.Fold)
		}
		tier := c.Tier
		if c.Below {
			tier += " (eased)"
		}
		rows = append(rows, []string{fmt.Sprintf("%d-%d", c.First, c.Last), tier, grouped(c.Tokens), grouped(c.RawTokens), fold, shortTitle(c.Title)})
	}
	out.Write(table(rows))
	if len(x.Compartments) == 0 {
		out.WriteString("nothing is written yet: all messages are sent as they are\n")
	}
	for i := range x.Selections {
		s := &x.Selections[i]
		fmt.Fprintf(out, "fold %d chose for %s tokens (history budget %s): %s of %s demotions were needed\n", s.Fold, grouped(s.Target), grouped(s.Budget), grouped(s.Taken), grouped(s.Demotions))
	}
	if len(x.Folds) > 0 {
		out.WriteByte('\n')
		out.Write(ledgerText(x.Folds))
	}
	if len(x.NotInView) > 0 {
		rows := [][]string{{"not in view", "as", "call that returns it"}}
		for _, o := range x.NotInView {
			what := fmt.Sprintf("%d-%d", o.First, o.Last)
			if o.Part >= 0 {
				what = fmt.Sprintf("%d, part %d", o.First, o.Part)
			}
			rows = append(rows, []string{what, o.What, o.Call})
		}
		out.WriteByte('\n')
		out.Write(table(rows))
	}
	if x.Next != nil {
		out.WriteByte('\n')
		previewText(out, x.Next)
	}
}

// ledgerText is one line for each fold. Money is in the unit of the prices.
func ledgerText(folds []session.FoldCost) []byte {
	rows := [][]string{{"fold", "reason", "messages", "tokens before", "after", "written again", "cost", "saves a step", "paid after", "stubs", "tiers"}}
	for i := range folds {
		f := &folds[i]
		reason := f.Reason
		switch {
		case f.Undoes > 0:
			reason = fmt.Sprintf("undoes %d", f.Undoes)
		case !f.Stands:
			reason += " (undone)"
		}
		span := "–"
		if f.First > 0 {
			span = fmt.Sprintf("%d-%d", f.First, f.Through)
		}
		rows = append(rows, []string{strconv.Itoa(f.Number), reason, span, grouped(f.Before), grouped(f.After), grouped(f.Costs.Anew),
			money(f.Costs.Cost, f.Costs.Priced), money(f.Costs.Saving, f.Costs.Priced), stepsText(f.Costs.BreakEven), grouped(f.Stubs), tiersText(f.Tiers)})
	}
	return table(rows)
}

// foldText is one fold in sentences.
func foldText(out *bytes.Buffer, f *session.FoldCost) {
	fmt.Fprintf(out, "fold %d, %s, reason %s: from %s to %s tokens of messages\n", f.Number, when(f.At), f.Reason, grouped(f.Before), grouped(f.After))
	switch {
	case f.Undoes > 0:
		fmt.Fprintf(out, "it takes fold %d back\n", f.Undoes)
	case !f.Stands:
		out.WriteString("it was taken back\n")
	}
	if f.First > 0 {
		fmt.Fprintf(out, "it kept the first %d pairs of the head and rendered messages %d-%d anew: %s\n", f.Divergence, f.First, f.Through, tiersText(f.Tiers))
	}
	costsText(out, f.Costs)
	if f.Spacing > 0 {
		fmt.Fprintf(out, "the cheapest growth between folds was %s tokens\n", grouped(f.Spacing))
	}
	if !f.Again && f.Undoes == 0 {
		out.WriteString("it is of an older version: what it weighed is not recorded\n")
	}
}

// costsText is what a fold costs and saves, in a sentence.
func costsText(out *bytes.Buffer, c decay.Costs) {
	switch {
	case c.Anew > 0:
		fmt.Fprintf(out, "%s tokens behind the change are written to the cache again instead of read", grouped(c.Anew))
	default:
		out.WriteString("no cache is lost")
	}
	if c.Priced {
		fmt.Fprintf(out, ", which costs %s", money(c.Cost, true))
	}
	removed, saving, less, saves := c.Removed, c.Saving, "less", "saves"
	if removed < 0 { // a fold that had to be made, and shows more
		removed, saving, less, saves = -removed, -saving, "more", "costs"
	}
	fmt.Fprintf(out, "; each later step has %s tokens %s", grouped(removed), less)
	if c.Priced {
		fmt.Fprintf(out, ", which %s %s", saves, money(saving, true))
	}
	if c.BreakEven > 0 {
		fmt.Fprintf(out, "; paid after %s", stepsText(c.BreakEven))
	}
	out.WriteByte('\n')
}

// compartmentText is one compartment in sentences.
func compartmentText(out *bytes.Buffer, x *session.Explanation) {
	c := &x.Compartments[0]
	fmt.Fprintf(out, "compartment of messages %d-%d: %s\n", c.First, c.Last, c.Title)
	fmt.Fprintf(out, "%s; its messages themselves take %s\n", shownText(c), grouped(c.RawTokens))
	out.WriteString(policyText(c))
	fmt.Fprintf(out, "why: %s\n", c.Why)
	for i := range x.Selections {
		s := &x.Selections[i]
		if s.Fold != c.Fold {
			continue
		}
		for _, at := range s.Candidates {
			if at.Compartment == c.Compartment {
				selectionText(out, s, &at)
			}
		}
	}
	if c.Less != nil {
		fmt.Fprintf(out, "with a history budget below %s tokens it would be %s\n", grouped(c.Less.Budget), c.Less.Tier)
	} else if c.Fold > 0 {
		out.WriteString("no smaller history budget would show less of it\n")
	}
	if c.More != nil {
		fmt.Fprintf(out, "with one of %s tokens it would be %s\n", grouped(c.More.Budget), c.More.Tier)
	} else if c.Fold > 0 {
		out.WriteString("no larger history budget would show more of it\n")
	}
}

// shownText says how a compartment is shown.
func shownText(c *session.Explained) string {
	switch c.Tier {
	case compartments.TierIndex.String():
		return fmt.Sprintf("it is part of an index line, of which its share is %s tokens", grouped(c.Tokens))
	case compartments.TierArchived.String():
		return "it has left the window, and no line of the record stands for it"
	case compartments.TierNone.String():
		return "it is not shown: the record names the call that opens it"
	}
	return fmt.Sprintf("it is shown at tier %s, in %s tokens", c.Tier, grouped(c.Tokens))
}

// policyText is what policy leaves a compartment, and why.
func policyText(c *session.Explained) string {
	text := fmt.Sprintf("policy allows %s to %s", c.Highest, c.Lowest)
	if c.Highest == c.Lowest {
		text = fmt.Sprintf("policy allows %s alone", c.Highest)
	}
	class := c.Class
	if c.Retention != class {
		class += ", and from the next fold on " + c.Retention
	}
	text += fmt.Sprintf(" (class %s); importance %d of 100\n", class, c.Importance)
	if len(c.Floors) == 0 {
		return text
	}
	var floors []string
	for _, name := range slices.Sorted(maps.Keys(c.Floors)) {
		floors = append(floors, fmt.Sprintf("%s %d %%", name, c.Floors[name]/10))
	}
	text += "floors: " + strings.Join(floors, ", ")
	switch {
	case c.Eased:
		text += "; the budget has no room for them here, so they are eased for it"
	case c.Fold == 0:
		text += ", as they are set now"
	}
	return text + "\n"
}

// selectionText is the candidate in the selection that gave it its tier.
func selectionText(out *bytes.Buffer, s *session.Selection, c *decay.Explainer) {
	fmt.Fprintf(out, "fold %d chose for a history budget of %s tokens: %s newer compartments, relevance %d.%03d\n", s.Fold, grouped(s.Budget), grouped(c.Age), c.Relevance/1000, c.Relevance%1000)
	rows := [][]string{{"tier", "tokens", "value", "of raw"}}
	points := c.Points
	if c.Below != nil {
		points = append(points[:len(points):len(points)], *c.Below)
	}
	for _, p := range points {
		rows = append(rows, []string{p.Tier, tokensText(p.Tokens), grouped(int(p.Value)), ""})
		if most := points[0].Value; most > 0 {
			rows[len(rows)-1][3] = fmt.Sprintf("%d %%", p.Value*100/most)
		}
	}
	rows[0][3] = "of the most"
	out.Write(table(rows))
	rows = [][]string{{"step", "tokens saved", "value lost a token", "place in the list", "taken"}}
	for _, st := range c.Steps {
		taken := "no"
		if st.Taken {
			taken = "yes"
		}
		rows = append(rows, []string{st.From + " to " + st.To, tokensText(st.Saves), grouped(int(st.PerToken())), fmt.Sprintf("%d of %d", st.Place, s.Demotions), taken})
	}
	if len(c.Steps) > 0 {
		out.Write(table(rows))
	}
}

// previewText is the next fold in sentences.
func previewText(out *bytes.Buffer, n *session.Preview) {
	if !n.Folds {
		fmt.Fprintf(out, "no fold now: %s\n", n.Why)
	} else {
		fmt.Fprintf(out, "the next request would fold: %s\n", n.Why)
		fmt.Fprintf(out, "from %s to %s tokens of messages; the first %d of then %d pairs stay as they are; %s\n", grouped(n.Before), grouped(n.After), n.Divergence, n.Pairs, tiersText(n.Tiers))
		costsText(out, *n.Costs)
	}
	switch n.Pins {
	case 0:
	case 1:
		fmt.Fprintln(out, "1 pin waits for the next fold")
	default:
		fmt.Fprintf(out, "%d pins wait for the next fold\n", n.Pins)
	}
	t := &n.Timing
	if t.Messages > 0 {
		fmt.Fprintf(out, "the request takes %s tokens of messages, %d.%d %% of the usable window; %s of them came since the last fold, %s a step\n",
			grouped(t.Messages), t.Pressure/10, t.Pressure%10, grouped(t.Grown), grouped(t.PerStep))
	}
}

// tokensText is a number of 1/TokenUnit tokens.
func tokensText(n int64) string {
	whole, rest := n/decay.TokenUnit, n%decay.TokenUnit
	if rest == 0 {
		return grouped(int(whole))
	}
	return fmt.Sprintf("%s.%02d", grouped(int(whole)), rest*100/decay.TokenUnit)
}

// money is micro-units as units.
func money(micro int64, priced bool) string {
	if !priced {
		return "–"
	}
	sign := ""
	if micro < 0 {
		sign, micro = "-", -micro
	}
	return fmt.Sprintf("%s%d.%06d", sign, micro/1_000_000, micro%1_000_000)
}

func stepsText(n int) string {
	switch {
	case n < 0:
		return "never"
	case n == 0:
		return "at once"
	case n == 1:
		return "1 step"
	}
	return grouped(n) + " steps"
}

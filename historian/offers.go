package historian

import "strings"

// asks reports a text that ends with something for the user to decide.
func asks(units []unit) bool {
	for _, u := range units[max(0, len(units)-5):] {
		if question(u.text) || offers(u.text) {
			return true
		}
	}
	return false
}

// offered is the place at which a text ends in a list of what the agent could do next,
// with its introduction; behind the last unit where it does not. A closing sentence may
// stand behind the list.
func offered(units []unit) int {
	end := len(units)
	for end > 2 && len(units)-end < 2 && units[end-1].kind == unitProse && (offers(units[end-1].text) || question(units[end-1].text)) {
		end--
	}
	for i := end - 2; i >= 0; i-- {
		if u := &units[i]; u.kind != unitBullet && u.kind != unitRow || units[i+1].kind != u.kind {
			if (strings.HasSuffix(u.text, ":") || strings.HasSuffix(u.text, "：")) && offers(u.text) {
				return i
			}
			break
		}
	}
	return len(units)
}

// offers reports a text that says what the agent could do if it were told to.
func offers(s string) bool {
	low := strings.ToLower(s)
	return hasAny(low, offerWords) || strings.HasPrefix(low, "once you ") && hasAny(low, []string{"i can ", "i'll ", "i will "})
}

// pointByPoint reports an answer that needs the questions beside it: "1. yes 2. no".
func pointByPoint(own string) bool { return own != "" && own[0] >= '0' && own[0] <= '9' }

// greeted reports whether what the agent said at a place only returned a greeting.
func (v *view) greeted(place int) bool {
	for i := place - 1; i >= 0; i-- {
		switch m := &v.ms[i]; m.who {
		case agent:
			return false
		case person:
			return width(m.speech.own) < 12 && v.opens(i)
		}
	}
	return false
}

// option reports an item that is one of several to choose from, in a text that asks.
func option(u *unit) bool { return u.num > 0 || numbered(u.text) }

// numbered reports a text that is headed by a word and a number, as options, steps and
// phases are: "Option 2: …".
func numbered(s string) bool {
	word, rest, ok := strings.Cut(s, " ")
	if !ok || len(word) > 12 || hasDigit(word) || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return false
	}
	rest = strings.TrimLeft(rest, "0123456789")
	return rest != "" && strings.IndexByte(":.)", rest[0]) >= 0 && (len(rest) == 1 || rest[1] == ' ') // and no version
}

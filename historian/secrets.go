package historian

import "strings"

const masked = "[secret]"

// prefixes of tokens that are secrets whatever follows, with the least number
// of characters behind them.
var secretPrefixes = [...]struct {
	prefix string
	rest   int
}{
	{"sk-", 16}, {"sk_live_", 8}, {"sk_test_", 8}, {"rk_live_", 8}, {"pk_live_", 8},
	{"ghp_", 16}, {"gho_", 16}, {"ghu_", 16}, {"ghs_", 16}, {"ghr_", 16}, {"github_pat_", 16}, {"glpat-", 12},
	{"AKIA", 12}, {"ASIA", 12}, {"AIza", 24}, {"ya29.", 16},
	{"xoxb-", 8}, {"xoxp-", 8}, {"xoxa-", 8}, {"xoxs-", 8}, {"xoxr-", 8}, {"xapp-", 8},
	{"npm_", 24}, {"pypi-", 24}, {"hf_", 24}, {"eyJ", 24}, {"SG.", 24}, {"dop_v1_", 24}, {"AGE-SECRET-KEY-", 8},
}

// names in front of = or : whose value is a secret.
var secretNames = [...]string{"password", "passwd", "secret", "token", "apikey", "api_key", "api-key", "access_key",
	"private_key", "authorization", "bearer", "credential", "pwd"}

// mask replaces secrets by a fixed word: tokens with a known prefix, long mixed
// runs that no name looks like, values of keys that name a secret, passwords in
// URLs, and private keys.
func mask(s string) string {
	if len(s) < 8 {
		return s
	}
	var b strings.Builder
	from := 0 // start of what has not been copied
	put := func(start, end int) {
		b.WriteString(s[from:start])
		b.WriteString(masked)
		from = end
	}
	named := false // the word before names a secret
	for i := 0; i < len(s); {
		if classes[s[i]]&classSecret == 0 {
			if s[i] == '\n' {
				named = false
			}
			i++
			continue
		}
		start := i
		for i < len(s) && classes[s[i]]&classSecret != 0 {
			i++
		}
		run := s[start:i]
		if named && strings.Trim(run, ":=-") == "" {
			continue // what stands between a name and its value
		}
		if strings.HasPrefix(run, "-----BEGIN") || run == "-----BEGIN" {
			if end := privateKey(s[start:]); end > 0 {
				put(start, start+end)
				i = start + end
				continue
			}
		}
		at, end := secretIn(run)
		if at < 0 && named && opaque(run, i < len(s) && (s[i] == '(' || s[i] == '.')) {
			at, end = 0, len(run)
		}
		if at >= 0 {
			put(start+at, start+end)
		}
		named = namesSecret(run, s[i:])
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// secretIn finds a secret in a run of characters without blanks and quotes.
func secretIn(run string) (start, end int) {
	if len(run) < 9 {
		return -1, 0
	}
	for _, p := range secretPrefixes {
		at := strings.Index(run, p.prefix)
		if at < 0 || at > 0 && classes[run[at-1]]&classWord != 0 {
			continue
		}
		end := at + len(p.prefix)
		for end < len(run) && (classes[run[end]]&classWord != 0 || run[end] == '-' || run[end] == '_' || run[end] == '.' && (p.prefix == "eyJ" || p.prefix == "SG." || p.prefix == "ya29.")) {
			end++
		}
		for run[end-1] == '.' {
			end--
		}
		if end-at-len(p.prefix) >= p.rest && (hasDigit(run[at:end]) || hasUpper(run[at+len(p.prefix):end])) {
			return at, end
		}
	}
	if at := strings.Index(run, "://"); at >= 0 {
		rest := run[at+3:]
		if slash := strings.IndexByte(rest, '/'); slash >= 0 {
			rest = rest[:slash]
		}
		host := strings.LastIndexByte(rest, '@')
		colon := strings.IndexByte(rest, ':')
		if colon >= 0 && host > colon+1 {
			return at + 3 + colon + 1, at + 3 + host
		}
		if q := strings.IndexByte(run, '?'); q >= 0 {
			return secretParameter(run, q)
		}
		return -1, 0
	}
	for _, sep := range [...]byte{'=', ':'} {
		at := strings.IndexByte(run, sep)
		if at <= 0 || at+1 >= len(run) {
			continue
		}
		if namesSecret(run[:at+1], "") && opaque(run[at+1:], false) {
			return at + 1, len(run)
		}
	}
	return mixedRun(run)
}

// secretParameter finds the value of a query parameter that names a secret.
func secretParameter(run string, from int) (start, end int) {
	for i := from; i < len(run); {
		next := len(run)
		if amp := strings.IndexByte(run[i+1:], '&'); amp >= 0 {
			next = i + 1 + amp
		}
		if eq := strings.IndexByte(run[i+1:next], '='); eq >= 0 && next-(i+2+eq) >= 8 && namesSecret(run[i+1:i+2+eq], "") {
			return i + 2 + eq, next
		}
		i = next
	}
	return -1, 0
}

// mixedRun finds a run of at least 32 characters that mixes cases and digits, as
// keys and encoded bytes do and names do not. A hash in lower case hex stays.
func mixedRun(run string) (start, end int) {
	for i := 0; i < len(run); {
		if classes[run[i]]&classWord == 0 && run[i] != '+' && run[i] != '/' && run[i] != '=' {
			i++
			continue
		}
		start := i
		digits, uppers, lowers, slashes, words := 0, 0, 0, 0, 0
		for i < len(run) && (classes[run[i]]&classWord != 0 || run[i] == '+' || run[i] == '/' || run[i] == '=' || run[i] == '_') {
			switch c := run[i]; {
			case c >= '0' && c <= '9':
				digits++
			case c >= 'A' && c <= 'Z':
				uppers++
			case c >= 'a' && c <= 'z':
				lowers++
			case c == '/':
				slashes++
			case c == '_':
				words++
			}
			i++
		}
		n := i - start
		if n >= 32 && digits*12 >= n && uppers*8 >= n && lowers*8 >= n && slashes*12 <= n && words*12 <= n {
			return start, i
		}
	}
	return -1, 0
}

// privateKey returns the length of a PEM block at the start of s, 0 if there is
// none. A block that is cut off ends with the text.
func privateKey(s string) int {
	line := head(s, 64)
	if !strings.Contains(line, "PRIVATE KEY") {
		return 0
	}
	if end := strings.Index(s, "-----END"); end >= 0 {
		if stop := strings.Index(s[end+8:], "-----"); stop >= 0 && stop < 64 {
			return end + 8 + stop + 5
		}
		return len(s)
	}
	return len(s)
}

// namesSecret reports whether a run ends in a key that names a secret and a sign
// that a value follows.
func namesSecret(run, rest string) bool {
	low := strings.ToLower(tailOf(run, 40))
	if strings.HasSuffix(low, "bearer") || strings.HasSuffix(low, "--password") || strings.HasSuffix(low, "--token") {
		return true
	}
	if !strings.HasSuffix(low, "=") && !strings.HasSuffix(low, ":") {
		if strings.HasPrefix(rest, `":`) || strings.HasPrefix(rest, `=`) || strings.HasPrefix(rest, `="`) || strings.HasPrefix(rest, `':`) {
			low += "="
		} else {
			return false
		}
	}
	low = strings.TrimRight(low, "=:")
	for _, name := range secretNames {
		if strings.HasSuffix(low, name) {
			return true
		}
	}
	return false
}

// opaque reports whether a value reads as a secret and not as a word, a call or
// a variable.
func opaque(v string, called bool) bool {
	if called || len(v) < 8 || strings.HasPrefix(v, "$") || strings.Contains(v, "/") && !strings.ContainsAny(v, "+=") {
		return false
	}
	kinds := 0
	if hasDigit(v) {
		kinds++
	}
	if hasUpper(v) {
		kinds++
	}
	if strings.ContainsAny(v, "+=!#%^*") {
		kinds++
	}
	return kinds >= 2 || kinds == 1 && hasDigit(v) && len(v) >= 12
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func hasUpper(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return true
		}
	}
	return false
}

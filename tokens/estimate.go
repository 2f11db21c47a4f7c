package tokens

// Costs below are in hundredths of a token: the mean number of tokens of such a
// piece in source code, prose, diffs and JSON, as the exact counter counts them.
// Nearly all pieces of such text are one token, so what an estimate has to get
// right is where the pieces end.

// wordCost is the cost of a word by what stands before it and by its length in
// letters; index 0 is not used.
var wordCost = [...][16]uint16{
	afterSpace:  {0, 100, 100, 101, 102, 104, 107, 109, 114, 124, 131, 148, 150, 155, 165, 185},
	afterSymbol: {0, 101, 111, 118, 130, 130, 130, 158, 180, 190, 200, 240, 280, 320, 360, 400},
	afterOther:  {0, 100, 101, 102, 103, 110, 115, 130, 135, 140, 165, 175, 190, 200, 240, 300},
	random:      {0, 100, 120, 195, 240, 295, 345, 395, 445, 495, 545, 595, 645, 695, 745, 795},
	allUpper:    {0, 100, 130, 140, 190, 230, 235, 265, 275, 300, 330, 380, 420, 450, 490, 530},
}

const (
	afterSpace = iota
	afterSymbol
	afterOther
	random // amid base64, hexadecimal numbers and the like
	allUpper
)

// symbolCost is the cost of a run of symbols by its length.
var symbolCost = [...]int{0, 100, 101, 115, 155, 160, 205, 210, 240}

const (
	// randomFrom is how many words and numbers in a row, with no blank or
	// symbol between them, tell random letters from camelCase.
	randomFrom = 3

	longWord    = 45  // per letter beyond the table
	wideLetter  = 25  // more per two-byte rune in a word
	longSymbols = 35  // per symbol beyond the table
	emoji       = 170 // per four-byte rune
	badByte     = 85  // per byte outside UTF-8
)

// Estimate returns the number of tokens in s to within 10 % or so on average,
// in one pass, with neither ranks nor memory. It is meant for where loading the
// ranks would not pay. It is not an upper bound, and on runs of one letter, or
// of random ones, it may be far off. It is 0 for the empty text only.
func Estimate(s string) int {
	sum := 0
	joined := 0 // pieces since the last blank or symbol
	for i := 0; i < len(s); {
		var cost, end int
		switch b := s[i]; {
		case isWordByte(b):
			kind := afterOther
			if joined >= randomFrom {
				kind = random
			}
			cost, end = estimateWord(s, i, kind)
			joined++
		case isDigit(b):
			for end = i + 1; end < len(s) && isDigit(s[end]); end++ {
			}
			joined++
			cost = (end - i + 2) / 3 * 100
		case b >= 0x80:
			cost, end = estimateWide(b)
			end = min(i+end, len(s))
		case b != '\r' && b != '\n' && i+1 < len(s) && isWordByte(s[i+1]):
			kind := afterSymbol
			if isBlank(b) {
				kind = afterSpace
			}
			cost, end = estimateWord(s, i+1, kind)
			joined = 1
		case isBlank(b):
			cost, end = estimateBlank(s, i)
			joined = 0
		default:
			cost, end = estimateSymbols(s, i)
			joined = 0
		}
		sum += cost
		i = end
	}
	return (sum + 99) / 100
}

// estimateWord returns the cost and the end of the word whose letters start at
// i: capitals, then small letters.
func estimateWord(s string, i, kind int) (cost, end int) {
	j, letters, wide := i, 0, 0
	for j < len(s) && s[j]-'A' < 26 {
		j++
	}
	letters = j - i
	small := j
	for j < len(s) && isWordByte(s[j]) && s[j]-'A' >= 26 {
		if s[j] >= 0x80 {
			wide++
			j++
		}
		j++
		letters++
	}
	end = min(j, len(s))
	if end == small && letters > 1 && kind != random {
		kind = allUpper
	}
	costs := &wordCost[kind]
	cost = int(costs[min(letters, len(costs)-1)]) + wide*wideLetter
	if letters >= len(costs) {
		cost += (letters - len(costs) + 1) * longWord
	}
	return cost, end
}

// estimateWide returns the cost and the width of a rune of three bytes or four
// by its first byte, or of a byte that starts no rune.
func estimateWide(b byte) (cost, width int) {
	switch {
	case b < 0xE0:
		return badByte, 1
	case b < 0xE2: // scripts of India and South-East Asia
		return 55, 3
	case b == 0xE2 || b == 0xEF: // punctuation, arrows, boxes; full width forms
		return 100, 3
	case b == 0xE3: // kana, CJK punctuation
		return 75, 3
	case b < 0xEA: // ideographs
		return 80, 3
	case b < 0xF0: // Hangul
		return 60, 3
	}
	return emoji, 4
}

// estimateBlank returns the cost and the end of the blanks that start at i.
func estimateBlank(s string, i int) (cost, end int) {
	j, newlines := i, 0
	for j < len(s) && isBlank(s[j]) {
		if s[j] == '\n' || s[j] == '\r' {
			newlines = j + 1
		}
		j++
	}
	switch {
	case newlines > 0:
		j = newlines
	case j == len(s):
	case j-i > 1:
		j-- // the last goes with what follows
	case s[i] == ' ' && s[j] < 0x80 && !isDigit(s[j]):
		return estimateSymbols(s, j)
	}
	return 100 + (j-i)/32*50, j
}

// estimateSymbols returns the cost and the end of the symbols that start at i,
// with the newlines behind them.
func estimateSymbols(s string, i int) (cost, end int) {
	j, same := i+1, true
	for j < len(s) && isSymbol(s[j]) {
		same = same && s[j] == s[i]
		j++
	}
	n := j - i
	for j < len(s) && (s[j] == '\n' || s[j] == '\r' || s[j] == '/') {
		j++
	}
	switch {
	case same:
		cost = 100 + n/16*50
	case n < len(symbolCost):
		cost = symbolCost[n]
	default:
		cost = symbolCost[len(symbolCost)-1] + (n-len(symbolCost)+1)*longSymbols
	}
	return cost, j
}

func isDigit(b byte) bool { return b-'0' < 10 }

func isBlank(b byte) bool { return b == ' ' || b-'\t' < 5 }

// isWordByte reports whether b is an ASCII letter or starts a two-byte rune;
// nearly all of those are letters.
func isWordByte(b byte) bool { return b|0x20-'a' < 26 || b-0xC2 < 0xE0-0xC2 }

func isSymbol(b byte) bool { return b < 0x80 && !isBlank(b) && !isDigit(b) && b|0x20-'a' >= 26 }

package tokens

// next returns the end of the piece of s that starts at i, i < len(s). Of the
// classes in seen only invalid means anything: the piece has invalid bytes. That
// can only be among symbols and before a word.
//
// It is the o200k pattern written by hand. A piece is what the first of these
// alternatives to match takes, each as a backtracking engine would:
//
//  1. [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//  2. [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//  3. \p{N}{1,3}
//  4. _?[^\s\p{L}\p{N}]+[\r\n/]*      (_ is a space)
//  5. \s*[\r\n]+
//  6. \s+(?!\S)
//  7. \s+
//
// Every rune starts one of them, so the pieces cover the text. The work is
// linear: a rune that is looked at and then left to the next piece is left at
// most once, as word and blank say.
func (t *classTable) next(s string, i int) (end int, seen class) {
	k, w := t.at(s, i)
	j := i + w
	switch {
	case k&letter != 0:
		return t.word(s, i, i), 0
	case k&number != 0:
		for range 2 {
			if j == len(s) {
				break
			}
			k, w := t.at(s, j)
			if k&number == 0 {
				break
			}
			j += w
		}
		return j, 0
	case k&newline != 0:
		return t.blank(s, i), 0
	}

	// Here the rune may be the prefix of a word: it is a blank, a symbol or a
	// mark.
	var k2 class
	if j < len(s) {
		k2, _ = t.at(s, j)
		if k2&(upper|lower) != 0 {
			return t.word(s, i, j), k
		}
	}
	switch {
	case k&(upper|lower) != 0:
		// A mark with no word behind it is a word of its own.
		return contraction(s, j), 0
	case k&space == 0:
		return t.symbols(s, i)
	case s[i] == ' ' && j < len(s) && k2&(space|number) == 0:
		return t.symbols(s, j)
	}
	return t.blank(s, i), 0
}

// word returns the end of alternatives 1 and 2 for a piece that starts at i,
// with a letter or mark at from; from > i means that there is a prefix.
//
// The first half of the word is greedy, and gives back only what the second
// half needs to match at all. So where no Ll follows, the piece ends behind the
// last rune of the first half that is fit for the second too, and only without
// such a rune is alternative 2 tried, which takes the whole of it. What is
// given back has no rune fit for the second half, so that the next piece takes
// all of it.
func (t *classTable) word(s string, i, from int) int {
	j, fit := from, 0
	for j < len(s) {
		k, w := t.at(s, j)
		if k&upper == 0 {
			if k&lower != 0 {
				return contraction(s, t.lowers(s, j+w))
			}
			break
		}
		j += w
		if k&lower != 0 {
			fit = j
		}
	}
	if fit > 0 {
		return contraction(s, fit)
	}
	if from > i {
		// Alternative 1 comes before 2 even without its prefix, and if that
		// prefix is a mark it can be the second half by itself.
		if k, w := t.at(s, i); k&lower != 0 {
			return contraction(s, i+w)
		}
	}
	return contraction(s, j)
}

// lowers returns the end of the second half of a word.
func (t *classTable) lowers(s string, j int) int {
	for j < len(s) {
		k, w := t.at(s, j)
		if k&lower == 0 {
			break
		}
		j += w
	}
	return j
}

// contraction returns the end of an English contraction that starts at j, or j.
func contraction(s string, j int) int {
	if len(s)-j < 2 || s[j] != '\'' {
		return j
	}
	// Setting this bit makes ASCII letters lower case, and makes none of the
	// letters below from anything else. No rune beyond ASCII folds to them in
	// the reference, which compares unicode.ToLower of the text.
	const toLower = 0x20
	switch s[j+1] | toLower {
	case 's', 't', 'm', 'd':
		return j + 2
	case 'r', 'v':
		if len(s)-j >= 3 && s[j+2]|toLower == 'e' {
			return j + 3
		}
	case 'l':
		if len(s)-j >= 3 && s[j+2]|toLower == 'l' {
			return j + 3
		}
	}
	return j
}

// symbols returns the end of alternative 4 with its first symbol at j, and the
// classes of its runes.
func (t *classTable) symbols(s string, j int) (end int, seen class) {
	for j < len(s) {
		k, w := t.at(s, j)
		if k&(space|letter|number) != 0 {
			break
		}
		seen |= k
		j += w
	}
	for j < len(s) && (s[j] == '\n' || s[j] == '\r' || s[j] == '/') {
		j++
	}
	return j, seen
}

// blank returns the end of alternatives 5, 6 and 7 from i. All three look at
// the whole run of blanks and may give back the end of it: what follows the
// last newline, and of that later all but the last blank.
func (t *classTable) blank(s string, i int) int {
	j, last, newlines := i, i, 0
	for j < len(s) {
		k, w := t.at(s, j)
		if k&space == 0 {
			break
		}
		last = j
		j += w
		if k&newline != 0 {
			newlines = j
		}
	}
	switch {
	case newlines > 0:
		return newlines
	case j == len(s) || last == i:
		return j
	}
	return last
}

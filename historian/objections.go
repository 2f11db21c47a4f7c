package historian

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// objections open a message of a person who does not want what was just said or done.
var objections = []string{"no", "nope", "nah", "never", "don't", "dont", "do not", "stop", "wrong", "revert", "undo", "roll back", "instead", "not like", "not that", "not this", "that's wrong", "that's not", "thats not", "that is not", "this is wrong", "this is not", "i don't think", "i dont think", "i do not think", "not it", "it's something else", "it's a different", "its a different",
	"doesn't work", "does not work", "it doesn't", "it does not", "didn't work", "that didn't", "not working", "it's not working", "its not working", "still not", "still doesn't", "still broken", "still fails", "still failing", "still the same", "still wrong",
	"nein", "geht nicht", "geht immer noch nicht", "funktioniert nicht", "immer noch nicht", "nicht", "niemals", "falsch", "stopp", "stattdessen", "das stimmt nicht", "mach das rückgängig", "rückgängig",
	"non", "pas", "jamais", "arrête", "annule", "plutôt", "au lieu", "c'est faux", "ça ne marche", "toujours pas",
	"nunca", "jamás", "deshaz", "revierte", "en lugar", "en vez", "está mal", "eso no", "no funciona", "sigue sin",
	"não", "nao", "errado", "desfaz", "desfaça", "reverte", "em vez", "isso não", "não funciona", "ainda não",
	"不是", "不对", "不要", "不行", "不用", "别", "错了", "撤销", "回退", "停", "还是不", "还不行", "没用",
	"いや", "いいえ", "違う", "違います", "だめ", "ダメ", "やめて", "戻して", "そうじゃ", "代わりに", "動かない", "まだ動",
	"아니", "안 돼", "안돼", "하지 마", "하지마", "틀렸", "되돌려", "대신", "안 돼요", "여전히", "아직도"}

// assents begin as objections do, and are none.
var assents = []string{"no problem", "no worries", "no rush", "no need to apologi", "no issue", "don't worry", "nicht schlecht", "pas mal", "pas de problème", "pas de souci", "别担心", "不用担心", "아니면"}

// openings may stand before an objection.
var openings = []string{"actually", "wait", "hmm", "hm", "sorry", "well", "oh", "um", "ok", "okay", "please", "can you", "could you", "bitte", "moment", "attends", "espera", "espere"}

// objects reports whether a person's words open with an objection.
func objects(own string) bool {
	low := strings.ToLower(head(own, 120))
	for again := true; again; {
		again = false
		low = strings.TrimLeft(low, " ,.!…-–—\n")
		for _, w := range openings {
			if opensWith(low, w) {
				low, again = low[len(w):], true
			}
		}
	}
	if starts(low, assents) {
		return false
	}
	for _, w := range objections {
		if opensWith(low, w) {
			return true
		}
	}
	return false
}

// opensWith reports whether a text begins with a word or phrase, and not with a longer
// word. In scripts without blanks between words it need not end there.
func opensWith(low, phrase string) bool {
	rest, ok := strings.CutPrefix(low, phrase)
	if !ok || rest == "" {
		return ok
	}
	last, _ := utf8.DecodeLastRuneInString(phrase)
	next, _ := utf8.DecodeRuneInString(rest)
	return wide(last) || !unicode.IsLetter(next) && !unicode.IsDigit(next) && next != '\'' && next != '-'
}

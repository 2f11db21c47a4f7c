package historian

import (
	"slices"
	"strings"
)

// The words by which it is known what must come before an act of the agent. "First look
// at this, before that" is the order of one piece of work and no rule.
var (
	// consents are asked for before something is done.
	consents = []string{"ask me ", "ask first", "ask before ", "check with me ", "check back with me ", "get my ok", "get my approval ", "get my go", "get my consent ",
		"frag mich ", "frage mich ", "fragt mich ", "frag vorher", "frag erst", "pregúntame ", "preguntame ", "consúltame ", "pergunte-me ", "me pergunte ", "pergunte antes ", "demande-moi ", "demande avant "}
	// awaited bind without a word of what they stand before.
	awaited    = []string{"wait for my ", "wait until i ", "hands off ", "warte auf mein", "warte, bis ich", "finger weg", "espera mi ", "espere mi ", "espera a que ", "attends mon ", "attends que je "}
	ahead      = wordSet(`before first beforehand bevor vorher erst zuerst antes primero primeiro avant d'abord`)
	befores    = wordSet(`before bevor vor antes avant`)
	subjects   = wordSet(`i it we they he she this that the a an these those there what when why how if ich es wir sie er das der die wenn yo él el la los eu ele je il elle le les`)
	acts       = []string{"commit", "push", "pusch", "merg", "deploy", "delet", "lösch", "overwrit", "subir", "borrar", "desplegar", "enviar", "apagar", "supprim", "dépl"}
	wideActs   = []string{"提交", "推送", "合并", "部署", "删除", "コミット", "プッシュ", "マージ", "デプロイ", "削除", "커밋", "푸시", "배포", "삭제", "병합"}
	wideBefore = []string{"前先", "之前", "前必须", "前请", "前要", "前に", "전에"}
	wideAsks   = []string{"先问我", "先跟我", "先和我", "经我同意", "先に聞い", "確認してから", "먼저 물어", "먼저 확인", "허락"}
)

// beforeOrder judges a sentence by what it puts before an act: consent forbids the act
// until then, anything else always holds.
func beforeOrder(s string) order {
	low := strings.ToLower(s)
	if hasAny(s, wideAsks) {
		return ban
	}
	if hasAny(s, wideBefore) && hasAny(s, wideActs) {
		return lasting
	}
	words := strings.FieldsFunc(strings.ReplaceAll(low, "’", "'"), func(r rune) bool { return r == ' ' || strings.ContainsRune(",.:;!()", r) })
	first := 0
	for first < len(words) && (leadWords[words[first]] || words[first] == "always") {
		first++
	}
	if first == len(words) {
		return noOrder
	}
	opening := strings.Join(words[first:], " ") + " "
	if starts(opening, awaited) || starts(opening, consents) && slices.ContainsFunc(words, func(w string) bool { return ahead[w] }) ||
		words[first] == "nothing" && slices.Contains(words, "without") {
		return ban
	}
	if subjects[words[first]] {
		return noOrder // a report
	}
	for i, w := range words {
		if !befores[w] {
			continue
		}
		for k := i + 1; k < min(i+4, len(words)); k++ {
			if subjects[words[k]] && k == i+1 && words[k] != "we" {
				break
			}
			if starts(words[k], acts) {
				return lasting
			}
		}
	}
	return noOrder
}

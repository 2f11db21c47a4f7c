package draft

import (
	"strings"
	"unicode"
)

// wishForm finds words that say in the writer's own words what the user wants: not
// what users of the program that is worked on do.
var wishForm = pattern(`(?:\b(?:the|this|our) |(?:^|: |\] |\. |- )(?:the )?)user (?:(?:has|had|have|is|was|also|then|explicitly|clearly|only|now|first|later|does|did|not|never|again|just|already) ){0,3}(?:asks?|asked|wants?|wanted|says|said|tells?|told|requires?|required|requested|insists?|insisted|orders|ordered|instructs?|instructed|prefers?|preferred|demands?|demanded|approves?|approved|confirms?|confirmed|rejects?|rejected|forbids?|forbade|agrees?|agreed|wishes|decided|decides)\b|\b(?:as |per )(?:requested|asked|ordered|instructed|told|wished) by the user\b|\b(?:at|on|by|per) the user's (?:request|order|demand|wish|instructions?)\b|\bthe user's (?:instructions?|orders?|wish|demand)\b`)

// wishOther does the same where the user is named in another language, or is who
// acts in a passive.
var wishOther = pattern(`\b(?:der|die|vom|dem|des|laut) (?:be)?nutzers?(?:in)?\b[^.;:]{0,30}\b(?:will|wollte|möchte|wünsch\w*|gewünscht|verlang\w*|bittet|bat|gebeten|sagt\w*|gesagt|forder\w*|gefordert|erlaub\w*|verb[io]t\w*|verboten|zugestimmt|bestätigt\w*|abgelehnt|genehmigt|entschied\w*|angewiesen|einverstanden)\b` +
	`|\b(?:l'utilisateur|l'utilisatrice)\b[^.;:]{0,30}\b(?:veut|voulait|demand\w*|souhait\w*|exig\w*|dit|refus\w*|accept\w*|approuv\w*|confirm\w*|interdit|d'accord)` +
	`|\b(?:el|del|o|do|pelo|por el) usu[aá]rio\b[^.;:]{0,30}\b(?:quier\w*|quis\w*|quer|pid\w*|ped\w*|exig\w*|dijo|disse|dese\w*|rechaz\w*|recus\w*|acept\w*|aceit\w*|aprob\w*|aprov\w*|confirm\w*|proh\w*|pro[íi]b\w*)` +
	`|пользовател[ьяею]\S*[^.;:]{0,30}(?:хо[чт]|прос|попрос|треб|сказал|согла|подтверд|запре|отказ|одобр)` +
	`|\b(?:approved|accepted|agreed|confirmed|requested|demanded|forbidden|rejected|authori[sz]ed|permitted|allowed) by the user\b|\b(?:with|without) the user's (?:approval|consent|permission|agreement)\b`)

// wishPhrases do the same in other languages.
var wishPhrases = [...]string{
	"用户要求", "用户希望", "用户想", "用户说", "用户指示", "用户同意", "用户确认", "用户需要", "用户不", "用户让", "用户拒绝",
	"ユーザーの要求", "ユーザーの指示", "ユーザーが指示", "ユーザーが要求", "ユーザーは要求", "ユーザーが求め", "ユーザーは求め", "ユーザーが希望", "ユーザーは希望",
	"사용자가 요청", "사용자 요청", "사용자가 지시", "사용자가 원", "사용자는 요청", "사용자가 거부",
	"der nutzer will", "der nutzer möchte", "der nutzer verlangt", "der nutzer bittet", "der nutzer sagt", "der benutzer will", "der benutzer möchte", "der benutzer verlangt",
	"l'utilisateur veut", "l'utilisateur demande", "l'utilisateur souhaite", "l'utilisateur exige", "l'utilisateur a demandé",
	"el usuario quiere", "el usuario pide", "el usuario pidió", "el usuario exige", "el usuario dijo", "el usuario desea",
	"o usuário quer", "o usuário pediu", "o usuário pede", "o usuário exige", "o usuário disse", "o usuário deseja",
	"пользователь хочет", "пользователь просит", "пользователь попросил", "пользователь требует", "пользователь сказал",
}

// wishes reports whether a line speaks for the user.
func wishes(low string) bool {
	if wishForm().MatchString(low) || wishOther().MatchString(low) {
		return true
	}
	for _, p := range wishPhrases {
		if strings.Contains(low, p) {
			return true
		}
	}
	return false
}

// orders speak to whoever reads the record, where a clause begins with them.
var orders = pattern(`(?:^|[:\].;,!?-] ?|\b(?:and|then|but please|please|also) )(?:please )?(?:ignore (?:all |any |the )*(?:previous|above|prior|earlier)|disregard (?:all|any|the|previous|prior)|(?:do not|don't|never) (?:tell|reveal|mention|inform|disclose|report) |keep (?:this|it|that) (?:secret|hidden|to yourself)|you (?:must|should|have to|need to|are now|will now|are to) |your (?:task|job|new task|goal) is |from now on)|(?:忽略|无视)(?:之前|以上|先前)|不要告诉|你(?:必须|应该|要)|以前の指示を無視|이전 지시를 무시`)

// confessions are what a model says of itself; a transcript may hold them too.
var confessions = [...]string{"as an ai", "as a language model", "i cannot", "i can't", "i'm sorry", "i am sorry", "i am unable", "i'm unable", "my instructions", "the transcript above", "the transcript shows"}

// refusals are how a reply that declines begins.
var refusals = [...]string{
	"i'm sorry", "i am sorry", "sorry, but", "sorry, i", "i can't", "i cannot", "i can not", "i won't", "i will not", "i'm unable", "i am unable", "i'm not able", "i am not able", "i must decline", "i have to decline", "unfortunately, i",
	"as an ai", "i apologize", "我无法", "我不能", "抱歉", "对不起", "很抱歉", "申し訳", "お手伝いできません", "죄송합니다", "es tut mir leid", "ich kann", "je suis désolé", "je ne peux", "lo siento", "no puedo", "desculpe", "não posso", "извините", "я не могу",
}

// declines reports whether a reply without a compartment refuses.
func declines(reply string) bool {
	low := strings.ToLower(strings.ReplaceAll(reply, "’", "'"))
	low = strings.TrimLeftFunc(low, func(r rune) bool { return !unicode.IsLetter(r) })
	if len(low) > 1200 {
		low = head(low, 1200)
	}
	for _, p := range refusals {
		if at := strings.Index(low, p); at >= 0 && at < 200 {
			return true
		}
	}
	return false
}

// Words that say that something ended well or badly, or was not taken.
var (
	wellForm = pattern(`\b(?:pass|passes|passed|passing|works|working|worked|fixed|fixes|solved|resolved|done|complete|completed|completes|succeeds|succeeded|successful|successfully|success|green|verified|merged|deployed|released|behoben|bestanden|erfolgreich|réussi|corrigé|resuelto|arreglado|corrigido|исправлено|готово)\b`)
	badForm  = pattern(`\b(?:fail|fails|failed|failing|failure|failures|broken|breaks|broke|crash|crashes|crashed|blocked|error|errors|panic|wrong|unresolved|fehlgeschlagen|kaputt|échoue|échoué|falla|falló|falhou|сломано)\b`)
	well     = [...]string{"通过", "成功", "修复", "完成", "解决", "完了", "修正", "통과", "성공", "완료", "해결"}
	bad      = [...]string{"失败", "报错", "错误", "失敗", "エラー", "실패", "오류"}
	// negation in front of a word that says that something ended well
	notForm = pattern(`(?:\b(?:not|never|no|nothing|none|without|un|isn't|doesn't|don't|didn't|wasn't|hasn't|cannot|can't|nicht|kein|pas|sin|não|не|if|until|once|when|whether|to be|should|must|will|would|needs?|todo|still)\b|未|没|不|ない|안 |않)[^.;]{0,40}$`)
	spurned = pattern(`(?i)\b(?:not|no|never|instead|rejected|rather|without|would|breaks?|too|against|over|discarded|dropped|abandoned|ruled out|nicht|statt|pas|sin|não|не)\b|不|未|代わり|ない|대신|않`)
)

// endsWell reports whether a line claims a good end of something.
func endsWell(low string) bool {
	for _, at := range wellForm().FindAllStringIndex(low, -1) {
		if !notForm().MatchString(low[:at[0]]) {
			return true
		}
	}
	return containsAny(low, well[:]) && !containsAny(low, []string{"未", "没有", "不", "ない", "않", "안 "})
}

func endsBadly(low string) bool { return badForm().MatchString(low) || containsAny(low, bad[:]) }

func containsAny(s string, list []string) bool {
	for _, p := range list {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

var scriptNames = [...]string{"han", "hangul", "cyrillic", "arabic", "hebrew", "greek", "devanagari"}

// scripts counts the letters of a text by script: Latin, and the one other that
// has most.
func scripts(text string) (latin, other int, name string) {
	counts := map[string]int{}
	for _, r := range text {
		switch {
		case r < 0x80 || !unicode.IsLetter(r):
			if r|0x20 >= 'a' && r|0x20 <= 'z' {
				latin++
			}
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			counts["han"] += 3
		case unicode.Is(unicode.Hangul, r):
			counts["hangul"] += 2
		case unicode.Is(unicode.Cyrillic, r):
			counts["cyrillic"]++
		case unicode.Is(unicode.Arabic, r):
			counts["arabic"]++
		case unicode.Is(unicode.Hebrew, r):
			counts["hebrew"]++
		case unicode.Is(unicode.Greek, r):
			counts["greek"]++
		case unicode.Is(unicode.Devanagari, r):
			counts["devanagari"]++
		}
	}
	for _, n := range scriptNames {
		if counts[n] > other {
			other, name = counts[n], n
		}
	}
	return latin, other, name
}

package historian

import (
	"slices"
	"strings"
)

// The word lists. They rank lines and keep small talk out of view; none of them
// decides whether a fact is kept. Phrases are in lower case.

// announcers begin a sentence about what is about to be done.
var announcers = []string{"let me", "i'll", "i will", "let's", "i'm going to", "first, let", "i need to", "next, i", "i should", "now ", "actually, let", "i have to", "time to", "this is going to", "this will be",
	"让我", "我来", "现在", "接下来", "我将", "我会", "먼저", "이제", "では", "まず", "次に", "vou ", "agora", "vamos", "voy a", "ahora", "je vais", "maintenant", "ich werde", "jetzt", "lass mich"}

// chatOpeners begin a sentence that announces, agrees or sounds out.
var chatOpeners = slices.Concat(announcers, []string{"great", "perfect", "sure", "okay", "ok,", "good,",
	"excellent", "looking at", "you're right", "you're absolutely", "got it", "understood", "sounds good", "absolutely", "thanks", "thank you", "i understand", "i see", "good point", "good catch", "good question", "alright", "hmm", "wait", "i can see",
	"好的", "좋습니다", "네,", "알겠습니다", "了解"})

// openers say of what follows only that it is done or good.
var openers = []string{"done", "perfect", "great", "excellent", "good", "nice", "all done", "fixed", "okay", "ok", "got it", "sure", "完成", "完成了", "好的", "搞定", "完了しました", "완료", "완료했습니다", "pronto", "feito", "listo", "hecho", "fertig", "erledigt", "fait", "c'est fait", "voilà"}

// offerWords say what the agent could do if it were told to, or wait for what is next.
var offerWords = []string{"ready for the", "ready for your", "whenever you are", "let me know how", "let me know", "would you like", "do you want", "want me to", "shall i", "should i", "feel free", "if you want", "if you'd like", "happy to", "i can also", "ready to", "next steps", "just say", "tell me",
	"需要我", "要不要", "如果你", "如果您", "원하시면", "원하신다면", "할까요", "必要であれば", "しましょうか", "se quiser", "quer que", "si quieres", "voulez-vous", "souhaitez", "wenn du", "möchtest du", "soll ich"}

var causes = []string{"because", "since ", "due to", "caused by", "root cause", "the problem", "the issue", "reason", "turns out", "so that", "therefore", "which means", "that's why", "this means", "the bug", "the culprit",
	"因为", "原因", "由于", "导致", "所以", "때문", "원인", "なので", "ため", "原因は", "porque", "causa", "por causa", "devido", "debido", "parce que", "à cause", "car ", "weil", "ursache", "deshalb"}

var rejections = []string{"instead", "rather than", "doesn't work", "does not work", "didn't work", "won't work", "can't use", "cannot use", "not possible", "revert", "rolled back", "undo", "undid", "no longer", "but ", "however", "conflict", "incompatib", "unsupported", "not supported", "fails", "failed", "breaks", "rejected", "dropped", "abandon",
	"而不是", "不能", "无法", "回退", "撤销", "但是", "不支持", "대신", "하지만", "불가", "되돌", "ではなく", "代わりに", "できない", "しかし", "em vez", "não funciona", "mas ", "en lugar", "no funciona", "pero ", "au lieu", "ne fonctionne", "mais ", "statt", "nicht möglich", "aber "}

var caveats = []string{"not ", "n't ", "no ", "without", "only ", "still ", "remain", "except", "until", "unless", "requires", "need to", "must ", "pending", "todo", "manual", "restart", "skipped", "untested", "warning", "note",
	"未", "没有", "不", "仍", "需要", "仅", "않", "없", "아직", "필요", "ない", "まだ", "必要", "não ", "ainda", "sem ", "todavía", "sin ", "falta", "pas ", "encore", "sans ", "nicht", "noch", "ohne", "kein"}

// negations say what is not so: what was not done, what does not hold.
var negations = []string{"not ", "n't ", "no longer", "without ", "never ", "nothing", "instead", "only ", "未", "没有", "不", "無", "않", "없", "못", "ない", "ません", "não ", "nunca", "nicht", "kein", "ne pas", "n'est pas", "sin ", "ningun"}

var hedges = []string{"maybe", "might ", "perhaps", "probably", "possibly", "could be", "not sure", "i think", "seems", "likely", "可能", "也许", "아마", "かもしれ", "talvez", "quizás", "peut-être", "vielleicht"}

// causeHeads are words of a heading that calls what follows the cause.
var causeHeads = []string{"cause", "what was wrong", "what went wrong", "why ", "diagnos", "原因", "根因", "원인", "causa", "qué falló", "o que deu errado", "ce qui n'allait pas", "ursache"}

// solvedHeads are words of a heading that calls what follows what mends or mended it.
var solvedHeads = []string{"fixed", "the fix", "solution", "solved", "resolved", "修复", "解决", "修正", "解決", "해결", "수정", "behoben", "gelöst", "lösung", "corrigé", "résolu", "corregido", "resuelto", "solución", "corrigido", "resolvido", "solução"}

// conditions begin a sentence that tells what would be.
var conditions = []string{"if ", "suppose ", "assuming ", "如果", "假如", "假设", "若", "もし", "仮に", "만약", "만일", "se ", "caso ", "si ", "s'il ", "wenn ", "falls ", "angenommen"}

// constraints mark sentences of the user that limit what may be done.
var constraints = []string{"never", "don't", "dont ", "do not", "must", "only ", "always", "without ", "keep ", "make sure", "no need", "not allowed", "shouldn't", "should not", "avoid", "instead of", "no more", "stop ",
	"不要", "必须", "不能", "不许", "禁止", "别", "只能", "务必", "总是", "保持", "절대", "하지 마", "하지마", "반드시", "항상", "말고", "禁止", "しないで", "必ず", "絶対", "てはいけない", "nunca", "sempre", "somente", "não ", "apenas", "siempre", "solo ", "debe", "jamais", "toujours", "ne pas", "doit", "seulement", "niemals", "immer", "muss", "darf nicht", "nur "}

// weakErrors are words that an error line holds in no fixed form.
var weakErrors = []string{"error", "not found", "no such", "denied", "cannot", "can't", "could not", "couldn't", "timed out", "timeout", "failed", "failure", "unable", "invalid", "no valid", "unexpected", "undefined", "refused", "missing", "conflict", "aborted", "not recognized", "unrecognized", "exception", "unsupported", "rejected",
	"错误", "失败", "找不到", "无法", "拒绝", "超时", "오류", "실패", "찾을 수 없", "エラー", "失敗", "見つかりません", "拒否", "erro", "falha", "não encontrado", "fehler", "nicht gefunden", "fehlgeschlagen", "erreur", "introuvable", "échec"}

// doneWords say in outputs that something was done.
var doneWords = []string{"imported", "installed", "created", "updated", "added", "written", "saved", "uploaded", "published", "pushed", "deployed", "applied", "completed", "succeeded",
	"importiert", "installiert", "erstellt", "gespeichert", "importé", "installé", "créé", "importado", "importada", "instalado", "creado", "guardado", "criado", "已导入", "已安装", "已创建", "已保存", "完成", "インポートしました", "作成しました", "保存しました", "설치했", "가져왔", "생성했", "저장했"}

// starts reports whether the lower-case text begins with one of the phrases.
func starts(low string, phrases []string) bool {
	for _, p := range phrases {
		if strings.HasPrefix(low, p) {
			return true
		}
	}
	return false
}

package historian

import "strings"

// The words by which a rule of the user is known, by language. A rule that no cue
// finds still stands in the request; what is found stands at every tier.

func wordSet(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

var (
	// leadWords may stand in front of the word that makes an order.
	leadWords = wordSet(`and but so please pls also then ok okay yes yeah just or well now hey still rule plus because since
 und aber bitte also dann nur-bitte y pero por favor e mas et mais s'il te vous plaît plait - • *`)

	// clauseOpeners begin a new clause without a comma.
	clauseOpeners = []string{" and no ", " but no ", " but not ", " and not ", " and never ", " but never ", " but don't ", " and don't ", " but do not ", " and do not ", " but only ", " but keep ", " und kein", " aber kein", " y no ", " pero no ", " mas não ", " e não ", " mais pas ", " et pas "}

	noIdiom = wordSet(`wait problem problems idea ideas need worries thanks thank way doubt longer matter one it it's its that that's this i i'm i'll i've you you're we we're he she they
 but and there there's luck such not no sorry issue issues error errors difference sign reason response output clue good just use of what because dice in on for the please don't dont only actually stop
 yes ok hurry rush offense biggie kidding result results answer is are was if so my your their changes at all clearly
 funciona es está esta hay sé se puedo puede me lo la le tengo tiene entiendo sirve encuentro veo era fue ha han he te nos quiero creo aparece existe va`)
	// tells are verbs with which "no …" reports what is missing.
	tells    = wordSet(`is are was were appears appear appeared shows show shown found works work comes came happens happened exists exist seems has have had gets got did does anymore whatsoever here`)
	notIdiom = wordSet(`sure working really yet good bad that what why the a an exactly quite enough so very only just too all every as much necessarily possible found it is really bothered
 great nice right correct here there now again if because me you mine everything everyone anything always ideal happy clear helpful looking seeing getting even to funny cool`)
	onlyIdiom  = wordSet(`one if thing problem issue question that then now just when works worked because after a`)
	keepIdiom  = wordSet(`going working on in me trying up doing at investigating reading that this it digging looking it's going. investigate`)
	neverIdiom = wordSet(`mind seen happens happened happen been worked had said knew ends returns finishes finished heard tried used thought saw got came comes gets was`)
	// reporting are words behind which "never" and "always" tell what is, not what is to be.
	reporting   = wordSet(`i it you they he she has have had was were is are i've it's that's there's been which who isn't wasn't almost`)
	mustBeIdiom = wordSet(`a an the because some something somewhere someone wrong due that what why it this my your more another`)
	// doers are subjects of a report: "they don't match".
	doers   = wordSet(`i we you they people users who it these those things tests both some most others guys devs does did`)
	stative = wordSet(`work know think tink see understand have get care like mind believe seem exist match want need remember worry appear agree even really hope expect feel trust look show help
 bother fit recall`)
	// wishing are words behind which "only" says what is to be: "it should only log".
	wishing = wordSet(`should would must shall i'd we'd please`)
	// sparing are what is not to be done on the way.
	sparing    = wordSet(`touching changing breaking adding removing using modifying deleting losing committing pushing rewriting altering asking restarting running editing renaming installing dropping`)
	plainVerbs = wordSet(`change touch delete commit push add remove write install edit rename run modify do deploy`)

	// portugueseReport are verbs that tell, behind "não", what is.
	portugueseReport = wordSet(`é está estao estão tem foi vai sei funciona consegue consigo há estava deu entendi mais só era tenho vejo existe aparece roda abre sabe quero acho`)
	romanceReport    = wordSet(`ha he has han yo eu é está es era foi c'est est était j'ai`)
	frenchNot        = wordSet(`pas jamais rien plus aucun aucune`)
	frenchMust       = wordSet(`faut doit doivent dois devez`)
	frenchSubject    = wordSet(`je j'ai`)
	flatBans         = wordSet(`nunca jamás jamais prohibido proibido interdit verboten niemals`)
	bareBans         = wordSet(`kein keine keinen keinerlei aucun aucune ningún ninguna ningun nenhum nenhuma nada`)
	onlyWords        = wordSet(`solo sólo solamente só somente apenas seulement uniquement nur ausschließlich höchstens`)
	alwaysWords      = wordSet(`siempre sempre toujours immer stets`)
	germanNot        = wordSet(`nicht nichts kein keine keinen nie niemals`)
	germanMay        = wordSet(`darf dürfen darfst soll sollen sollst sollte sollten bitte`)
	germanReport     = wordSet(`es das ich wir er sie man dass wird werden ist sind hat haben war waren kann können konnte konnten geht warum wenn weil ob habe wurde wurden funktioniert scheint`)
	germanMust       = wordSet(`muss müssen musst`)

	wideBans = []string{"不要", "不许", "不得", "不准", "禁止", "绝不", "绝对不", "切勿", "请勿", "勿", "千万别", "别动", "别改", "别用", "别删", "别碰", "别提交", "别推", "别再", "别加", "别把", "不能再", "不能改", "不能动", "不能删",
		"ないで", "てはいけ", "てはなら", "てはだめ", "ちゃだめ", "ダメ", "しないこと", "ないよう", "지 마", "지마", "지 말", "지말", "금지", "안 됩니다", "안됩니다", "안 돼", "안돼", "절대"}
	wideStanding = []string{"必须", "务必", "一定要", "只能", "始终", "永远", "只改", "只用", "只看", "必ず", "絶対", "のみ", "そのまま", "반드시", "항상", "그대로"}
	wideIdiom    = []string{"要不要", "不要紧", "不得不", "绝对不会"}

	pronouns = wordSet(`it them these those there`)

	// reportOpeners begin lines in which an agent says what it did.
	reportOpeners = []string{"all tests pass", "all done!", "done!", "summary:", "summary of changes", "changes made", "what i did", "what was done", "co-authored-by"}
	// quoteWords stand in a line behind which somebody else's words come.
	quoteWords = wordSet(`wrote writes said says reported reports report output response answer answered reply replied review reviewer claude copilot gpt chatgpt gemini agent assistant bot coderabbit llm
 schrieb sagt sagte bericht antwort dit écrit rapport réponse dijo dice escribió informe respuesta disse escreveu relatório resposta`)
	// eachWords stand in a line that speaks of answers to come: "for each answer:".
	eachWords  = wordSet(`each every jede jeder jedes jeden chaque cada`)
	eachSigns  = []string{"每", "各回答", "毎回", "매번", "각 "}
	quoteSigns = []string{"说：", "说:", "报告", "回答", "回复", "写道", "言って", "報告", "回答", "라고", "보고", "답변"}
)

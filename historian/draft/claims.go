package draft

import (
	"strings"

	"ctxplugin/historian"
)

// claim is a set of things that a sentence says ended well.
type claim uint8

const (
	claimTests  claim = 1 << iota // tests, builds or checks pass
	claimDeploy                   // something was deployed, released or merged
	claimWell                     // something else succeeded, in so many words
	claimGit                      // something was committed, pushed, or put up for review
	claimNone   claim = 0
)

// Forms of claims, on small letters. What stands between their words is part of the
// match, for a negation may be there.
var (
	testsForm = pattern(`(?:\b(?:tests?|suites?|specs?|ci|pipelines?|lint(?:er|ing)?|compilation|workflows?)\b|\b(?:the|all|both|status|ci|these|\d+) checks?\b|\b(?:the|all|both|ci|release|debug|full) builds?\b)[^.;:!?]{0,40}?\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|successful)\b` +
		`|(?:^|[:;,\]] )(?:checks?|build)(?: now| again| still| is| are| was| were)? (?:pass(?:es|ed)?|green|succeed(?:s|ed)?|successful)\b|\b(?:all(?: of (?:them|it))?|everything)(?: now| still| again)? (?:pass(?:es|ed)?|(?:is |are )?green|succeed(?:s|ed)?)\b|\b(?:passing|green) (?:tests?|ci|builds?|pipelines?|suites?)\b|\b(?:compiles|builds) (?:cleanly|fine|again|now|without errors?)\b` +
		`|\b(?:tests?|build|pipeline)\b[^.;:!?]{0,40}?(?:bestehen|bestanden|grün|erfolgreich|durchgelaufen|laufen durch|passent|passés|réussi|verts\b|pasan|pasaron|exitos|superad|superan|passano|superat)` +
		`|(?:\bpruebas\b|\btestes\b)[^.;:!?]{0,40}?(?:pasan|pasaron|exitos|verdes|superad|passam|passaram|passou|sucedid)|тест[^.;:!?]{0,40}?(?:прош|проход|пройден|зелен|зелён|успешн)` +
		`|(?:测试|測試|检查|構建|构建|编译|編譯)[^。；，.]{0,12}?(?:通过|通過|成功)|(?:テスト|ビルド)[^。、.]{0,14}?(?:通|成功|合格|パスし)|(?:테스트|빌드)[^.]{0,14}?(?:통과|성공)`)
	deployForm = pattern(`\b(?:deploy(?:ment|ments|s)?|roll-?out|release|migration|publication|backup|merge)\b[^.;:!?]{0,40}?\b(?:succeed(?:s|ed)?|successful(?:ly)?|worked|went (?:well|through|fine)|completed?|finished|live)\b|\b(?:is|are|was|were|been|got|now) (?:deployed|rolled out)\b|\bsuccessfully (?:deployed|released|published|shipped|rolled out|merged)\b|(?:^|[:\]] ?|- )(?:deployed|released|published|shipped|rolled out|merged)\b|\b(?:is|are|went) (?:now )?live\b` +
		`|(?:bereitstellung|deployment|auslieferung|veröffentlichung)[^.;:!?]{0,40}?(?:erfolgreich|geklappt|abgeschlossen)|ausgerollt|bereitgestellt|\bdeployt\b|déploiement[^.;:!?]{0,40}?(?:réussi|terminé)|\bdéployée?s?(?:\W|$)` +
		`|despliegue[^.;:!?]{0,40}?(?:exitos|éxito|complet)|\bdesplegad[oa]s?\b|(?:implantação|deploy)[^.;:!?]{0,40}?(?:sucesso|concluíd|sucedid)|\bimplantad[oa]s?\b` +
		`|(?:деплой|развёртывание|развертывание|релиз)[^.;:!?]{0,40}?(?:успешн|прош|заверш)|развёрнут|развернут` +
		`|(?:部署|发布|發布|上线|上線)[^。；，.]{0,8}?(?:成功|完成)|已部署|已上线|已发布|(?:デプロイ|リリース)[^。、.]{0,10}?(?:成功|完了)|デプロイ(?:済み|しました|された)|(?:배포|릴리스)[^.]{0,10}?(?:성공|완료|되었|됐)`)
	gitForm = pattern(`\b(?:was|were|is|are|been|got|now|and|all|changes|branch|everything) (?:committed|pushed)\b|(?:^|[:\]] ?|- )(?:committed|pushed)\b|\bpushed (?:to|it|the branch)\b|\b(?:pull|merge) request (?:#?\d+ )?(?:was |is |has been )?(?:opened|created|submitted|merged)\b|\b(?:opened|created|submitted) (?:a |the )?(?:pull|merge) request\b` +
		`|\b(?:committet|commitet|eingecheckt|gepusht|hochgeladen)\b|\b(?:commité|commitée|poussée?s?) (?:sur|vers)|\b(?:commiteado|pusheado|subido a|enviado para o)\b|закоммичен|запушен|отправлен[оы]? в|已提交|已推送|提交并推送|(?:コミット|プッシュ)(?:済み|しました|した|された)|(?:커밋|푸시)(?:했|됐|되었|완료)`)
	wellSaid = pattern(`\b(?:succeeded|(?:is|are|was|were|been) successful|successfully|verified|works (?:now|again|fine|correctly|as expected|end to end)|everything works|all (?:is )?(?:done|good|fixed)|(?:problem|issue|bug) (?:is |was )?(?:now )?(?:solved|fixed|resolved|gone)|fully (?:fixed|resolved|working))\b` +
		`|\berfolgreich\b|\bfunktioniert (?:jetzt|nun|wieder)\b|\bavec succès\b|\bfonctionne (?:maintenant|à nouveau)|\bcon éxito\b|\bfunciona (?:ahora|agora|bien|correct)|\bcom sucesso\b|успешно|всё работает|все работает|成功了|已成功|都正常|成功しました|正常に動作|성공했|잘 (?:된다|됩니다|작동)`)
	// deniedForm is what makes a match no claim, where it stands in it; hopedForm where it
	// stands before it.
	deniedForm = pattern(`\b(?:not|never|no longer|nothing|none|nor|without|cannot|can't|don't|doesn't|didn't|isn't|aren't|wasn't|won't|should|must|will|would|could|can|may|might|to|if|until|once|when|whether|before|unless|needs?|nicht|kein|keine|noch|pas|non|sin|no|não|нет|не)\b|n't|\bне |未|没|沒|不|ない|ません|않|안 |못`)
	hopedForm  = pattern(`(?:\b(?:make|makes|making|get|gets|getting|ensures?|ensuring|wait(?:s|ing)? for|requires?|required|so that|goal|wants?|expects?|supposed|if|how|why|чтобы|damit|pour que|para que)\b|为了|ように)[^.;]{0,30}$`)
	// passForm is how a match ends that may also mean to hand over; restForm is what
	// follows it where it does not.
	passForm = pattern(`\bpass(?:es|ed)?$`)
	restForm = pattern("^(?:$|[^\\w\\s`]|\\s*[(\\[]|\\s(?:now|again|locally|without|and|but|on|after|there|too|also|since|except|cleanly|under|at|everywhere|with|in (?:ci|all|both|the|\\d)))")
)

// claims says what a sentence, in small letters, claims to have ended well: not what
// it denies, asks or hopes for.
func claims(low string) claim {
	found := claimNone
	for _, c := range [...]struct {
		claim claim
		all   [][]int
	}{
		{claimTests, testsForm().FindAllStringIndex(low, -1)}, {claimDeploy, deployForm().FindAllStringIndex(low, -1)}, {claimGit, gitForm().FindAllStringIndex(low, -1)}, {claimWell, wellSaid().FindAllStringIndex(low, -1)},
	} {
		for _, at := range c.all {
			before, match, behind := low[:at[0]], low[at[0]:at[1]], low[at[1]:]
			if strings.Contains(match, "` (then passed") {
				continue // of a command that failed over this name, as the built-in generator notes it
			}
			if !deniedForm().MatchString(match) && !notForm().MatchString(before) && !hopedForm().MatchString(before) &&
				(!passForm().MatchString(match) || restForm().MatchString(behind)) {
				found |= c.claim
			}
		}
	}
	return found
}

// words of the claims, for whoever has to mend them.
func (c claim) String() string {
	switch {
	case c&claimTests != 0:
		return "tests or builds pass"
	case c&claimDeploy != 0:
		return "something was deployed, released or merged"
	case c&claimGit != 0:
		return "something was committed or pushed"
	}
	return "something succeeded"
}

// Outputs and commands that prove a claim.
var (
	passedForm   = pattern(`(?mi)^ok\s|\bPASS(?:ED)?\b|\b[1-9]\d* (?:tests? |specs? |examples? )?pass(?:ed|ing)\b|\b0 (?:failed|failures|errors|problems)\b|\bno (?:issues|errors|problems) (?:were )?found\b|\bbuild success|\ball (?:tests|checks) pass|\bsucce(?:ss|eded)\b|✓|✔`)
	notAllForm   = pattern(`(?i)\b[1-9]\d* (?:tests? )?(?:failed|failures?|errors?)\b`)
	deploysForm  = pattern(`(?i)deploy|release|publish|roll-?out|\bapply\b|\bpush\b|upload|\bmerge\b|\bship|kubectl|helm|terraform|ansible|\brsync\b|\bscp\b|\bup\b|migrat|backup|restore`)
	gitsForm     = pattern(`(?i)commit|push|pull.?request|merge.?request|\bpr\b|\bmr\b|\b(?:hg|jj|svn|sl)\b`)
	sentenceForm = pattern(`[.!?;]+(?:\s|$)|\n|。|！|？|；`)
)

// proofs are the claims for which a run has an outcome: what a call came to, or what a
// person or the agent says of it.
func proofs(x *historian.Reading, from, to int) claim {
	var out claim
	for i := from; i < to; i++ {
		switch x.Voice(i) {
		case historian.VoicePerson, historian.VoiceAgent:
			out |= stated(x.Words(i))
		}
		for _, c := range x.Calls(i) {
			out |= proved(&c)
		}
	}
	if out != claimNone {
		out |= claimWell
	}
	return out
}

// stated is what a text says ended well. A question or a supposition says nothing.
func stated(text string) (out claim) {
	low := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	at := 0
	for _, end := range append(sentenceForm().FindAllStringIndex(low, -1), []int{len(low), len(low)}) {
		if sentence := low[at:end[1]]; !asks(sentence) {
			out |= claims(sentence)
			if endsWell(sentence) {
				out |= claimWell
			}
		}
		at = end[1]
	}
	return out
}

// proved is what the outcome of a call proves.
func proved(c *historian.Call) (out claim) {
	if c.Open || c.Failed || c.Stopped || c.Refused {
		return claimNone
	}
	switch c.Kind {
	case "edit", "write", "patch":
		return claimWell
	case "task":
		return stated(c.Result) | claimWell
	case "ask":
		for _, a := range c.Answers {
			out |= stated(a.Reply)
		}
		return out
	case "shell", "other":
	default:
		return claimNone
	}
	out = claimWell
	if c.Verifies || passedForm().MatchString(c.Output) {
		if !notAllForm().MatchString(head(c.Summary+"\n"+c.Output, 20_000)) {
			out |= claimTests
		}
	}
	if deploysForm().MatchString(c.Command + " " + c.Tool) {
		out |= claimDeploy
	}
	if gitsForm().MatchString(c.Command + " " + c.Tool + " " + head(c.Output, 4000)) {
		out |= claimGit
	}
	return out
}

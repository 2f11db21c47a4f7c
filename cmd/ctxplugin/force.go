package main

import (
	"encoding/json"

	"ctxplugin/compartments"
	"ctxplugin/decay"
)

// replayHost is what replay calls itself. No project can say so: a host states its own
// name, and of the project's files only the options.
const replayHost = "replay"

// experiment is what replay asks for at initialize, and no user can set.
type experiment struct {
	ForceTier string `json:"forceTier"`
	Ablate    string `json:"ablate"`
	Prefer    string `json:"prefer"`
}

// forcedTier is the tier that the host wants every compartment shown at: what
// replay --tier asks for at initialize. Anything else asks for none.
func (s *service) forcedTier() compartments.Tier {
	t, err := compartments.ParseTier(s.experiment().ForceTier)
	if err != nil || t < compartments.TierFull || t > compartments.TierAnchor {
		return compartments.TierNone
	}
	return t
}

// ablated are the mechanisms that replay --ablate has replaced.
func (s *service) ablated() decay.Ablation {
	a, err := decay.ParseAblation(s.experiment().Ablate)
	if err != nil {
		return 0
	}
	return a
}

// preferred is what replay --prefer wants folds to be made for; otherwise what the
// settings say.
func (s *service) preferred(set decay.Prefer) decay.Prefer {
	switch p := decay.Prefer(s.experiment().Prefer); p {
	case decay.PreferView, decay.PreferBalance, decay.PreferCost:
		return p
	}
	return set
}

func (s *service) experiment() (e experiment) {
	if s.host == nil {
		return e
	}
	hello, _ := s.host.Hello()
	if hello.Host != replayHost {
		return e
	}
	if json.Unmarshal(hello.Options, &e) != nil {
		return experiment{}
	}
	return e
}

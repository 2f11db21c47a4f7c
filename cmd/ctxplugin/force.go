package main

import (
	"encoding/json"

	"ctxplugin/compartments"
)

// forcedTier is the tier that the host wants every compartment shown at: what
// replay --tier asks for at initialize. Anything else asks for none.
func (s *service) forcedTier() compartments.Tier {
	if s.host == nil {
		return compartments.TierNone
	}
	hello, _ := s.host.Hello()
	var options struct {
		ForceTier string `json:"forceTier"`
	}
	if json.Unmarshal(hello.Options, &options) != nil {
		return compartments.TierNone
	}
	t, err := compartments.ParseTier(options.ForceTier)
	if err != nil || t < compartments.TierFull || t > compartments.TierAnchor {
		return compartments.TierNone
	}
	return t
}

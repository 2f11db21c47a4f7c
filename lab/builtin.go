package lab

// builtIn is the session that is played when no file is named.
func builtIn() []byte { return nil }

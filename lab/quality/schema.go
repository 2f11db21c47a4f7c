package quality

import _ "embed" // for the schema

//go:embed records.schema.json
var schema string

// RecordSchema is the JSON schema of one line of the records.
func RecordSchema() string { return schema }

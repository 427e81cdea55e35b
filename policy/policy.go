// Package policy holds the material an administrator owns: the published JSON
// Schemas and examples that configurations start from. It has no logic; what the
// files mean is decided where they are read.
package policy

import "embed"

// Examples has one configuration for each provider and profile, below "examples".
//
//go:embed examples
var Examples embed.FS

// ConfigSchema is the JSON Schema of the configuration (contract section 2), for
// editors. The parser in src/config is what decides; a test holds the two together.
//
//go:embed schema/external-context-config.schema.json
var ConfigSchema []byte

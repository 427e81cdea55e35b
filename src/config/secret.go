package config

import "fmt"

// redacted is what a secret shows of itself.
const redacted = "<redacted>"

// Secret is a credential. However it is printed or encoded, it shows only that it
// is there; Reveal alone gives the value.
type Secret struct {
	// A pointer, because fmt looks into unexported fields without asking for the
	// methods below, and of a pointer there it prints the address.
	value *string
}

// NewSecret returns a secret with the value.
func NewSecret(value string) Secret { return Secret{value: &value} }

// Reveal returns the value, for the one header that carries it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// String returns a fixed text.
func (s Secret) String() string { return redacted }

// Format writes a fixed text, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText returns a fixed text. JSON encoding uses it too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

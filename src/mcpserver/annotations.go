package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// annotations are the exact annotations of tools, by tool name. The library's type
// always states readOnlyHint and idempotentHint; contract section 6 has tools say
// no more than they can answer for.
type annotations map[string]json.RawMessage

// exactly returns a middleware that puts the annotations into tools/list.
func (a annotations) exactly(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, request)
		if tools, ok := result.(*mcp.ListToolsResult); ok && err == nil {
			return listedTools{tools, a}, nil
		}
		return result, err
	}
}

// listedTools is the library's list with exact annotations.
type listedTools struct {
	*mcp.ListToolsResult
	annotations annotations
}

// MarshalJSON encodes the list as the library does, but for the annotations.
func (l listedTools) MarshalJSON() ([]byte, error) {
	var list map[string]json.RawMessage
	if err := recode(l.ListToolsResult, &list); err != nil {
		return nil, err
	}
	tools := make([]map[string]json.RawMessage, len(l.Tools))
	for i, tool := range l.Tools {
		if err := recode(tool, &tools[i]); err != nil {
			return nil, err
		}
		tools[i]["annotations"] = l.annotations[tool.Name]
	}
	var err error
	if list["tools"], err = json.Marshal(tools); err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

// recode decodes the JSON form of from into to.
func recode(from, to any) error {
	encoded, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, to)
}

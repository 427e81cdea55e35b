package provider

import "external-context.internal/appliance/src/config"

// The fixed addresses of Mem0 Platform V3.
const mem0SearchURL = "https://api.mem0.ai/v3/memories/search/"

// mem0SearchRequest is the body of a Mem0 Platform V3 search. Only the query
// varies within a process.
type mem0SearchRequest struct {
	Query     string      `json:"query"`
	Filters   mem0Filters `json:"filters"`
	TopK      int         `json:"top_k"`
	Threshold float64     `json:"threshold"`
	Rerank    bool        `json:"rerank"`
}

type mem0Filters struct {
	AppID string `json:"app_id"`
}

// mem0Search is the Mem0 Platform V3 search adapter.
func mem0Search(appID string, key config.Secret) adapter {
	return adapter{
		endpoint:      mem0SearchURL,
		authorization: "Token " + key.Reveal(),
		request: func(query string, limit int) any {
			return mem0SearchRequest{
				Query:     query,
				Filters:   mem0Filters{AppID: appID},
				TopK:      limit,
				Threshold: 0.1,
			}
		},
		response: responseShape{array: "results", content: "memory", title: absent, uri: absent},
	}
}

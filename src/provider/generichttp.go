package provider

import "external-context.internal/appliance/src/config"

// genericHTTPSearchPath is the one path of Generic HTTP Search V1.
const genericHTTPSearchPath = "/v1/context/search"

// genericHTTPSearchRequest is the body of a Generic HTTP Search V1 search.
type genericHTTPSearchRequest struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

// genericHTTPSearch is the Generic HTTP Search V1 adapter. The origin has no path
// and no trailing slash.
func genericHTTPSearch(origin string, token config.Secret) adapter {
	return adapter{
		endpoint:      origin + genericHTTPSearchPath,
		authorization: "Bearer " + token.Reveal(),
		request: func(query string, limit int) any {
			return genericHTTPSearchRequest{Query: query, Limit: limit}
		},
		response: responseShape{array: "items", content: "content", title: "title", uri: "uri"},
	}
}

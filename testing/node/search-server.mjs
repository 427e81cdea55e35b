// The server that ./dev bench compares with: the same tool on the official MCP SDK
// for Node, with the least code that searches. It has none of the product's checks.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const { SEARCH_ORIGIN, SEARCH_TOKEN } = process.env;
const server = new Server({ name: 'comparison', version: '0.0.0' }, { capabilities: { tools: {} } });

server.setRequestHandler(ListToolsRequestSchema, async () => ({
  tools: [{
    name: 'context_search',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'], additionalProperties: false },
  }],
}));

server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const response = await fetch(`${SEARCH_ORIGIN}/v1/context/search`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${SEARCH_TOKEN}`, Accept: 'application/json', 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: request.params.arguments.query, limit: 5 }),
  });
  const { items } = await response.json();
  return { content: [{ type: 'text', text: JSON.stringify({ items }) }] };
});

await server.connect(new StdioServerTransport());

// One search with the official Mem0 client at its own address. Prints the answer,
// or the name and code of the client's error, as JSON.
import { createRequire } from 'node:module';

const [packages, apiKey, appId, query] = process.argv.slice(2);
const { MemoryClient } = createRequire(`${packages}/`)('mem0ai');

try {
  const client = new MemoryClient({ apiKey });
  const answer = await client.search(query, { filters: { app_id: appId }, topK: 5, threshold: 0.1, rerank: false });
  console.log(JSON.stringify({ answer }));
} catch (error) {
  console.log(JSON.stringify({ error: { name: error.name, code: error.errorCode } }));
}

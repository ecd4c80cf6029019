// Lists the tools of a server and calls them, with the TypeScript SDK. One JSON object on stdin, one on stdout.
//   {"url", "token"} or {"command", "args"}, and "calls": [{"name", "arguments"}]
// The SDK checks every structured answer against the tool's output schema and throws if it does not fit.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import process from "node:process";

const require = createRequire(pathToFileURL(process.argv[2] + "/"));
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${name}`)).href);

const { Client } = await load("index.js");
const { StdioClientTransport } = await load("stdio.js");
const { StreamableHTTPClientTransport } = await load("streamableHttp.js");

let text = "";
for await (const chunk of process.stdin) text += chunk;
const order = JSON.parse(text);

const transport = order.url
  ? new StreamableHTTPClientTransport(new URL(order.url), {
      requestInit: { headers: { Authorization: `Bearer ${order.token}` } },
    })
  : new StdioClientTransport({ command: order.command, args: order.args, env: process.env, stderr: "ignore" });

const client = new Client({ name: "typescript-client", version: "1.0.0" });
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const call of order.calls) results.push(await client.callTool(call));
await client.close();
process.stdout.write(JSON.stringify({ tools, results }));

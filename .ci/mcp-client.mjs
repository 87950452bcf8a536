// Does the steps of `.ci/mcp-clients` with a client of the npm registry, and prints the results as JSON.

import { readFileSync } from 'node:fs';

const { server, mode, steps } = JSON.parse(readFileSync(0, 'utf8'));
const me = { name: 'check', version: '1' };

async function connected() {
  if (mode === 'initialize') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const client = new Client(me);
    const transport = new StdioClientTransport(server);
    let version = '';
    // This client tells its transport which version was agreed.
    transport.setProtocolVersion = (agreed) => { version = agreed; };
    await client.connect(transport);
    return { client, version };
  }
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const negotiation = mode === 'legacy' || mode === 'auto' ? mode : { pin: mode };
  const client = new Client(me, { versionNegotiation: { mode: negotiation } });
  await client.connect(new StdioClientTransport(server));
  return { client, version: client.getNegotiatedProtocolVersion() };
}

async function done(client, step) {
  const names = (items, field) => ({ text: items.map((item) => item[field]).join(' ') });
  switch (step.do) {
    case 'list_tools': return names((await client.listTools()).tools, 'name');
    case 'call': {
      const found = await client.callTool({ name: step.name, arguments: step.arguments });
      return { text: found.content[0].text, structured: found.structuredContent ?? null, error: found.isError ?? false };
    }
    case 'list_resources': return names((await client.listResources()).resources, 'uri');
    case 'list_templates': return names((await client.listResourceTemplates()).resourceTemplates, 'uriTemplate');
    case 'read_resource': return { text: (await client.readResource({ uri: step.uri })).contents[0].text };
    case 'list_prompts': return names((await client.listPrompts()).prompts, 'name');
    default: {
      const found = await client.getPrompt({ name: step.name, arguments: step.arguments });
      return { text: found.messages[0].content.text };
    }
  }
}

const { client, version } = await connected();
const results = [];
for (const step of steps) {
  results.push(await done(client, step));
}
await client.close();
console.log(JSON.stringify({ version, results }));

/** The used parts of the MCP SDK. The build bundles them into this file: docs/internals/decisions/01-dependencies.md. */
export { McpServer, fromJsonSchema } from '@modelcontextprotocol/server'
export { serveStdio } from '@modelcontextprotocol/server/stdio'

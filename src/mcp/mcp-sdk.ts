/** The parts of the SDK that are used. The build puts them into this file: docs/internals/decisions/01-dependencies.md. */
export { McpServer, fromJsonSchema } from '@modelcontextprotocol/server'
export { serveStdio } from '@modelcontextprotocol/server/stdio'

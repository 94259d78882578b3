/** The parts of the SDK that are used. The build puts them into this file's place whole: see decision 37. */
export { McpServer, fromJsonSchema } from '@modelcontextprotocol/server'
export { serveStdio } from '@modelcontextprotocol/server/stdio'

/**
 * What is used of `node:http`. An `import` of it reads all that it exports, and so loads Node's own undici for its
 * WebSocket, which takes 30 ms more of a start.
 */
export const { METHODS, STATUS_CODES, createServer, request } = process.getBuiltinModule('node:http')

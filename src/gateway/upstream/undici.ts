/**
 * The parts of undici that the gateway uses. To load all of it takes 35 ms more of a start, for its fetch, WebSocket,
 * cache and mocks; its version is pinned, so that these files stay where they are.
 */
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type * as Undici from 'undici'

const require = createRequire(import.meta.url)

export const Client = require('undici/lib/dispatcher/client.js') as typeof Undici.Client
export type Client = Undici.Client
export const buildConnector = require('undici/lib/core/connect.js') as typeof Undici.buildConnector
// undici loads its parser with the first connection, when an update may have taken that away.
for (const late of ['undici/lib/llhttp/llhttp_simd-wasm.js']) require(late)

export const errors = require('undici/lib/core/errors.js') as typeof Undici.errors
const { kParser } = require('undici/lib/core/symbols.js') as { readonly kParser: unique symbol }

interface Parser {
  onHeadersComplete: (this: Parser, status: number, isUpgrade: boolean, keepsAlive: boolean) => number
}
let isPatched = false

/**
 * undici destroys a connection on a 100 that it did not ask for, which every client must take (RFC 9110 §15.2). To its
 * parser such an answer is a 102, which it passes on as it does any interim answer. `socket` is one that it has taken.
 */
export function takeContinue(socket: Socket): void {
  const parser = (socket as Socket & { readonly [kParser]?: Parser })[kParser]
  if (isPatched || parser === undefined) return
  isPatched = true
  const prototype = Object.getPrototypeOf(parser) as Parser
  const { onHeadersComplete } = prototype
  prototype.onHeadersComplete = function (status, ...rest) {
    return onHeadersComplete.call(this, status === 100 ? 102 : status, ...rest)
  }
}

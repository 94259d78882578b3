/**
 * The parts of undici that the gateway uses. Loading all of undici, with fetch, WebSocket, cache and mocks, takes
 * 35 ms more at the start. The version of undici is pinned, so the files keep their paths.
 */
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type * as Undici from 'undici'

const require = createRequire(import.meta.url)

export const Client = require('undici/lib/dispatcher/client.js') as typeof Undici.Client
export type Client = Undici.Client
export const buildConnector = require('undici/lib/core/connect.js') as typeof Undici.buildConnector
// undici would load its parser with the first connection, when an update may have removed the file.
for (const late of ['undici/lib/llhttp/llhttp_simd-wasm.js']) require(late)

export const errors = require('undici/lib/core/errors.js') as typeof Undici.errors
const { kParser } = require('undici/lib/core/symbols.js') as { readonly kParser: unique symbol }

interface Parser {
  onHeadersComplete: (this: Parser, status: number, isUpgrade: boolean, keepsAlive: boolean) => number
}
let isPatched = false

/**
 * Makes undici accept an unexpected 100, which every client must (RFC 9110 §15.2); undici would destroy the
 * connection. The parser sees a 102 instead, which is passed on like any interim answer. `socket` is one of
 * undici's.
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

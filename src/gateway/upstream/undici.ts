/**
 * The parts of undici that the gateway uses. To load all of it takes 35 ms more of a start, for its fetch, WebSocket,
 * cache and mocks; its version is pinned, so that these files stay where they are.
 */
import { createRequire } from 'node:module'
import type * as Undici from 'undici'

const require = createRequire(import.meta.url)

export const Client = require('undici/lib/dispatcher/client.js') as typeof Undici.Client
export type Client = Undici.Client
export const buildConnector = require('undici/lib/core/connect.js') as typeof Undici.buildConnector
export const errors = require('undici/lib/core/errors.js') as typeof Undici.errors

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type MessageOf, isText, readMessage, record } from '../lib/message-shape.ts'
import { replaceFile } from '../lib/replace-file.ts'
import { identity, isPort } from './control-messages.ts'

/** A gateway leaves this in its data folder while it runs, for those to whom it no longer answers. */
export type ProcessRecord = MessageOf<typeof isProcessRecord>

const isProcessRecord = record({
  ...identity,
  instance: isText,
  host: isText,
  port: isPort,
  /** ISO 8601, UTC. */
  started_at: isText,
})

/** Throws the system's error. */
export function writeProcessRecord(folder: string, own: ProcessRecord): void {
  replaceFile(recordPath(folder), `${JSON.stringify(own)}\n`)
}

/** `null` if there is none, or none that can be read. */
export function readProcessRecord(folder: string): ProcessRecord | null {
  try {
    return readMessage(readFileSync(recordPath(folder), 'utf8'), isProcessRecord)
  } catch {
    return null
  }
}

/** Removes the record of this very gateway, and no other's. Throws the system's error. */
export function removeProcessRecord(folder: string, instance: string): void {
  if (readProcessRecord(folder)?.instance === instance) rmSync(recordPath(folder), { force: true })
}

function recordPath(folder: string): string {
  return join(folder, 'gateway-process.json')
}

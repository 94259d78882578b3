import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { orNull } from '../lib/errors.ts'
import { type MessageOf, fits } from '../lib/message-schema.ts'
import { readMessage } from '../lib/message-shape.ts'
import { isAlive } from '../lib/process/process-identity.ts'
import { readText } from '../lib/files/read-file.ts'
import { replaceFile } from '../lib/files/replace-file.ts'
import { identity, port } from './control-messages.ts'

/**
 * The content of a file in the data folder of a running gateway. The file identifies the process if the gateway
 * does not answer.
 */
export type ProcessRecord = MessageOf<typeof isProcessRecord>

const isProcessRecord = fits(
  v.object({
    ...identity,
    instance: v.string(),
    host: v.string(),
    port,
    /** ISO 8601, UTC. */
    started_at: v.string(),
    /** The same member as in the gateway's status. */
    supervised: v.boolean(),
    /**
     * How the gateway ended: `stopped`, or `failed` by an own fault. Absent while the gateway runs, and after a
     * kill. Another gateway may replace a failed one at once.
     */
    ends: v.optional(v.picklist(['stopped', 'failed'])),
  }),
)

/** True if the gateway of a record ended without a stop. */
export function isCrash(record: ProcessRecord): boolean {
  return record.ends === 'failed' || (record.ends !== 'stopped' && !isAlive(record))
}

/** Writes the record. Throws the system's error. */
export function writeProcessRecord(folder: string, own: ProcessRecord): void {
  replaceFile(recordPath(folder), `${JSON.stringify(own)}\n`)
}

/** The record in a folder; `null` if it is missing or unreadable. */
export function readProcessRecord(folder: string): ProcessRecord | null {
  return orNull(() => readMessage(readText(recordPath(folder)), isProcessRecord))
}

/** Removes the record if it is this instance's. Throws the system's error. */
export function removeProcessRecord(folder: string, instance: string): void {
  if (readProcessRecord(folder)?.instance === instance) rmSync(recordPath(folder), { force: true })
}

function recordPath(folder: string): string {
  return join(folder, 'gateway-process.json')
}

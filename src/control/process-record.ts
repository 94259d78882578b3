import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type MessageOf, fits } from '../lib/message-schema.ts'
import { readMessage } from '../lib/message-shape.ts'
import { isAlive } from '../lib/process/process-identity.ts'
import { readText } from '../lib/files/read-file.ts'
import { replaceFile } from '../lib/files/replace-file.ts'
import { identity, port } from './control-messages.ts'

/** A gateway leaves this in its data folder while it runs, for those to whom it no longer answers. */
export type ProcessRecord = MessageOf<typeof isProcessRecord>

const isProcessRecord = fits(
  v.object({
    ...identity,
    instance: v.string(),
    host: v.string(),
    port,
    /** ISO 8601, UTC. */
    started_at: v.string(),
    /** As in its status. */
    supervised: v.boolean(),
    /**
     * How it ends: `told` to by somebody; or `failed`, which is a fault of its own, and another gateway may take its place at once.
     * Absent while it runs, and in what a gateway leaves that was killed.
     */
    ends: v.optional(v.picklist(['told', 'failed'])),
  }),
)

/** True if the gateway of a record has ended without being told to. */
export function isCrash(left: ProcessRecord): boolean {
  return left.ends === 'failed' || (left.ends !== 'told' && !isAlive(left))
}

/** Throws the system's error. */
export function writeProcessRecord(folder: string, own: ProcessRecord): void {
  replaceFile(recordPath(folder), `${JSON.stringify(own)}\n`)
}

/** `null` if there is none, or none that can be read. */
export function readProcessRecord(folder: string): ProcessRecord | null {
  try {
    return readMessage(readText(recordPath(folder)), isProcessRecord)
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

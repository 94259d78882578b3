import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessIdentity } from '../lib/process-identity.ts'
import { replaceFile } from '../lib/replace-file.ts'

/** What a gateway leaves in its data folder while it runs, for those to whom it no longer answers. */
export interface ProcessRecord extends ProcessIdentity {
  readonly instance: string
  readonly host: string
  readonly port: number
  /** ISO 8601, UTC. */
  readonly started_at: string
}

/** Throws the system's error. */
export function writeProcessRecord(folder: string, record: ProcessRecord): void {
  replaceFile(recordPath(folder), `${JSON.stringify(record)}\n`)
}

/** `null` where there is none, or none that can be read. */
export function readProcessRecord(folder: string): ProcessRecord | null {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(recordPath(folder), 'utf8'))
  } catch {
    return null
  }
  return isProcessRecord(content) ? content : null
}

/** Removes the record of this very gateway, and no other's. Throws the system's error. */
export function removeProcessRecord(folder: string, instance: string): void {
  if (readProcessRecord(folder)?.instance === instance) rmSync(recordPath(folder), { force: true })
}

function recordPath(folder: string): string {
  return join(folder, 'gateway-process.json')
}

/** Strict, because a process may be killed on its word. */
function isProcessRecord(content: unknown): content is ProcessRecord {
  if (typeof content !== 'object' || content === null) return false
  const record: Partial<Record<keyof ProcessRecord, unknown>> = content
  return (
    // 0 and negative numbers would stand for whole groups of processes, 1 for the system's first.
    isWhole(record.pid, 2) &&
    (record.startTicks === null || isWhole(record.startTicks, 0)) &&
    (record.bootId === null || typeof record.bootId === 'string') &&
    isWhole(record.port, 0) &&
    typeof record.host === 'string' &&
    typeof record.instance === 'string' &&
    typeof record.started_at === 'string'
  )
}

function isWhole(value: unknown, min: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= min
}

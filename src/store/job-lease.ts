import type { DatabaseSync } from 'node:sqlite'
import type { ProcessIdentity } from '../lib/process-identity.ts'

/** What one process at a time may do to a database. Written into `job_leases`. */
export type Job = 'compress'

/** What the taking of a lease needs to know of the world. */
export interface LeaseWorld {
  readonly self: ProcessIdentity
  readonly isAlive: (process: ProcessIdentity) => boolean
  readonly wallTime: () => number
}

/**
 * Takes the job for this process, also from a holder that is dead; `false` where a living one has it, be it
 * this very process.
 */
export function takeLease(
  database: DatabaseSync,
  job: Job,
  { self, isAlive, wallTime }: LeaseWorld,
): boolean {
  database.exec('BEGIN IMMEDIATE')
  try {
    const row = database.prepare('SELECT pid, start_ticks, boot_id FROM job_leases WHERE job = ?').get(job)
    const isFree = row === undefined || !isAlive(holderIn(row))
    if (isFree) {
      database
        .prepare(
          'REPLACE INTO job_leases (job, pid, start_ticks, boot_id, taken_at_ms) VALUES (?, ?, ?, ?, ?)',
        )
        .run(job, self.pid, self.startTicks, self.bootId, wallTime())
    }
    database.exec('COMMIT')
    return isFree
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** Gives the job up; a lease that another process has taken since is left alone. */
export function releaseLease(database: DatabaseSync, job: Job, self: ProcessIdentity): void {
  database
    .prepare('DELETE FROM job_leases WHERE job = ? AND pid = ? AND start_ticks IS ? AND boot_id IS ?')
    .run(job, self.pid, self.startTicks, self.bootId)
}

function holderIn(row: Readonly<Record<string, unknown>>): ProcessIdentity {
  const { pid, start_ticks: startTicks, boot_id: bootId } = row
  return {
    pid: Number(pid),
    startTicks: startTicks === null ? null : Number(startTicks),
    bootId: typeof bootId === 'string' ? bootId : null,
  }
}

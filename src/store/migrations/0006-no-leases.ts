import type { Migration } from './migration.ts'

/** Jobs keep one another away by a lock that the kernel frees, not by a row that a killed process leaves behind. */
export const noLeases: Migration = {
  version: 6,
  sql: 'DROP TABLE job_leases;',
}

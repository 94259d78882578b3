import type { DatabaseSync } from 'node:sqlite'

/** How far the rollups have come. Times are in quarter hours since 1970. */
export interface RollupState {
  /** The calls up to this `seq` are in the sums. */
  readonly watermark: number
  /** Wider slots that end here or before are complete. A whole hour. */
  readonly coarseUntil: number
  /** Of the hour that begins there, the keys up to this one are already in the wider slots that end with it. */
  readonly coarseKey: number
  /** Calls before were folded away. */
  readonly foldedUntil: number
}

/** Reads the state anew each time. */
export function rollupState(database: DatabaseSync): () => RollupState {
  const statement = database.prepare('SELECT * FROM rollup_state')
  return () => {
    const row = statement.get() ?? {}
    return {
      watermark: Number(row['watermark_seq']),
      coarseUntil: Number(row['coarse_until']),
      coarseKey: Number(row['coarse_key']),
      foldedUntil: Number(row['folded_until']),
    }
  }
}

import type { GatewayEvent } from '../../call/call-sink.ts'
import { ownInstances } from './client-usage.ts'
import { databasePlace } from '../sqlite/older-proxy.ts'
import { openForReading, openForWriting } from '../sqlite/open-store.ts'

/**
 * Adds an event to the history of this machine's gateway; false if there is no history. Never makes a database.
 */
export function noteEvent(dbOption: string, { atMs, kind, detail }: GatewayEvent): boolean {
  const { path } = databasePlace(dbOption)
  const opened = openForReading(path)
  if (typeof opened === 'string') return false
  opened.close()
  using database = openForWriting(path)
  const { changes } = database
    .prepare(
      `INSERT INTO gateway_events
        SELECT ?, instance_id, ?, ? FROM gateway_events WHERE instance_id IN (${ownInstances})
        ORDER BY at_ms DESC LIMIT 1 ON CONFLICT DO NOTHING`,
    )
    .run(Math.round(atMs), kind, detail)
  return changes === 1
}

import type { GatewayEvent } from '../../call/call-sink.ts'
import { schemaVersion, versionOf } from '../sqlite/migrate.ts'
import { databasePlace } from '../sqlite/older-proxy.ts'
import { openForReading, openForWriting } from '../sqlite/open-store.ts'

/**
 * Notes something that happened beside the gateway in its history, where there is one; says whether it was. Nothing is made,
 * nor brought to another schema, for that alone.
 */
export function noteEvent(named: string, { atMs, kind, detail }: GatewayEvent): boolean {
  const { path } = databasePlace(named)
  const reading = openForReading(path)
  if (typeof reading === 'string') return false
  try {
    if (versionOf(reading) !== schemaVersion) return false
  } finally {
    reading.close()
  }
  const database = openForWriting(path)
  try {
    const { changes } = database
      .prepare(
        `INSERT INTO gateway_events
          SELECT ?, instance_id, ?, ? FROM gateway_events ORDER BY at_ms DESC LIMIT 1 ON CONFLICT DO NOTHING`,
      )
      .run(Math.round(atMs), kind, detail)
    return changes === 1
  } finally {
    database.close()
  }
}

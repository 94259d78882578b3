import { resolve } from 'node:path'
import { clearPayloads } from '../../payloads/file/clear-payloads.ts'
import { PayloadReader } from '../../payloads/file/payload-reader.ts'
import type { PayloadFiles } from '../../supervisor/raw-log-relay.ts'
import { formatBytes } from '../../lib/format-bytes.ts'

/** The files of payloads as they are while no gateway runs. */
export function payloadFiles(file: string, capture: string): PayloadFiles {
  const filePath = resolve(file)
  return {
    status: () => {
      const bytes = bytesOf(filePath)
      return {
        enabled: false,
        enabled_until: null,
        capture,
        file_path: filePath,
        file_size_bytes: bytes,
        file_size_formatted: formatBytes(bytes),
        subscribers_count: 0,
        dropped: 0,
        trouble: null,
      }
    },
    clear: async () => clearPayloads(filePath),
  }
}

/** What cannot be looked at counts as nothing. */
function bytesOf(filePath: string): number {
  try {
    return new PayloadReader(filePath).fileBytes()
  } catch {
    return 0
  }
}

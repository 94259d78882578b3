import { bytes } from '../lib/number-format.ts'
import { clearPayloads } from '../payloads/file/clear-payloads.ts'
import { measureSegments } from '../payloads/file/payload-segments.ts'
import type { PayloadFiles } from '../supervisor/raw-log-relay.ts'

/** The files of payloads, for a dashboard without a running gateway. */
export function payloadFiles(filePath: string, capture: () => string): PayloadFiles {
  return {
    filePath,
    status: async () => {
      // Unreadable files count as absent.
      const size = await measureSegments(filePath).catch(() => 0)
      return {
        enabled: false,
        enabled_until: null,
        capture: capture(),
        file_path: filePath,
        file_size_bytes: size,
        file_size_formatted: bytes(size),
        subscribers_count: 0,
        dropped: 0,
        trouble: null,
      }
    },
    clear: async () => clearPayloads(filePath),
  }
}

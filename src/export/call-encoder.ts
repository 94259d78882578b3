import type { ExportFormat } from '../api/database-job.ts'
import type { CallJson } from '../call/call-record.ts'
import { csvLine, csvRows, ndjsonText } from '../query/row-text.ts'
import { publicFields } from '../store/sqlite/calls-readable.ts'

/**
 * Encodes calls as a file, piece by piece: the beginning, a piece for each page of calls (which may be
 * empty), and the end.
 */
export interface CallEncoder {
  start(): Uint8Array | string
  add(calls: readonly CallJson[]): Uint8Array | string
  end(): Uint8Array | string
}

/** An encoder for one file. The Parquet writer is loaded only for Parquet. */
export async function callEncoder(format: ExportFormat): Promise<CallEncoder> {
  if (format === 'parquet') return new (await import('./parquet-encoder.ts')).ParquetEncoder()
  const names = publicFields.map(({ name }) => name)
  return format === 'csv'
    ? { start: () => csvLine(names), add: (calls) => csvRows(calls, names), end: () => '' }
    : { start: () => '', add: ndjsonText, end: () => '' }
}

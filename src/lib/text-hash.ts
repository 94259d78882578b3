import { hash } from 'node:crypto'

/** 63 bits of a text's SHA-256, which fit a column of SQLite. */
export function textHash(text: string): bigint {
  return hash('sha256', text, 'buffer').readBigUInt64BE(0) >> 1n
}

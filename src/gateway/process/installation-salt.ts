import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const saltBytes = 16

/**
 * The salt of this installation, by which fingerprints of keys can be told apart here and mean nothing
 * elsewhere. Made at the first start. If it can be neither read nor kept, a passing one serves:
 * fingerprints then differ from those of other runs, and nothing else suffers.
 */
export function installationSalt(path: string): Buffer {
  const fresh = randomBytes(saltBytes)
  try {
    writeFileSync(path, fresh, { mode: 0o600, flag: 'wx' })
    return fresh
  } catch {
    return readSalt(path) ?? fresh
  }
}

function readSalt(path: string): Buffer | null {
  try {
    const kept = readFileSync(path)
    return kept.length === saltBytes ? kept : null
  } catch {
    return null
  }
}

import { randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Warning } from '../../call/call-sink.ts'
import { codeOf, messageOf } from '../../lib/errors.ts'
import { readBytes } from '../../lib/files/read-file.ts'

const saltBytes = 16

interface Salt {
  readonly salt: Buffer
  readonly warning: Warning | null
}

/**
 * The salt of this installation, by which fingerprints of keys can be told apart here and mean nothing elsewhere. The first
 * start makes it. A damaged one is put aside and made anew; one that can be neither read nor kept serves for this run. Both
 * give keys other fingerprints, which a warning says.
 */
export function installationSalt(path: string): Salt {
  try {
    const kept = readSalt(path)
    if (kept?.length === saltBytes) return { salt: kept, warning: null }
    if (kept !== null) renameSync(path, `${path}.broken`)
    const salt = makeSalt(path)
    if (kept === null) return { salt, warning: null }
    return {
      salt,
      warning: warningOf(`${path} had ${kept.length} bytes, not ${saltBytes}, and was made anew`),
    }
  } catch (error) {
    const warning = warningOf(`${path} can be neither read nor kept (${messageOf(error)})`)
    return { salt: randomBytes(saltBytes), warning }
  }
}

/** Null if there is none. */
function readSalt(path: string): Buffer | null {
  try {
    return readBytes(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** Writes one whole or not at all. Where another start was quicker, it is the other's. Throws the system's error. */
function makeSalt(path: string): Buffer {
  const fresh = randomBytes(saltBytes)
  const temporary = `${path}.${process.pid}.new`
  try {
    writeFileSync(temporary, fresh, { mode: 0o600, flush: true })
    linkSync(temporary, path)
    return fresh
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return readBytes(path)
    // Not every file system has links.
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'ENOTSUP') throw error
    renameSync(temporary, path)
    return fresh
  } finally {
    rmSync(temporary, { force: true })
  }
}

function warningOf(what: string): Warning {
  const message = `${what}: keys have other fingerprints than before, so names and limits that were set for a fingerprint are to be set again`
  return { code: 'new_salt', message }
}

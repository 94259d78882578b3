import { randomBytes } from 'node:crypto'
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Warning } from '../../call/call-sink.ts'
import { codeOf, orNullIfMissing, reasonOf } from '../../lib/errors.ts'
import { readBytes } from '../../lib/files/read-file.ts'

const saltBytes = 16

interface Salt {
  readonly salt: Buffer
  readonly warning: Warning | null
}

/**
 * The salt of this installation, which makes fingerprints of keys useless elsewhere. The first start creates
 * it. A damaged salt is moved aside and created again. If the file can be neither read nor written, a new
 * salt is used for this run only. In both cases keys get other fingerprints, and a warning says so.
 */
export function installationSalt(path: string): Salt {
  try {
    const stored = readSalt(path)
    if (stored?.length === saltBytes) return { salt: stored, warning: null }
    if (stored !== null) renameSync(path, `${path}.broken`)
    const salt = makeSalt(path)
    if (stored === null) return { salt, warning: null }
    return {
      salt,
      warning: warningOf(`${path} had ${stored.length} bytes, not ${saltBytes}, and was created again`),
    }
  } catch (error) {
    const warning = warningOf(`${path} can be neither read nor written (${reasonOf(error)})`)
    return { salt: randomBytes(saltBytes), warning }
  }
}

/** The salt in the file; null if there is no file. */
function readSalt(path: string): Buffer | null {
  return orNullIfMissing(() => readBytes(path))
}

/**
 * Writes a new salt atomically, and returns it, or the salt of another start that was faster. Throws the
 * system's error.
 */
function makeSalt(path: string): Buffer {
  const fresh = randomBytes(saltBytes)
  const temporary = `${path}.${process.pid}.new`
  try {
    writeFileSync(temporary, fresh, { mode: 0o600, flush: true })
    linkSync(temporary, path)
    return fresh
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return readBytes(path)
    // Some file systems have no hard links.
    if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'ENOTSUP') throw error
    renameSync(temporary, path)
    return fresh
  } finally {
    rmSync(temporary, { force: true })
  }
}

function warningOf(what: string): Warning {
  const message = `${what}: keys have other fingerprints than before, so set names and limits of fingerprints again`
  return { code: 'new_salt', message }
}

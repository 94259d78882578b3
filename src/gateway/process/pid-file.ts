import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../../lib/caught.ts'
import { replaceFile } from '../../lib/replace-file.ts'

/**
 * The file that tells people which process the gateway is. A hint only: no signal is ever sent on its word.
 * It is replaced whole, and removed at the end only if it still names this process.
 */
export class PidFile {
  readonly #path: string
  #isWritten = false

  constructor(path: string) {
    this.#path = path
  }

  /** Answers why it could not be written, or `null`. */
  write(): string | null {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
      replaceFile(this.#path, `${process.pid}\n`)
      this.#isWritten = true
      return null
    } catch (error) {
      return messageOf(error)
    }
  }

  remove(): void {
    // In another PID namespace another process has the same number.
    if (!this.#isWritten) return
    try {
      if (readFileSync(this.#path, 'utf8').trim() === String(process.pid)) rmSync(this.#path)
    } catch {
      // Somebody else has removed it, or it was never written.
    }
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../lib/errors.ts'
import { priceFileOf, writePriceFile } from '../pricing/price-file.ts'
import { demoCosts } from './demo-prices.ts'

/** Where a demo keeps its files: prices at first. */
export class DemoFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'tokenweir-demo-'))
  readonly db: string = join(this.path, 'llm_telemetry.db')
  readonly #removing = new AbortController()
  #written: Promise<void> = Promise.resolve()

  constructor() {
    writePriceFile(priceFileOf(this.db), demoCosts)
  }

  /** Gives it a past of calls that an upstream at `host` answered; `warn` is told in a line if that cannot be. */
  fill(host: string, warn: (line: string) => void): void {
    const { signal } = this.#removing
    this.#written = import('./demo-past.ts')
      .then(async ({ writePast }) => {
        const result = await writePast(this.db, { host, endMs: Date.now(), signal })
        if (typeof result === 'string') throw new Error(result)
      })
      .catch((error: unknown) => {
        if (!signal.aborted) warn(`the demo has no past, or a part of it: ${messageOf(error)}`)
      })
  }

  /** Nothing of it is left afterwards. */
  async remove(): Promise<void> {
    this.#removing.abort()
    await this.#written
    rmSync(this.path, { recursive: true, force: true })
  }
}

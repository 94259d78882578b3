import { setTimeout as delay } from 'node:timers/promises'
import type { OutgoingRecord, PayloadRecord, RawLogEvent } from '../../src/api/raw-log.ts'
import { CallIds } from '../../src/call/call-id.ts'
import { RawLog, type RawLogOptions } from '../../src/payloads/raw-log.ts'
import { makeTempDir } from '../support/temp-dir.ts'

export interface LogUnderTest extends AsyncDisposable {
  readonly log: RawLog
  readonly filePath: string
  readonly nextId: () => number
  readonly entries: (limit?: number) => Promise<readonly (PayloadRecord | OutgoingRecord)[]>
}

export async function logUnderTest({
  enabled = true,
  ...options
}: Partial<RawLogOptions> & { readonly enabled?: boolean } = {}): Promise<LogUnderTest> {
  const dir = await makeTempDir()
  const filePath = options.filePath ?? dir.file('logger/payloads.jsonl')
  const log = new RawLog({
    filePath,
    capture: 'all',
    maxBodyBytes: 2 ** 20,
    totalBytes: 2 ** 30,
    salt: Buffer.alloc(16),
    idBits: 3,
    ...options,
  })
  if (enabled) log.toggle(true, null)
  const ids = new CallIds(() => Date.now(), 3)
  return {
    log,
    filePath,
    nextId: () => ids.next(),
    entries: async (limit = 1000) => JSON.parse(Buffer.from(await log.recent(limit)).toString()).entries,
    [Symbol.asyncDispose]: async () => {
      await log.close()
      await dir[Symbol.asyncDispose]()
    },
  }
}

/** What a log's feed told. */
export class Watched implements Disposable {
  readonly events: RawLogEvent[] = []
  readonly seqs: (number | null)[] = []
  dropped = 0
  readonly #watching: Disposable

  constructor(log: RawLog) {
    this.#watching = log.watch({
      events: (events) => {
        for (const { seq, json } of events) {
          this.seqs.push(seq)
          this.events.push(JSON.parse(Buffer.from(json).toString()))
        }
      },
      dropped: (count) => {
        this.dropped += count
      },
    })
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]()
  }
}

const limitMs = 20_000

/** Resolves when it holds, which something outside of this thread brings about; looks often. */
export async function until(holds: () => boolean): Promise<void> {
  const startedAtMs = performance.now()
  while (!holds()) {
    if (performance.now() - startedAtMs > limitMs) throw new Error(`waited in vain: ${holds.toString()}`)
    await delay(2)
  }
}

import type { CallStart } from '../../call/call.ts'
import { type Placed, SwapList } from '../../lib/swap-list.ts'

/** A running call in its sink. */
export type OpenCall = CallStart &
  Partial<Placed> & {
    /** The opening of the database at which the call was put into `open_calls`; 0, or nothing, for none. */
    noted?: number
  }

/** The facts of a row `interrupted`. */
const startNames: (keyof CallStart)[] = [
  'callType',
  'endpoint',
  'method',
  'stream',
  'upstream',
  'requestBytes',
  'model',
  'client',
  'userAgent',
  'session',
  'sessionSource',
  'tags',
  'keyFingerprint',
  'clientRetry',
]

/** Rows for `open_calls`. */
export type OpenRows = readonly (readonly [id: number, call: string])[]

/** Most rows of one message to the writer's thread. */
const mostAtOnce = 1000

/**
 * The calls that have begun and not ended. A call that stays open over a whole tick is put into `open_calls`, so that a killed
 * process leaves a trace of the call. A shorter call costs no write.
 */
export class OpenCalls {
  readonly #calls = new SwapList<OpenCall>()
  /** The highest id of a call that has begun; ids rise unless the clock is set back. */
  #newest = 0
  #newestAtTick = 0
  /** Calls up to this id have been open for a whole tick. */
  #ripe = 0
  #opening = 1
  #waiting = 0

  /** True if some calls are not noted yet. */
  get areWaiting(): boolean {
    return this.#waiting > 0
  }

  begin(call: OpenCall): void {
    this.#calls.add(call)
    this.#newest = Math.max(this.#newest, call.id)
    this.#waiting++
  }

  /** Removes a call; does nothing for a call that never began. */
  end(call: OpenCall): void {
    if ((call.index ?? -1) < 0) return
    if (call.noted !== this.#opening) this.#waiting--
    this.#calls.remove(call)
  }

  tick(): void {
    this.#ripe = this.#newestAtTick
    this.#newestAtTick = this.#newest
  }

  /** Call it when the database was opened again. All open calls are written again, because it may be another one. */
  reopened(): void {
    this.#opening++
    this.#waiting = this.#calls.size
  }

  /** The calls to note now. */
  dueRows(): OpenRows {
    const rows: [number, string][] = []
    if (this.#waiting === 0) return rows
    for (const call of this.#calls) {
      if (call.noted === this.#opening || call.id > this.#ripe) continue
      call.noted = this.#opening
      if (rows.push([call.id, JSON.stringify(call, startNames)]) === mostAtOnce) break
    }
    this.#waiting -= rows.length
    return rows
  }
}

import type { EventData, EventTopic } from '../../api/dashboard-event.ts'
import type { LogSource } from '../routes/log-source.ts'
import type { Topic, TopicReader } from './topic.ts'

/** How many lines a reader is told at first, and after it had fallen behind. */
const keptLines = 150
/** Of very long lines fewer are kept, so that a reader that never reads costs little. */
const keptCharacters = 128 * 1024

/** Where a reader stands: at the newest line, or waiting for room (or for the first lines) to begin anew. */
type Standing = 'current' | 'waiting'

/**
 * The gateway's log, for those who listen: one watch for all of them, none while nobody listens. A reader that
 * falls behind loses lines, and begins anew with the last ones when it has caught up.
 */
export class LogTopic implements Topic {
  readonly name: EventTopic = 'log'
  readonly #log: LogSource
  readonly #readers = new Map<TopicReader, Standing>()
  /** The last lines, as far as they are known. */
  #last: readonly string[] | null = null
  #stopWatch: (() => void) | null = null

  constructor(log: LogSource) {
    this.#log = log
  }

  subscribe(reader: TopicReader): () => void {
    this.#readers.set(reader, 'waiting')
    if (this.#last !== null) this.#beginAnew(reader)
    this.#stopWatch ??= this.#log.watch((lines, reset) => this.#onLines(lines, reset))
    return () => {
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#rest()
    }
  }

  #onLines(lines: readonly string[], reset: boolean): void {
    const isFirst = this.#last === null
    this.#last = lastOf(reset ? lines : [...(this.#last ?? []), ...lines])
    const data: EventData['log'] = { lines: reset ? this.#last : lines, reset }
    for (const [reader, standing] of this.#readers) {
      if (isFirst) this.#beginAnew(reader)
      else if (standing === 'current' && !reader.send(data)) this.#waitForRoom(reader)
    }
  }

  #beginAnew(reader: TopicReader): void {
    if (!this.#readers.has(reader)) return
    const data: EventData['log'] = { lines: this.#last ?? [], reset: true }
    if (reader.send(data)) this.#readers.set(reader, 'current')
    else this.#waitForRoom(reader)
  }

  #waitForRoom(reader: TopicReader): void {
    this.#readers.set(reader, 'waiting')
    reader.whenRoom(() => this.#beginAnew(reader))
  }

  #rest(): void {
    this.#stopWatch?.()
    this.#stopWatch = null
    this.#last = null
  }
}

function lastOf(lines: readonly string[]): readonly string[] {
  const last = lines.slice(-keptLines)
  let characters = 0
  const tooMany = last.findLastIndex((line) => (characters += line.length) > keptCharacters)
  return last.slice(tooMany + 1)
}

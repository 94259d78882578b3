import type { EventData } from '../../api/dashboard-event.ts'
import type { LogSource } from '../routes/log-source.ts'
import { ReadTopic } from './topic.ts'

/** How many lines a reader is told at first, and after it had fallen behind. */
const keptLines = 150
/** Of very long lines fewer are kept, so that a reader that never reads costs little. */
const keptCharacters = 128 * 1024

/** The gateway's log: one watch for all who listen. A reader that falls behind loses lines, and begins anew with the last ones. */
export class LogTopic extends ReadTopic {
  readonly name = 'log' as const
  readonly #log: LogSource
  /** The last lines, as far as they are known. */
  #last: readonly string[] | null = null
  #stopWatch: (() => void) | undefined

  constructor(log: LogSource) {
    super()
    this.#log = log
  }

  protected override begin(): void {
    this.#last = null
    this.#stopWatch = this.#log.watch((lines, reset) => {
      this.#last = lastOf(reset ? lines : [...(this.#last ?? []), ...lines])
      this.tell(textOf({ lines: reset ? this.#last : lines, reset }))
    })
  }

  protected override rest(): void {
    this.#stopWatch?.()
  }

  protected override current(): readonly string[] {
    return this.#last === null ? [] : [textOf({ lines: this.#last, reset: true })]
  }
}

function textOf(data: EventData['log']): string {
  return JSON.stringify(data)
}

function lastOf(lines: readonly string[]): readonly string[] {
  const last = lines.slice(-keptLines)
  let characters = 0
  const tooMany = last.findLastIndex((line) => (characters += line.length) > keptCharacters)
  return last.slice(tooMany + 1)
}

import type { EventData } from '../../api/dashboard-event.ts'
import type { LogSource } from '../routes/dashboard-deps.ts'
import { Topic } from './topic.ts'

/** Lines that a reader gets at first, and after it fell behind. */
const maxLines = 150
/** Most characters of these lines together, so that a reader that never reads costs little memory. */
const maxCharacters = 128 * 1024

/**
 * The gateway's log, with one watch for all readers. A reader that falls behind loses lines, and then gets
 * the last lines again.
 */
export function logTopic(log: LogSource): Topic {
  return new Topic('log', (send) => {
    /** The last lines; null until the log has been read. */
    let last: readonly string[] | null = null
    const stop = log.watch((lines, reset) => {
      last = lastOf(reset ? lines : [...(last ?? []), ...lines])
      send(textOf({ lines: reset ? last : lines, reset }))
    })
    return { current: () => (last === null ? [] : [textOf({ lines: last, reset: true })]), stop }
  })
}

function textOf(data: EventData['log']): string {
  return JSON.stringify(data)
}

function lastOf(lines: readonly string[]): readonly string[] {
  const last = lines.slice(-maxLines)
  let characters = 0
  const tooMany = last.findLastIndex((line) => (characters += line.length) > maxCharacters)
  return last.slice(tooMany + 1)
}

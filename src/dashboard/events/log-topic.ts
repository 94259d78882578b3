import type { EventData } from '../../api/dashboard-event.ts'
import type { LogSource } from '../routes/dashboard-deps.ts'
import { Topic } from './topic.ts'

/** Lines that a reader gets at first, and after it fell behind. */
const maxLines = 150
/** Most characters of lines kept for a reader, so that one that never reads costs little. */
const maxCharacters = 128 * 1024

/** The gateway's log, with one watch for all readers. A reader that falls behind loses lines, and gets the last ones again. */
export function logTopic(log: LogSource): Topic {
  return new Topic('log', (send) => {
    /** The last lines, as far as they are known. */
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

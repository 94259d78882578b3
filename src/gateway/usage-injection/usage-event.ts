import { isObject } from '../../lib/message-shape.ts'

/** An event's data, where it is an object. All texts here are Latin-1: one character a byte. */
export type EventData = Readonly<Record<string, unknown>>

/** All that an event which was only sent because the gateway asked for it may hold; `timings` have to be put back. */
const usageKeys: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
  'obfuscation',
  'timings',
])
const someChoices = /"choices"\s*:\s*(?:\[\s*[^\s\]]|[^\s[])/
const unfinishedChoice = /"finish_reason"\s*:\s*null/
const timingsBegin = ',"timings":{'
const finishEnd = '}\n\n'

/** Says of an event, as far as it has come, that it holds a choice: it is not the one that was asked for. */
export function holdsChoice(text: string): boolean {
  return someChoices.test(text)
}

/** Says of an event, as far as it has come, that it is not the last of a choice either. */
export function goesOn(text: string): boolean {
  return unfinishedChoice.test(text)
}

/**
 * Reads the data of a whole event. `null` where it is no JSON object, or where the event has a field that no event
 * which was asked for has, be it a `retry` or an upstream's own invention.
 */
export function readEventData(text: string): EventData | null {
  const data: string[] = []
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [name = ''] = line.split(':', 1)
    if (name === 'data') data.push(line.slice(5))
    else if (name !== '' && name !== 'event' && name !== 'id') return null
  }
  try {
    const value: unknown = JSON.parse(data.join('\n'))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** `choices` empty, `usage` an object, and nothing that is not known to stand beside them. */
export function isUsageEvent(data: EventData): boolean {
  const { choices, usage } = data
  const isAsked = Array.isArray(choices) && choices.length === 0 && isObject(usage)
  return isAsked && Object.keys(data).every((key) => usageKeys.has(key))
}

/** The last event of a choice in llama.cpp's form, without the timings that a stream not asked for usage has there. */
export function lacksTimings(text: string, { choices, usage, timings }: EventData): boolean {
  const isLast = Array.isArray(choices) && choices.length > 0 && usage === undefined && timings === undefined
  return (
    isLast && text.startsWith('data: {') && text.indexOf('\n') === text.length - 2 && text.endsWith(finishEnd)
  )
}

/** A choice's last event with the timings of its usage event, byte for byte as if usage had not been asked for; or `null`. */
export function withTimings(finish: string, usageEvent: string): string | null {
  const begin = usageEvent.lastIndexOf(timingsBegin)
  if (begin < 0 || !usageEvent.endsWith(finishEnd)) return null
  const member = usageEvent.slice(begin, -finishEnd.length)
  // The timings must be the last member, whole: then the rest is an object without them.
  const rest = readEventData(usageEvent.slice(0, begin) + finishEnd)
  const moved = readEventData(`data: {${member.slice(1)}${finishEnd}`)
  if (rest === null || moved === null || Object.keys(moved).length !== 1) return null
  return finish.slice(0, -finishEnd.length) + member + finishEnd
}

import type { RawLogStatus } from '../../src/api/raw-log.ts'
import { bytes, longDuration } from '../format/figures.ts'

/** The times (s) for which payloads can be logged; null until logging is turned off. */
export const keepingTimes: readonly { readonly forS: number | null; readonly words: string }[] = [
  { forS: 600, words: '10 minutes' },
  { forS: 3600, words: '1 hour' },
  { forS: null, words: 'Until I turn it off' },
]

/** Returns the card's title and text. `untilWords` is the time when logging ends, by the reader's clock. */
export function loggingText(
  status: RawLogStatus,
  untilWords: string | null,
  nowMs: number,
): Readonly<Record<'title' | 'about', string>> {
  const { enabled, enabled_until: until, file_size_bytes: size } = status
  const earlier = size === 0 ? '' : ` The file still has ${bytes(size)}.`
  if (!enabled) {
    return {
      title: 'Payload capture is off',
      about: `Payloads are shown live and then discarded. Turn on capture to inspect them later in the panel of each call; API keys are redacted.${earlier}`,
    }
  }
  const note = until === null ? '' : ` (${leftWords(Date.parse(until) - nowMs)})`
  const sizeText = size === 0 ? 'nothing yet' : bytes(size)
  return {
    title: untilWords === null ? 'Payload capture is on' : `Payload capture is on until ${untilWords}${note}`,
    about: `${captureWords(status.capture)}, with API keys redacted. New payloads replace the oldest. In the file: ${sizeText}.`,
  }
}

function leftWords(ms: number): string {
  return ms < 60_000 ? 'less than a minute left' : `${longDuration(Math.floor(ms / 60_000) * 60)} left`
}

/** Returns the rules to choose from, with their texts. The current rule is always among them. */
export function captureRules(capture: string): readonly (readonly [rule: string, words: string])[] {
  const rules = new Set(['all', 'errors', 'sample:1/10', capture])
  return Array.from(rules, (rule) => [rule, ruleWords(rule)])
}

/** Returns a text on the calls whose payloads are logged. */
export function captureWords(capture: string): string {
  return `Payloads of ${ruleWords(capture)}`
}

/** Returns the calls that a rule chooses. */
function ruleWords(rule: string): string {
  if (rule === 'errors') return 'failed calls'
  const part = /^sample:(?:1\/)?(\d+)$/.exec(rule)?.[1]
  if (part !== undefined) return `one call in ${part}`
  return rule === 'all' ? 'all calls' : rule
}

/** Returns the consequences of clearing the file. */
export function clearPoints(status: RawLogStatus): readonly string[] {
  return [
    `${bytes(status.file_size_bytes)} of requests and responses will be deleted for good.`,
    'Recorded calls are kept, with their figures and times.',
    status.enabled ? 'Capture stays on.' : 'Capture stays off.',
  ]
}

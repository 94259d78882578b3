import type { ConfigOption, SettingValue } from '../../src/api/proxy-config.ts'
import { count, roundDuration } from '../format/figures.ts'
import { typedWhole } from '../format/typed-number.ts'

/** The headings of the options, in order. */
export const optionGroups = ['Limits', 'Network', 'Payloads', 'Storage', 'Other'] as const

export type OptionGroup = (typeof optionGroups)[number]

interface Words {
  readonly group: OptionGroup
  readonly title: string
}

/** The page's texts for known options, in order. Other options of the gateway come last. */
const optionWords: Readonly<Record<string, Words>> = {
  max_concurrent: { group: 'Limits', title: 'Maximum concurrent calls' },
  max_rpm: { group: 'Limits', title: 'Requests per minute' },
  max_tpm: { group: 'Limits', title: 'Tokens per minute' },
  pace: { group: 'Limits', title: 'Pacing' },
  slot_cooldown_ms: { group: 'Limits', title: 'Slot cooldown' },
  token_limit: { group: 'Limits', title: 'Tokens in 24 hours' },
  budget_action: { group: 'Limits', title: 'When the budget runs out' },
  retry_429_max: { group: 'Limits', title: 'Retries after 429' },
  queue_order: { group: 'Limits', title: 'Queue order' },
  queue_limit: { group: 'Limits', title: 'Queue length' },
  queue_timeout_ms: { group: 'Limits', title: 'Queue timeout' },
  share_lease_s: { group: 'Limits', title: 'Lease on shared slots' },
  share_lost: { group: 'Limits', title: 'Slots of a lost gateway' },
  max_body_mb: { group: 'Limits', title: 'Maximum request size' },
  upstream: { group: 'Network', title: 'Upstream' },
  upstream_file: { group: 'Network', title: 'Upstreams file' },
  host: { group: 'Network', title: 'Address' },
  port: { group: 'Network', title: 'Port' },
  connect_timeout_ms: { group: 'Network', title: 'Connect timeout' },
  connect_retry_ms: { group: 'Network', title: 'Connect retry window' },
  first_byte_timeout_ms: { group: 'Network', title: 'First byte timeout' },
  idle_timeout_ms: { group: 'Network', title: 'Idle timeout' },
  client_stall_timeout_ms: { group: 'Network', title: 'Client stall timeout' },
  drain_timeout_ms: { group: 'Network', title: 'Drain timeout' },
  usage_injection: { group: 'Network', title: 'Usage injection' },
  via: { group: 'Network', title: 'Via header' },
  allow_host: { group: 'Network', title: 'Allowed host names' },
  trust_loopback: { group: 'Network', title: 'Trust this machine' },
  session_header: { group: 'Network', title: 'Session headers' },
  metrics: { group: 'Network', title: 'Prometheus metrics' },
  otlp_endpoint: { group: 'Network', title: 'OTLP endpoint' },
  otlp_traces_endpoint: { group: 'Network', title: 'OTLP traces endpoint' },
  raw_log: { group: 'Payloads', title: 'Payload capture at start' },
  raw_log_capture: { group: 'Payloads', title: 'Calls to capture' },
  raw_log_max_body_kb: { group: 'Payloads', title: 'Maximum body size' },
  raw_log_max_mb: { group: 'Payloads', title: 'Maximum file size' },
  raw_log_file: { group: 'Payloads', title: 'Payload file' },
  db: { group: 'Storage', title: 'Database' },
  keep_days: { group: 'Storage', title: 'Keep individual calls' },
  keep_mb: { group: 'Storage', title: 'Maximum database size' },
  pid_file: { group: 'Storage', title: 'PID file' },
  share: { group: 'Storage', title: 'Shared database' },
  share_days: { group: 'Storage', title: 'First copy' },
}

const knownNames = Object.keys(optionWords)

/** Returns the title of an option, or its name if the page does not know it. */
export function optionTitle(name: string): string {
  return wordsOf(name)?.title ?? name
}

/** Groups options by heading, both in the page's order. Empty headings are left out. */
export function groupOptions(
  options: readonly ConfigOption[],
): readonly { readonly group: OptionGroup; readonly options: readonly ConfigOption[] }[] {
  const inOrder = options.toSorted((a, b) => placeOf(a.name) - placeOf(b.name))
  return optionGroups
    .map((group) => ({
      group,
      options: inOrder.filter(({ name }) => (wordsOf(name)?.group ?? 'Other') === group),
    }))
    .filter(({ options }) => options.length > 0)
}

/** Returns a value as readable text (default: the option's current value). */
export function shownValue(
  option: Pick<ConfigOption, 'name' | 'unit' | 'value'>,
  value = option.value,
): string {
  const { name, unit } = option
  const text = editable({ name, value })
  if (typeof value !== 'number') return text === '' ? 'none' : text
  // A long time in milliseconds is hard to read.
  if (unit === 'ms' && value >= 1000) return roundDuration(value)
  return `${text} ${unit ?? ''}`.trimEnd()
}

/** Returns the source of a value as a sentence; empty for a default. */
export function sourceWords({ source, fixed_by: fixedBy }: ConfigOption): string {
  if (fixedBy !== null) return `Locked: set by ${fixedBy}.`
  return source === 'saved' ? 'Saved here.' : ''
}

/** Returns a description as a sentence. */
export function sentence(description: string): string {
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}.`
}

/** True if two values are equal. */
export function isSame(a: SettingValue | readonly string[], b: SettingValue | readonly string[]): boolean {
  return typeof a === 'object' || typeof b === 'object' ? String(a) === String(b) : a === b
}

function wordsOf(name: string): Words | undefined {
  return Object.hasOwn(optionWords, name) ? optionWords[name] : undefined
}

function placeOf(name: string): number {
  const index = knownNames.indexOf(name)
  return index < 0 ? knownNames.length : index
}

/** Returns the words to choose from; null if the value is typed. */
export function choicesOf({
  kind,
  choices,
}: Pick<ConfigOption, 'kind' | 'choices'>): readonly string[] | null {
  return kind === 'switch' ? ['on', 'off'] : choices
}

/** Returns the allowed values as a sentence; empty for a choice from words. */
export function rangeWords(option: Pick<ConfigOption, 'kind' | 'choices' | 'min' | 'max' | 'range'>): string {
  const { min, max, range } = option
  if (min !== null && max !== null) return `${count(min)} to ${boundWords(max)}.`
  return choicesOf(option) === null ? `Must be ${range}.` : ''
}

/** Returns a value as the text of its field. */
export function editable({ name, value }: Pick<ConfigOption, 'name' | 'value'>): string {
  // A port is a name made of digits, so it has no separators.
  if (typeof value === 'number') return name === 'port' ? String(value) : count(value)
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return typeof value === 'object' ? value.join(', ') : value
}

/**
 * Returns the setting in a field's text, of the same type as `value`. Text that is no number stays text, so that
 * the dashboard reports the error.
 */
export function settingOf(text: string, value: ConfigOption['value']): SettingValue {
  const trimmed = text.trim()
  if (typeof value === 'boolean') return trimmed === 'on'
  return typeof value === 'number' ? (typedWhole(trimmed) ?? trimmed) : trimmed
}

/**
 * Returns the description of an option: effect, allowed values, when a change applies, and the source of its value.
 */
export function aboutWords(option: ConfigOption): string {
  const { name, description, changes, value, default: usual, fixed_by: fixedBy } = option
  const from = sourceWords(option)
  if (fixedBy !== null) return `${sentence(description)} ${from}`
  const effect =
    name === 'raw_log'
      ? 'The Live view shows whether it is on now.'
      : changes === 'live'
        ? 'Applies immediately.'
        : 'Requires a restart.'
  const byDefault = isSame(value, usual) ? '' : `Default: ${shownValue(option, usual)}.`
  return [sentence(description), rangeWords(option), effect, from, byDefault]
    .filter((part) => part !== '')
    .join(' ')
}

/** Returns the greatest allowed number as text. The greatest safe integer means `any number`. */
function boundWords(max: number): string {
  return max === Number.MAX_SAFE_INTEGER ? 'any number' : count(max)
}

import type { ConfigOption, SettingValue } from '../../src/api/proxy-config.ts'
import { count, roundDuration } from '../format/figures.ts'
import { typedWhole } from '../format/typed-number.ts'

/** The headings of the options with the titles of known options, in the page's order. */
const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Limits: {
    max_concurrent: 'Maximum concurrent calls',
    max_rpm: 'Requests per minute',
    max_tpm: 'Tokens per minute',
    pace: 'Pacing',
    slot_cooldown_ms: 'Slot cooldown',
    token_limit: 'Tokens in 24 hours',
    budget_action: 'When the budget runs out',
    retry_429_max: 'Retries after 429',
    queue_order: 'Queue order',
    queue_limit: 'Queue length',
    queue_timeout_ms: 'Queue timeout',
    share_lease_s: 'Lease on shared slots',
    share_lost: 'Slots of a lost gateway',
    max_body_mb: 'Maximum request size',
  },
  Network: {
    upstream: 'Upstream',
    upstream_file: 'Upstreams file',
    host: 'Address',
    port: 'Port',
    connect_timeout_ms: 'Connect timeout',
    connect_retry_ms: 'Connect retry window',
    first_byte_timeout_ms: 'First byte timeout',
    idle_timeout_ms: 'Idle timeout',
    client_stall_timeout_ms: 'Client stall timeout',
    drain_timeout_ms: 'Drain timeout',
    usage_injection: 'Usage injection',
    via: 'Via header',
    allow_host: 'Allowed host names',
    trust_loopback: 'Trust this machine',
    session_header: 'Session headers',
    metrics: 'Prometheus metrics',
    otlp_endpoint: 'OTLP endpoint',
    otlp_traces_endpoint: 'OTLP traces endpoint',
  },
  Payloads: {
    raw_log: 'Payload capture at start',
    raw_log_capture: 'Calls to capture',
    raw_log_max_body_kb: 'Maximum body size',
    raw_log_max_mb: 'Maximum file size',
    raw_log_file: 'Payload file',
  },
  Storage: {
    db: 'Database',
    keep_days: 'Keep individual calls',
    keep_mb: 'Maximum database size',
    pid_file: 'PID file',
    share: 'Shared database',
    share_days: 'First copy',
  },
}

const titles: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(groups).flatMap((ofGroup) => Object.entries(ofGroup)),
)

/** Returns the title of an option, or its name if the page does not know it. */
export function optionTitle(name: string): string {
  return (Object.hasOwn(titles, name) ? titles[name] : undefined) ?? name
}

/** Groups options by heading, both in the page's order. Unknown options come last; empty headings are left out. */
export function groupOptions(
  options: readonly ConfigOption[],
): readonly { readonly group: string; readonly options: readonly ConfigOption[] }[] {
  const known = Object.entries(groups).map(([group, ofGroup]) => ({
    group,
    options: Object.keys(ofGroup).flatMap((known) => options.filter(({ name }) => name === known)),
  }))
  const others = options.filter(({ name }) => !Object.hasOwn(titles, name))
  return [...known, { group: 'Other', options: others }].filter(({ options }) => options.length > 0)
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
  // The greatest safe integer stands for no upper limit.
  if (min !== null && max === Number.MAX_SAFE_INTEGER) return `At least ${count(min)}.`
  if (min !== null && max !== null) return `${count(min)} to ${count(max)}.`
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

import type { Question } from '../design/overlay/confirm.tsx'
import type { UpstreamHealth } from '../../src/api/health-report.ts'
import type { UpstreamRow } from '../../src/api/upstreams.ts'
import { count } from '../format/figures.ts'
import { typedLimit } from '../format/typed-number.ts'
import type { RowState } from './row-columns.tsx'

/** Returns a row with the upstream's latest report. */
export function withHealth(row: UpstreamRow, live: readonly UpstreamHealth[]): UpstreamRow {
  const now = live.find(({ name }) => name === row.name)
  return now === undefined ? row : { ...row, health: now }
}

/** Returns a text on the calls that go to an upstream. */
export function goesThere({ name, models }: UpstreamRow): string {
  if (name === 'default') return 'everything else (default)'
  const byPath = `paths under /${name}/`
  return models.length === 0 ? byPath : `${models.join(', ')}, and ${byPath}`
}

/** Returns the state of an upstream. `time` formats an instant (ms since the Unix epoch). */
export function stateOf({ health }: UpstreamRow, time: (ms: number) => string): RowState {
  if (health === null) return { shape: 'ring', tone: 'quiet', words: 'Unknown', details: [] }
  const failing = health.replicas.filter(({ state }) => state === 'failing')
  const details = failing.map(({ host, failing_since: since, problem }) => {
    const when = since === null ? '' : ` since ${time(Date.parse(since))}`
    return `${host} failing${when}: ${problem ?? 'unknown reason'}`
  })
  if (health.problem !== null) details.push(`It ${health.problem}`)
  if (health.state === 'failing') return { shape: 'triangle', tone: 'bad', words: 'Failing', details }
  if (failing.length > 0) {
    const words = `${failing.length} of ${health.replicas.length} failing`
    return { shape: 'triangle', tone: 'warn', words, details }
  }
  if (health.rate_limiter.total_admitted === 0) {
    return { shape: 'ring', tone: details.length > 0 ? 'warn' : 'quiet', words: 'Not called yet', details }
  }
  return { shape: 'disc', tone: details.length > 0 ? 'warn' : 'good', words: 'OK', details }
}

/** Returns a text on the credentials, fallback and token limit of an upstream. */
export function termsOf({ credentials, fallback, token_limit: limit, health }: UpstreamRow): string {
  const key =
    credentials === 'client'
      ? 'client’s credentials'
      : credentials === 'none'
        ? 'no credentials'
        : 'env' in credentials
          ? `key from ${credentials.env}`
          : `key from ${credentials.file}`
  const to = fallback === null ? null : typeof fallback === 'string' ? fallback : fallback.to
  const used = health?.used_tokens ?? null
  const tokens =
    limit === null ? null : `${used === null ? '' : `${count(used)} of `}${count(limit)} tokens in 24 hours`
  return [key, to === null ? null : `falls back to ${to}`, tokens].filter((part) => part !== null).join('; ')
}

/** Returns the question before an upstream is removed. */
export function removeQuestion({ name, models }: UpstreamRow): Question {
  return {
    title: `Remove upstream ${name}?`,
    yes: 'Remove',
    points: [
      models.length === 0
        ? `Calls under /${name}/ will get 404.`
        : `Calls for ${models.join(', ')} will go to the default upstream; calls under /${name}/ will get 404.`,
      'Its calls in progress will finish.',
    ],
  }
}

/** The texts of an upstream's form; empty for no value. */
export type UpstreamForm = Readonly<
  Record<'name' | 'urls' | 'models' | 'slots' | 'tokens' | 'credentials' | 'fallback', string>
>

/** Returns the form's texts for an upstream; `null` is a new one. `kept` means a key of the gateway. */
export function formOf(row: UpstreamRow | null): UpstreamForm {
  return {
    name: row?.name ?? '',
    urls: row?.urls.join(' ') ?? '',
    models: row?.models.join(', ') ?? '',
    slots: String(row?.max_concurrent ?? ''),
    tokens: String(row?.token_limit ?? ''),
    credentials: row === null ? 'none' : typeof row.credentials === 'string' ? row.credentials : 'kept',
    fallback: (typeof row?.fallback === 'object' ? row.fallback?.to : row?.fallback) ?? '',
  }
}

/** Returns the typed addresses, which are separated by spaces or commas. */
export function addressesOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((url) => url !== '')
}

/** Returns the changed values of a form, or its error. Unchanged values are left out. */
export function changeOf(
  valueOf: (name: keyof UpstreamForm) => string,
  row: UpstreamRow | null,
): object | string {
  const before = formOf(row)
  const isChanged = (name: keyof UpstreamForm): boolean => valueOf(name) !== before[name]
  if (row === null && valueOf('name').trim() === '') return 'Enter a name.'
  const urls = addressesOf(valueOf('urls'))
  if (urls.length === 0) return 'Enter a URL: http://…'
  const wrong = urls.find((url) => !/^https?:\/\/./i.test(url))
  if (wrong !== undefined) return `A URL must start with http:// or https://, unlike ${wrong}.`
  const models = valueOf('models')
    .split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '')
  const slots = typedLimit(valueOf('slots'))
  if (slots === 'wrong')
    return 'Enter a whole number of slots from 1, or leave empty for as many as the default upstream has.'
  const tokens = typedLimit(valueOf('tokens'))
  if (tokens === 'wrong') return 'Enter a whole number of tokens from 1, or leave empty for no limit.'
  return {
    ...(isChanged('urls') && { urls }),
    ...(isChanged('models') && { models: models.length === 0 ? null : models }),
    ...(isChanged('slots') && { max_concurrent: slots }),
    ...(isChanged('tokens') && { token_limit: tokens }),
    ...(isChanged('credentials') && { credentials: valueOf('credentials') }),
    ...(isChanged('fallback') && { fallback: valueOf('fallback') === '' ? null : valueOf('fallback') }),
  }
}

import type { Question } from '../design/confirm.tsx'
import type { UpstreamHealth } from '../../src/api/health-report.ts'
import type { UpstreamRow } from '../../src/api/upstreams.ts'
import type { StateShape, Tone } from '../data/gateway-now.ts'
import { count } from '../format/figures.ts'
import { limitOf } from './client-words.ts'

/** The upstream that the gateway's options name. */
export function isDefault({ name }: Pick<UpstreamRow, 'name'>): boolean {
  return name === 'default'
}

/** A row with what the gateway has said since. */
export function withHealth(row: UpstreamRow, live: readonly UpstreamHealth[]): UpstreamRow {
  const now = live.find(({ name }) => name === row.name)
  return now === undefined ? row : { ...row, health: now }
}

/** What goes there. */
export function goesThere({ name, models }: UpstreamRow): string {
  if (name === 'default') return 'all that goes nowhere else'
  const byPath = `all under /${name}/`
  return models.length === 0 ? byPath : `${models.join(', ')}, and ${byPath}`
}

/** The state of one. `time` writes an instant, in ms since the Unix epoch. */
export function stateOf(
  { health }: UpstreamRow,
  time: (ms: number) => string,
): {
  readonly shape: StateShape
  readonly tone: Tone
  readonly words: string
  readonly details: readonly string[]
} {
  if (health === null) return { shape: 'ring', tone: 'quiet', words: 'Not known', details: [] }
  const failing = health.replicas.filter(({ state }) => state === 'failing')
  const details = failing.map(({ host, failing_since: since, problem }) => {
    const when = since === null ? '' : ` since ${time(Date.parse(since))}`
    return `${host} fails${when}: ${problem ?? 'no reason was told'}`
  })
  if (health.problem !== null) details.push(`It ${health.problem}`)
  if (health.state === 'failing') return { shape: 'triangle', tone: 'bad', words: 'Failing', details }
  if (failing.length > 0) {
    const words = `${failing.length} of ${health.replicas.length} failing`
    return { shape: 'triangle', tone: 'warn', words, details }
  }
  return { shape: 'disc', tone: details.length > 0 ? 'warn' : 'good', words: 'OK', details }
}

/** Whose credentials it is sent, where its calls go on to, and how many tokens it may take. */
export function termsOf({ credentials, fallback, token_limit: limit, health }: UpstreamRow): string {
  const key =
    credentials === 'client'
      ? 'the client’s credentials'
      : credentials === 'none'
        ? 'no credentials'
        : 'env' in credentials
          ? `the key in ${credentials.env}`
          : `the key in ${credentials.file}`
  const to = fallback === null ? null : typeof fallback === 'string' ? fallback : fallback.to
  const used = health?.used_tokens ?? null
  const tokens =
    limit === null ? null : `${used === null ? '' : `${count(used)} of `}${count(limit)} tokens a day`
  return [key, to === null ? null : `falls back to ${to}`, tokens].filter((each) => each !== null).join('; ')
}

/** What is asked before an upstream is taken away. */
export function removeQuestion({ name, models }: UpstreamRow): Question {
  return {
    title: `Remove the upstream ${name}?`,
    yes: 'Remove',
    points: [
      models.length === 0
        ? `Calls under /${name}/ are answered 404 from then on.`
        : `Calls of ${models.join(', ')} go to the default upstream from then on, those under /${name}/ are answered 404.`,
      'Calls under way there end as they would.',
    ],
  }
}

/** A form, as it was filled in. */
export interface UpstreamForm {
  readonly name: string
  readonly urls: string
  readonly models: string
  readonly slots: string
  readonly tokens: string
  /** `kept` for a key of the gateway's own, which is not set here. */
  readonly credentials: 'client' | 'none' | 'kept'
  /** Empty for none. */
  readonly fallback: string
}

export function formOf(row: UpstreamRow | null): UpstreamForm {
  if (row === null)
    return { name: '', urls: '', models: '', slots: '', tokens: '', credentials: 'none', fallback: '' }
  const { name, urls, models, max_concurrent: slots, token_limit: tokens, credentials, fallback } = row
  return {
    name,
    urls: urls.join(' '),
    models: models.join(', '),
    slots: slots === null ? '' : String(slots),
    tokens: tokens === null ? '' : String(tokens),
    credentials: typeof credentials === 'string' ? credentials : 'kept',
    fallback: fallback === null ? '' : typeof fallback === 'string' ? fallback : fallback.to,
  }
}

/** The change that a form asks for; a text says what is wrong. What stands as it stood is left out. */
export function changeOf(form: UpstreamForm, row: UpstreamRow | null): object | string {
  const before = formOf(row)
  if (form.name.trim() === '') return 'An upstream needs a name.'
  const urls = form.urls.split(/[\s,]+/).filter((url) => url !== '')
  if (urls.length === 0) return 'An upstream needs an address: http://…'
  const models = form.models
    .split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '')
  const slots = limitOf(form.slots)
  if (slots === 'wrong') return 'Slots are a whole number from 1 on, or empty for as many as the default has.'
  const tokens = limitOf(form.tokens)
  if (tokens === 'wrong') return 'Tokens are a whole number from 1 on, or empty for no limit.'
  return {
    ...(form.urls !== before.urls && { urls }),
    ...(form.models !== before.models && { models: models.length === 0 ? null : models }),
    ...(form.slots !== before.slots && { max_concurrent: slots }),
    ...(form.tokens !== before.tokens && { token_limit: tokens }),
    ...(form.credentials !== before.credentials && { credentials: form.credentials }),
    ...(form.fallback !== before.fallback && { fallback: form.fallback === '' ? null : form.fallback }),
  }
}

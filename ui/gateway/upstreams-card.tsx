import { useLive } from '../data/live.ts'
import type { UpstreamHealth } from '../../src/api/health-report.ts'
import type { UpstreamRow, UpstreamsReport, UpstreamTest } from '../../src/api/upstreams.ts'
import { act } from '../data/dashboard-api.ts'
import { timeQuery } from '../data/page-range.ts'
import { useTimes } from '../data/navigation.tsx'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { Card } from '../design/card.tsx'
import { EditableTable } from '../design/table/editable-table.tsx'
import type { RowForm } from '../design/table/editor.tsx'
import { Banner } from '../design/banner.tsx'
import { count, duration, orDash } from '../format/figures.ts'
import { inFlight, state, waiting } from './row-columns.tsx'
import {
  type UpstreamForm,
  addressesOf,
  changeOf,
  formOf,
  goesThere,
  removeQuestion,
  stateOf,
  termsOf,
  withHealth,
} from './upstream-text.ts'

const everyMs = 30_000
const hourMs = 3_600_000

interface FirstTokens {
  readonly groups?: readonly {
    readonly key: string | null
    readonly ttft_ms: { readonly p50: number | null }
  }[]
}

/** The upstreams, their state, and forms to change them. */
export function UpstreamsCard() {
  const health = useLive(({ status }) => status?.health ?? null)
  const live: readonly UpstreamHealth[] = health?.upstreams ?? []
  const names = live.map(({ name }) => name).join(' ')
  const query = useQuery<UpstreamsReport>('/api/upstreams', { everyMs, version: names })
  const { answer: report, put } = query
  const firstTokens = useFirstTokens(report !== null && report.upstreams.length > 1)
  const times = useTimes()
  if (report === null) return <Awaited what="the upstreams" {...query} />
  const rows = report.upstreams.map((row) => withHealth(row, live))
  const isAlone = rows.length === 1
  return (
    <Card title="Upstreams" class="upstreams-card stacked">
      {report.problem !== null && (
        <Banner tone="warn">{report.problem} The last valid upstreams stay in force.</Banner>
      )}
      <EditableTable
        caption="Upstreams, their state and their calls"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { head: 'Upstream', cell: Name },
          state<UpstreamRow>((row) => stateOf(row, (ms) => times.short(ms))),
          inFlight<UpstreamRow>(({ health }) => [
            health?.rate_limiter.active,
            health === null ? null : count(health.rate_limiter.max_concurrent),
          ]),
          waiting<UpstreamRow>(({ health }) => health?.rate_limiter.queued),
          {
            head: 'First token',
            title: 'Median of the last hour.',
            cell: ({ name }) => orDash(firstTokens.get(name), duration),
          },
        ]}
        formOf={(row) => (row.name === 'default' ? null : upstreamForm(row, rows))}
        add={{ words: 'Add upstream', form: upstreamForm(null, rows) }}
        onSaved={put}
        isLocked={report.problem !== null}
        empty={isAlone ? <p class="quiet">All calls go to {rows[0]?.urls[0]}.</p> : null}
      />
      {!isAlone && (
        <p class="quiet fine">
          Saved in <code>{report.file}</code>
        </p>
      )}
    </Card>
  )
}

/** Returns the median time to first token (ms) of the last hour by upstream. */
function useFirstTokens(isAsked: boolean): ReadonlyMap<string, number | null> {
  const path = (nowMs: number): string =>
    `/api/query?group_by=upstream_name&${timeQuery({ fromMs: nowMs - hourMs, toMs: null })}`
  const { answer } = useQuery<FirstTokens>(isAsked ? path : null, { everyMs })
  return new Map((answer?.groups ?? []).map(({ key, ttft_ms: { p50 } }) => [key ?? 'default', p50] as const))
}

function Name(row: UpstreamRow) {
  return (
    <>
      {row.name}
      <small>{goesThere(row)}</small>
      <small class="quiet">
        {row.urls.join(', ')}; {termsOf(row)}
      </small>
    </>
  )
}

/** Returns the form of an upstream; null is a new one. */
function upstreamForm(row: UpstreamRow | null, rows: readonly UpstreamRow[]): RowForm<keyof UpstreamForm> {
  const form = formOf(row)
  const text = (name: keyof UpstreamForm, label: string, hint: string, isNumber = false) => ({
    name,
    label,
    hint,
    isNumber,
    value: form[name],
  })
  const others = rows.filter(({ name }) => name !== row?.name).map(({ name }) => [name, name] as const)
  const path = (name: string): string => `/api/upstreams/${encodeURIComponent(name)}`
  return {
    label: row === null ? 'New upstream' : `Upstream ${row.name}`,
    fields: [
      ...(row === null ? [text('name', 'Name', 'claude')] : []),
      text('urls', 'URLs', 'one per server, comma-separated'),
      text('models', 'Models', 'llama*, qwen*'),
      text('slots', 'Maximum concurrent calls', 'same as default', true),
      text('tokens', 'Tokens in 24 hours', 'no limit', true),
      {
        name: 'credentials',
        label: 'Credentials',
        value: form.credentials,
        choices: [
          ['none', 'send none'],
          ['client', 'pass on the client’s'],
          // Only the command can set a key of the gateway.
          ...(form.credentials === 'kept' ? [['kept', 'keep its current key'] as const] : []),
        ],
      },
      {
        name: 'fallback',
        label: 'Falls back to',
        value: form.fallback,
        choices: [['', 'none'], ...others],
      },
    ],
    test: async (valueOf) => {
      const { tests } = await act<UpstreamTest>('POST', '/api/upstreams/test', {
        urls: addressesOf(valueOf('urls')),
      })
      return tests.map(({ ok, detail }) => (ok ? detail : `Failed: ${detail}`)).join(' · ')
    },
    save: (valueOf) => {
      const name = valueOf('name').trim()
      if (row === null && rows.some((candidate) => candidate.name === name))
        return 'An upstream with this name exists: edit it in the list.'
      const change = changeOf(valueOf, row)
      return typeof change === 'string' ? change : { path: path(row?.name ?? name), body: change }
    },
    ...(row !== null && { remove: { path: path(row.name), question: removeQuestion(row) } }),
  }
}

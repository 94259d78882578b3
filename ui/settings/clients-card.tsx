import { useRef } from 'preact/hooks'
import type { ClientRow, ClientsReport, ClientUse } from '../../src/api/clients.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { useQuery } from '../data/use-query.ts'
import { Awaited } from '../design/awaited.tsx'
import { Card } from '../design/card.tsx'
import { EditableTable } from '../design/table/editable-table.tsx'
import { Meter } from '../design/meter.tsx'
import type { RowForm } from '../design/table/editor.tsx'
import { Banner } from '../design/banner.tsx'
import { count, counted } from '../format/figures.ts'
import type { Times } from '../format/times.ts'
import { typedLimit } from '../format/typed-number.ts'
import { nameOf, orderWords, withUse } from './client-text.ts'
import { inFlight, waiting } from '../gateway/row-columns.tsx'

/** The clients, their use and limits, and forms to change the limits. */
export function ClientsCard() {
  const health = useLive(({ status }) => status?.health ?? null)
  const uses: readonly ClientUse[] = health?.clients ?? []
  // The list is loaded again only for new clients, because known ones come and go all the time.
  const names = useRef(new Set<string>())
  for (const { client } of uses) names.current.add(client)
  const query = useQuery<ClientsReport>('/api/clients', { everyMs: 30_000, version: names.current.size })
  const { answer: report, put } = query
  const times = useTimes()
  if (report === null) return <Awaited what="the clients" {...query} height="9rem" />
  const rows = withUse(report.clients, health === null ? null : uses)
  const isOnlyReported = report.budget_action === 'report' && rows.some((row) => row.token_limit !== null)
  return (
    <Card
      title="Clients"
      class="clients-card stacked"
      about={orderWords(health?.rate_limiter.queue_order ?? report.queue_order)}
    >
      {report.problem !== null && (
        <Banner tone="warn" id="client-problem">
          {report.problem} The last valid names and limits stay in force.
        </Banner>
      )}
      {isOnlyReported && (
        <Banner>
          Token limits refuse no calls. To refuse calls over a limit, set <code>budget_action</code> to
          reject.
        </Banner>
      )}
      <EditableTable
        caption="Clients, their use and their limits"
        rows={rows}
        keyOf={nameOf}
        columns={[
          { head: 'Client', cell: (row) => <Name row={row} times={times} /> },
          inFlight<ClientRow>(({ active, max_concurrent: slots }) => [
            active,
            slots === null ? null : count(slots),
          ]),
          waiting<ClientRow>((row) => row.waiting),
          { head: 'Tokens in 24 hours', cell: Tokens },
        ]}
        // Calls without name and key have no limits.
        formOf={(row) => (row.client === '' ? null : formOf(row))}
        add={{ words: 'Limit another client', form: formOf(null) }}
        onSaved={put}
        isLocked={report.problem !== null}
        empty={rows.length === 0 ? <p class="quiet">No calls in the last seven days.</p> : null}
        most={8}
        isUrgent={(row) => (row.waiting ?? 0) > 0}
      />
      <p class="quiet fine">
        Calls since {times.short(Date.parse(report.counted_from))}. Names and limits are saved in{' '}
        <code>{report.file}</code>
      </p>
    </Card>
  )
}

function Name({ row, times }: { readonly row: ClientRow; readonly times: Times }) {
  const { is_key: isKey, name, keys, calls, last_at: last } = row
  const callsText =
    last === null ? 'no calls yet' : `${counted(calls, 'call')}, last ${times.short(Date.parse(last))}`
  return (
    <>
      {nameOf(row)}
      <small>
        {isKey && name !== null ? `counts as ${name}` : callsText}
        {!isKey && keys.length > 0 && (
          <>, {keys.length === 1 ? `key ${keys[0]}` : counted(keys.length, 'key')}</>
        )}
      </small>
    </>
  )
}

function Tokens({ token_limit: limit, used_tokens: used, remaining_tokens: remaining }: ClientRow) {
  if (limit === null) return <span class="quiet">no limit</span>
  const isUsedUp = remaining !== null && remaining <= 0
  return (
    <div class={isUsedUp ? 'is-used-up' : ''}>
      <span title={`${used === null ? 'unknown' : count(used)} of ${count(limit)}`}>
        {used === null ? '–' : count(used)} <span class="quiet">of {count(limit)}</span>
      </span>
      <Meter share={used === null ? 0 : Math.min(1, used / limit)} />
      <small>{remaining === null ? 'unknown' : isUsedUp ? 'used up' : `${count(remaining)} left`}</small>
    </div>
  )
}

/** Returns the form of a client's limits. Without a row, the form limits a client before its first call. */
function formOf(row: ClientRow | null): RowForm<'name' | 'slots' | 'tokens'> {
  const isKey = row?.is_key === true
  const own = { label: 'Client name', value: row?.name ?? '', hint: 'for calls without a name' }
  const another = { label: 'Client', value: '', hint: 'name in its calls' }
  const limit = (number: number | null = null) => ({
    value: number === null ? '' : count(number),
    isNumber: true,
    hint: 'no limit',
  })
  return {
    label: row === null ? 'Limits for another client' : `Limits for ${nameOf(row)}`,
    fields: [
      ...(row === null || isKey ? [{ name: 'name' as const, ...(isKey ? own : another) }] : []),
      { name: 'slots', label: 'Maximum concurrent calls', ...limit(row?.max_concurrent) },
      { name: 'tokens', label: 'Tokens in 24 hours', ...limit(row?.token_limit) },
    ],
    save: (valueOf) => {
      const name = valueOf('name').trim()
      if (row === null && name === '') return { errors: { name: 'Enter a client name.' } }
      const [max_concurrent, token_limit] = [typedLimit(valueOf('slots')), typedLimit(valueOf('tokens'))]
      if (max_concurrent === 'wrong' || token_limit === 'wrong')
        return 'Enter a whole number from 1, or leave empty for no limit.'
      return {
        path: `/api/clients/${encodeURIComponent(row?.client ?? name)}`,
        body: { max_concurrent, token_limit, ...(isKey && { name: name === '' ? null : name }) },
      }
    },
  }
}

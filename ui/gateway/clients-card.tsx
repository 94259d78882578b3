import { Fragment } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { ClientRow, ClientsReport, ClientUse } from '../../src/api/clients.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { useAnswer } from '../data/use-answer.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { Meter } from '../design/meter.tsx'
import { Note } from '../design/note.tsx'
import { Table } from '../design/table.tsx'
import { count, counted, shortCount } from '../format/figures.ts'
import { limitOf, nameOf, orderWords, withUse } from './client-words.ts'
import { EditForm, Field } from './edit-form.tsx'

const everyMs = 30_000
/** More are shown when they are asked for. */
const shownAtFirst = 8

/** Who calls, what each may use and has in use, and forms to change that. */
export function ClientsCard() {
  const health = useLive(({ status }) => status?.health ?? null)
  const uses: readonly ClientUse[] = health?.clients ?? []
  // Asked anew only for who has never been seen here: clients come and go all the time.
  const seen = useRef(new Set<string>())
  for (const { client } of uses) seen.current.add(client)
  const key = String(seen.current.size)
  const path = (): string => '/api/clients'
  const { answer: report, trouble, again, put } = useAnswer<ClientsReport>(key, path, { everyMs })
  const [isAll, setAll] = useState(false)
  const times = useTimes()
  const [edited, setEdited] = useState<string | null>(null)
  if (report === null) {
    if (trouble === null) return <div class="skeleton" style={{ height: '9rem' }} />
    return (
      <Note tone="bad" onRetry={again}>
        The clients cannot be read: {trouble}
      </Note>
    )
  }
  const rows = withUse(report.clients, health === null ? null : uses)
  // Who waits is always there; the order stays, so that nothing moves under the pointer.
  const shown = isAll
    ? rows
    : rows.filter(({ client, waiting }, at) => at < shownAtFirst || client === edited || (waiting ?? 0) > 0)
  const isOnlyReported = report.budget_action === 'report' && rows.some((row) => row.token_limit !== null)
  return (
    <Card
      title="Clients"
      class="clients-card"
      about={orderWords(health?.rate_limiter.queue_order ?? report.queue_order)}
    >
      {report.problem !== null && (
        <Note tone="warn" id="client-problem">
          {report.problem} The last good names and limits hold.
        </Note>
      )}
      {isOnlyReported && (
        <Note>
          Tokens are only counted: with <code>budget_action</code> set to reject, calls over a limit are
          refused.
        </Note>
      )}
      {rows.length === 0 ? (
        <p class="quiet">Nobody has called in the last seven days.</p>
      ) : (
        <Table
          caption="Clients, what they use and what they may"
          columns={[
            'Client',
            'In flight',
            'Waiting',
            'Tokens in 24 hours',
            { words: <span class="aside">Change</span> },
          ]}
        >
          <tbody id="clients">
            {shown.map((row) => (
              <Fragment key={row.client}>
                <ClientLine
                  row={row}
                  isEdited={edited === row.client}
                  isFixed={report.problem !== null}
                  onEdit={() => setEdited(edited === row.client ? null : row.client)}
                />
                {edited === row.client && (
                  <tr class="client-form">
                    <td colSpan={5}>
                      <ClientForm
                        row={row}
                        onSaved={(next) => {
                          put(next)
                          setEdited(null)
                        }}
                        onLeave={() => setEdited(null)}
                      />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </Table>
      )}
      {shown.length < rows.length && (
        <Button kind="bare" small onClick={() => setAll(true)}>
          Show all {count(rows.length)}
        </Button>
      )}
      <p class="quiet fine">
        Calls since {times.short(Date.parse(report.counted_from), nowMs())}. Names and limits are kept in{' '}
        <code>{report.file}</code>
      </p>
    </Card>
  )
}

interface ClientLineProps {
  readonly row: ClientRow
  readonly isEdited: boolean
  /** The file has to be mended before anything can be kept in it. */
  readonly isFixed: boolean
  readonly onEdit: () => void
}

function ClientLine({ row, isEdited, isFixed, onEdit }: ClientLineProps) {
  const times = useTimes()
  const { client, is_key: isKey, name, calls, last_at: last, max_concurrent: slots, token_limit: limit } = row
  const { active, waiting, used_tokens: used, remaining_tokens: left } = row
  const seen =
    last === null
      ? 'no calls yet'
      : `${counted(calls, 'call')}, last ${times.short(Date.parse(last), nowMs())}`
  const isUsedUp = left !== null && left <= 0
  return (
    <tr class="stacked">
      <th scope="row">
        {nameOf(row)}
        <small>
          {isKey && name !== null ? `counts as ${name}` : seen}
          {!isKey && row.keys.length > 0 && (
            <>, {row.keys.length === 1 ? `key ${row.keys[0]}` : counted(row.keys.length, 'key')}</>
          )}
        </small>
      </th>
      <td data-label="In flight">
        {active === null ? '–' : count(active)}
        {slots !== null && <span class="quiet"> of {count(slots)}</span>}
      </td>
      <td data-label="Waiting" class={(waiting ?? 0) > 0 ? 'is-queue' : ''}>
        {waiting === null ? '–' : count(waiting)}
      </td>
      <td data-label="Tokens in 24 hours" class={isUsedUp ? 'is-used-up' : ''}>
        {limit === null ? (
          <span class="quiet">no limit</span>
        ) : (
          <>
            <span title={`${used === null ? 'not known yet' : count(used)} of ${count(limit)}`}>
              {used === null ? '–' : shortCount(used)} <span class="quiet">of {shortCount(limit)}</span>
            </span>
            <Meter share={used === null ? 0 : Math.min(1, used / limit)} />
            <small class={isUsedUp ? 'bad' : undefined}>
              {left === null ? 'not known yet' : isUsedUp ? 'used up' : `${shortCount(left)} left`}
            </small>
          </>
        )}
      </td>
      <td>
        {client !== '' && (
          <Button
            kind="bare"
            small
            aria-expanded={isEdited}
            isOff={isFixed}
            aria-label={`Change ${nameOf(row)}`}
            onClick={onEdit}
          >
            Change
          </Button>
        )}
      </td>
    </tr>
  )
}

interface ClientFormProps {
  readonly row: ClientRow
  readonly onSaved: (report: ClientsReport) => void
  readonly onLeave: () => void
}

function ClientForm({ row, onSaved, onLeave }: ClientFormProps) {
  const { client, is_key: isKey } = row
  const [slots, setSlots] = useState(row.max_concurrent === null ? '' : count(row.max_concurrent))
  const [tokens, setTokens] = useState(row.token_limit === null ? '' : count(row.token_limit))
  const [name, setName] = useState(row.name ?? '')
  const { run, trouble, isBusy } = useAction()
  const [typed, setTyped] = useState('')
  const save = (): void => {
    const [maxConcurrent, tokenLimit] = [limitOf(slots), limitOf(tokens)]
    if (maxConcurrent === 'wrong' || tokenLimit === 'wrong') {
      setTyped('A limit is a whole number from 1 on, or empty for none.')
      return
    }
    setTyped('')
    const change = {
      max_concurrent: maxConcurrent,
      token_limit: tokenLimit,
      ...(isKey && { name: name.trim() === '' ? null : name.trim() }),
    }
    void run(async () => onSaved(await act('PUT', `/api/clients/${encodeURIComponent(client)}`, change)))
  }
  return (
    <EditForm
      label={`Limits of ${nameOf(row)}`}
      isBusy={isBusy}
      wrong={typed === '' ? trouble?.message : typed}
      onSave={save}
      onLeave={onLeave}
    >
      {isKey && <Field label="Name of its calls" value={name} onInput={setName} hint="if they name none" />}
      <Field
        label="Calls in flight at once"
        value={slots}
        onInput={setSlots}
        isNumber
        hint="empty for no limit"
      />
      <Field
        label="Tokens in 24 hours"
        value={tokens}
        onInput={setTokens}
        isNumber
        hint="empty for no limit"
      />
    </EditForm>
  )
}

import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { UpstreamHealth } from '../../src/api/health-report.ts'
import type { UpstreamRow, UpstreamsReport } from '../../src/api/upstreams.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useLive } from '../data/live.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { useAnswer } from '../data/use-answer.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { ConfirmButton } from '../design/confirm.tsx'
import { StateMark } from '../design/icon.tsx'
import { Note } from '../design/note.tsx'
import { Table } from '../design/table.tsx'
import { count, duration } from '../format/figures.ts'
import { EditForm, Field } from './edit-form.tsx'
import {
  type UpstreamForm,
  changeOf,
  formOf,
  goesThere,
  isDefault,
  removeQuestion,
  stateOf,
  termsOf,
  withHealth,
} from './upstream-words.ts'

const everyMs = 30_000
const hourMs = 3_600_000
/** What is edited when a further one is made; no name is empty. */
const added = ''

interface FirstTokens {
  readonly groups?: readonly {
    readonly key: string | null
    readonly ttft_ms: { readonly p50: number | null }
  }[]
}

/** Where calls go: each upstream as it is set and found, and forms to change that. */
export function UpstreamsCard() {
  const health = useLive(({ status }) => status?.health ?? null)
  const live: readonly UpstreamHealth[] = health?.upstreams ?? []
  const asked = useAnswer<UpstreamsReport>(live.map(({ name }) => name).join(' '), () => '/api/upstreams', {
    everyMs,
  })
  const { answer: report, trouble, again, put } = asked
  const [edited, setEdited] = useState<string | null>(null)
  const firstTokens = useFirstTokens(report !== null && report.upstreams.length > 1)
  if (report === null) {
    if (trouble === null) return null
    return (
      <Note tone="bad" onRetry={again}>
        The upstreams cannot be read: {trouble}
      </Note>
    )
  }
  const { upstreams, file, problem } = report
  const rows = upstreams.map((row) => withHealth(row, live))
  const onSaved = (next: UpstreamsReport): void => {
    put(next)
    setEdited(null)
  }
  const form = (row: UpstreamRow | null) => (
    <UpstreamForm row={row} rows={rows} onSaved={onSaved} onLeave={() => setEdited(null)} />
  )
  return (
    <Card title="Upstreams" class="rows-card upstreams-card">
      {problem !== null && <Note tone="warn">{problem} The last good upstreams hold.</Note>}
      {rows.length === 1 ? (
        <p class="quiet">All calls go to {rows[0]?.urls[0]}.</p>
      ) : (
        <Table
          caption="Upstreams, how they are and what goes there"
          columns={[
            'Upstream',
            { words: 'State', class: 'is-words' },
            'In flight',
            'Waiting',
            { words: <span title="Median of the last hour">First token</span> },
            { words: <span class="aside">Change</span> },
          ]}
        >
          <tbody>
            {rows.map((row) => (
              <Fragment key={row.name}>
                <UpstreamLine
                  row={row}
                  firstTokenMs={firstTokens.get(row.name) ?? null}
                  isEdited={edited === row.name}
                  isFixed={problem !== null}
                  onEdit={() => setEdited(edited === row.name ? null : row.name)}
                />
                {edited === row.name && (
                  <tr class="client-form">
                    <td colSpan={6}>{form(row)}</td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </Table>
      )}
      {edited === added ? (
        form(null)
      ) : (
        <Button kind="bare" small isOff={problem !== null} onClick={() => setEdited(added)}>
          Add an upstream
        </Button>
      )}
      {rows.length > 1 && (
        <p class="quiet fine">
          Kept in <code>{file}</code>
        </p>
      )}
    </Card>
  )
}

/** Medians of the last hour by upstream. */
function useFirstTokens(isAsked: boolean): ReadonlyMap<string, number | null> {
  const path = (): string => {
    const from = new Date(nowMs() - hourMs).toISOString()
    return `/api/query?group_by=upstream_name&from=${from}`
  }
  const { answer } = useAnswer<FirstTokens>(isAsked ? 'first' : null, path, { everyMs })
  return new Map((answer?.groups ?? []).map(({ key, ttft_ms: { p50 } }) => [key ?? 'default', p50] as const))
}

interface UpstreamLineProps {
  readonly row: UpstreamRow
  readonly firstTokenMs: number | null
  readonly isEdited: boolean
  /** The file has to be mended before anything can be kept in it. */
  readonly isFixed: boolean
  readonly onEdit: () => void
}

function UpstreamLine({ row, firstTokenMs, isEdited, isFixed, onEdit }: UpstreamLineProps) {
  const times = useTimes()
  const { name, urls, health } = row
  const { shape, tone, words, details } = stateOf(row, (ms) => times.short(ms, nowMs()))
  const { active, max_concurrent: limit, queued } = health?.rate_limiter ?? {}
  return (
    <tr class="stacked">
      <th scope="row">
        {name}
        <small>{goesThere(row)}</small>
        <small class="quiet">
          {urls.join(', ')}; {termsOf(row)}
        </small>
      </th>
      <td class="is-words">
        <span class={`is-${tone}`}>
          <StateMark shape={shape} /> {words}
        </span>
        {details.map((detail) => (
          <small key={detail}>{detail}</small>
        ))}
      </td>
      <td data-label="In flight">
        {active === undefined ? '–' : count(active)}
        {limit !== undefined && <span class="quiet"> of {count(limit)}</span>}
      </td>
      <td data-label="Waiting" class={(queued ?? 0) > 0 ? 'is-queue' : ''}>
        {queued === undefined ? '–' : count(queued)}
      </td>
      <td data-label="First token">{firstTokenMs === null ? '–' : duration(firstTokenMs)}</td>
      <td>
        {!isDefault(row) && (
          <Button
            kind="bare"
            small
            aria-expanded={isEdited}
            isOff={isFixed}
            aria-label={`Change ${name}`}
            onClick={onEdit}
          >
            Change
          </Button>
        )}
      </td>
    </tr>
  )
}

interface UpstreamFormProps {
  /** Null for a further one. */
  readonly row: UpstreamRow | null
  readonly rows: readonly UpstreamRow[]
  readonly onSaved: (report: UpstreamsReport) => void
  readonly onLeave: () => void
}

function UpstreamForm({ row, rows, onSaved, onLeave }: UpstreamFormProps) {
  const [form, setForm] = useState<UpstreamForm>(formOf(row))
  const { run, trouble, isBusy } = useAction()
  const [wrong, setWrong] = useState('')
  const set = (change: Partial<UpstreamForm>): void => setForm({ ...form, ...change })
  const path = `/api/upstreams/${encodeURIComponent(form.name.trim())}`
  const save = (): void => {
    const isTaken = row === null && rows.some(({ name }) => name === form.name.trim())
    const change = isTaken ? 'There is an upstream of that name: change it in the list.' : changeOf(form, row)
    setWrong(typeof change === 'string' ? change : '')
    if (typeof change === 'object') void run(async () => onSaved(await act('PUT', path, change)))
  }
  return (
    <EditForm
      label={row === null ? 'A further upstream' : `The upstream ${row.name}`}
      isBusy={isBusy}
      wrong={wrong === '' ? trouble?.message : wrong}
      onSave={save}
      onLeave={onLeave}
      more={
        row !== null && (
          <ConfirmButton
            small
            isOff={isBusy}
            question={removeQuestion(row)}
            onYes={() => void run(async () => onSaved(await act('DELETE', path)))}
          >
            Remove
          </ConfirmButton>
        )
      }
    >
      {row === null && (
        <Field label="Name" value={form.name} onInput={(name) => set({ name })} hint="claude" />
      )}
      <Field
        label="Addresses"
        value={form.urls}
        onInput={(urls) => set({ urls })}
        hint="a URL for each server, with commas between"
      />
      <Field
        label="Models"
        value={form.models}
        onInput={(models) => set({ models })}
        hint="llama*, qwen*; empty for none"
      />
      <Field
        label="Calls in flight at once"
        value={form.slots}
        onInput={(slots) => set({ slots })}
        isNumber
        hint="as many as the default"
      />
      <Field
        label="Tokens in 24 hours"
        value={form.tokens}
        onInput={(tokens) => set({ tokens })}
        isNumber
        hint="no limit"
      />
      <Choice
        label="Credentials"
        value={form.credentials}
        onChoose={(credentials) => set({ credentials: credentials as UpstreamForm['credentials'] })}
        choices={[
          ['none', 'none are sent'],
          ['client', 'the client’s are passed on'],
          // A key is lent by the command alone.
          ...(formOf(row).credentials === 'kept' ? [['kept', 'the key that it has']] : []),
        ]}
      />
      <Choice
        label="Falls back to"
        value={form.fallback}
        onChoose={(fallback) => set({ fallback })}
        choices={[
          ['', 'no other'],
          ...rows.filter(({ name }) => name !== row?.name).map(({ name }) => [name, name]),
        ]}
      />
    </EditForm>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  /** Value and words of each. */
  readonly choices: readonly (readonly string[])[]
  readonly onChoose: (value: string) => void
}

function Choice({ label, value, choices, onChoose }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      <select class="field" value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {choices.map(([choice = '', words]) => (
          <option key={choice} value={choice} selected={choice === value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

import { useState } from 'preact/hooks'
import type { GatewayRow, GatewaysReport } from '../../src/api/gateways.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { useAnswer } from '../data/use-answer.ts'
import { Card } from '../design/card.tsx'
import { ConfirmButton } from '../design/confirm.tsx'
import { StateMark } from '../design/icon.tsx'
import { Meter } from '../design/meter.tsx'
import { Note } from '../design/note.tsx'
import { Table } from '../design/table.tsx'
import { count, counted } from '../format/figures.ts'
import { allWords, copyWords, isWorthShowing, releaseQuestion, stateOf } from './gateways-words.ts'

const everyMs = 3000
/** While there is nothing to show. */
const rarelyMs = 30_000

/** All gateways that share a limit, if there are several; how a first copy of their calls goes. */
export function GatewaysCard() {
  const [isShown, setShown] = useState(false)
  const { answer: report, put } = useAnswer<GatewaysReport>('gateways', () => '/api/gateways', {
    everyMs: isShown ? everyMs : rarelyMs,
  })
  const { run, isBusy, trouble } = useAction()
  const isWorth = report !== null && isWorthShowing(report)
  if (isWorth !== isShown) setShown(isWorth)
  if (!isWorth) return null
  const { gateways, copy, problem, as_of: asOf } = report
  const release = async ({ instance }: GatewayRow): Promise<void> =>
    put(await act('POST', `/api/gateways/${encodeURIComponent(instance)}/release`))
  return (
    <Card title="All gateways" about={allWords(report)} class="rows-card gateways-card">
      {problem !== null && <GatewaysProblem problem={problem} asOfMs={Date.parse(asOf)} />}
      {copy !== null && (
        <div class="copy" role="status">
          {copyWords(copy)}
          <Meter share={copy.pulled / copy.last} />
        </div>
      )}
      {gateways.length > 0 && (
        <Table
          caption="Gateways that share a limit"
          columns={[
            'Gateway',
            { words: 'State', class: 'is-words' },
            'In flight',
            'Waiting',
            'Rows behind',
            { words: <span class="aside">Release</span> },
          ]}
        >
          <tbody>
            {gateways.map((row) => (
              <GatewayLine
                key={row.instance}
                row={row}
                isOff={isBusy}
                onRelease={() => void run(() => release(row))}
              />
            ))}
          </tbody>
        </Table>
      )}
      <p class="bad" role="alert">
        {trouble?.message}
      </p>
    </Card>
  )
}

function GatewaysProblem({ problem, asOfMs }: { readonly problem: string; readonly asOfMs: number }) {
  const times = useTimes()
  return (
    <Note tone="warn">
      The database that they share does not answer: {problem}. Gateways are shown as at{' '}
      {times.short(asOfMs, nowMs())}.
    </Note>
  )
}

interface GatewayLineProps {
  readonly row: GatewayRow
  readonly isOff: boolean
  readonly onRelease: () => void
}

function GatewayLine({ row, isOff, onRelease }: GatewayLineProps) {
  const times = useTimes()
  const { instance, host, version, active, held, waiting, rows_behind: behind, is_own: isOwn } = row
  const { shape, tone, words, detail } = stateOf(row, (ms) => times.short(ms, nowMs()))
  return (
    <tr class="stacked">
      <th scope="row">
        {host}
        <small>
          {isOwn && 'this one, '}
          {instance}, version {version}
        </small>
      </th>
      <td class="is-words">
        <span class={`is-${tone}`}>
          <StateMark shape={shape} /> {words}
        </span>
        {detail !== '' && <small>{detail}</small>}
      </td>
      <td data-label="In flight">
        {count(active)} <span class="quiet">of {count(held)} held</span>
      </td>
      <td data-label="Waiting" class={waiting > 0 ? 'is-queue' : ''}>
        {count(waiting)}
      </td>
      <td data-label="Rows behind">{count(behind)}</td>
      <td>
        {row.can_release && (
          <ConfirmButton small isOff={isOff} question={releaseQuestion(row)} onYes={onRelease}>
            Release
            <span class="aside">
              {' '}
              {counted(held, 'slot')} of {host}
            </span>
          </ConfirmButton>
        )}
      </td>
    </tr>
  )
}

import { useEffect, useRef, useState } from 'preact/hooks'
import type { NotesReport } from '../../src/api/notes.ts'
import { act } from '../data/dashboard-api.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { questionTime, timeQuery } from '../data/page-range.ts'
import { useAction } from '../data/use-action.ts'
import { useQuery } from '../data/use-query.ts'
import { Button } from '../design/button.tsx'
import { Banner } from '../design/banner.tsx'
import { instantOfWallTime, wallMinuteOf } from '../format/wall-time.ts'

/** The most characters of a note, as in the dashboard's API. */
const mostLetters = 200

/** The notes in the range, and a form that adds one. `onChanged` reloads the marks of charts. */
export function NotesPanel({ onChanged }: { readonly onChanged: () => void }) {
  const { address } = useNavigation()
  const times = useTimes()
  const { answer, error, again } = useQuery<NotesReport>(
    (nowMs) => `/api/notes?${timeQuery(questionTime(address, nowMs))}`,
  )
  const [text, setText] = useState('')
  // The form starts with the current time until the user chooses another.
  const [at, setAt] = useState<string | null>(null)
  const atMs = at === null ? nowMs() : instantOfWallTime(at, address.utc)
  const action = useAction()
  const isOff = text.trim() === '' || atMs === null || action.isBusy
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => box.current?.focus(), [])
  const change = (work: () => Promise<unknown>): Promise<void> =>
    action.run(async () => {
      await work()
      again()
      onChanged()
    })
  const add = async (): Promise<void> => {
    await change(async () => {
      await act('POST', '/api/notes', { text, ...(at !== null && { at: new Date(atMs ?? 0).toISOString() }) })
      setText('')
      setAt(null)
    })
  }
  const problem = action.error?.message ?? error ?? answer?.problem ?? null
  return (
    <form
      class="filter-panel stack range-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isOff) void add()
      }}
    >
      <label class="stack fine">
        What happened
        <input
          ref={box}
          class="field"
          maxLength={mostLetters}
          placeholder="deployed v2"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <label class="stack fine">
        When
        <input
          type="datetime-local"
          class="field"
          value={at ?? wallMinuteOf(nowMs(), address.utc)}
          onInput={({ currentTarget }) => setAt(currentTarget.value)}
        />
      </label>
      {problem !== null && <Banner tone="bad">{problem}</Banner>}
      <div class="filter-panel-foot row">
        <span class={atMs === null ? 'bad' : 'quiet'}>
          {atMs === null ? 'Enter a date and a time.' : 'Shown in charts.'}
        </span>
        <Button type="submit" kind="strong" small isOff={isOff}>
          Add note
        </Button>
      </div>
      {answer !== null && answer.notes.length > 0 && (
        <ul class="notes-list stack" aria-label="Notes in this range">
          {answer.notes.map((note) => (
            <li key={note.id}>
              <span class="quiet fine">{times.short(Date.parse(note.at))}</span>
              <span>{note.text}</span>
              <Button
                kind="bare"
                small
                icon="close"
                label={`Delete note ${note.text}`}
                onClick={() => void change(() => act('DELETE', `/api/notes/${note.id}`))}
              />
            </li>
          ))}
        </ul>
      )}
    </form>
  )
}

import { useId, useMemo, useState } from 'preact/hooks'
import { nowMs } from '../data/dashboard-clock.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import { calendarRanges } from '../data/calendar-ranges.ts'
import { boundsOf, calendarRange } from '../data/page-range.ts'
import { Button } from '../design/button.tsx'
import { instantOfWallTime, wallMinuteOf, wallTimeOf } from '../format/wall-time.ts'

/** A form for a day, a month, or two instants. */
export function RangeForm({ onDone }: { readonly onDone: () => void }) {
  const { zone, isAlwaysUtc } = useTimes()
  const { address, go } = useNavigation()
  const id = useId()
  const given = useMemo(() => {
    const { fromMs, toMs } = boundsOf(address, nowMs())
    const shown = address.range.last === null ? wallTimeOf : wallMinuteOf
    return { From: shown(fromMs, address.utc), To: shown(toMs, address.utc) }
  }, [address.utc])
  // What was typed stays, also in the other zone.
  const [typed, setTyped] = useState<Partial<typeof given>>({})
  const texts = { ...given, ...typed }
  const [error, setError] = useState<string | null>(null)
  const apply = (): void => {
    const [fromMs, toMs] = [texts.From, texts.To].map((text) => instantOfWallTime(text, address.utc))
    if (typeof fromMs !== 'number' || typeof toMs !== 'number') setError('Enter a date and a time.')
    else if (fromMs < 0 || fromMs >= toMs) setError('The end must be after the start.')
    else {
      go({ range: { last: null, fromMs, toMs } })
      onDone()
    }
  }
  return (
    <form
      class="filter-panel stack range-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <div class="range-calendar">
        {calendarRanges.map((range) => (
          <Button
            key={range}
            small
            onClick={() => {
              go({ range: calendarRange(range, nowMs(), address.utc) })
              onDone()
            }}
          >
            {range}
          </Button>
        ))}
      </div>
      {(['From', 'To'] as const).map((name) => (
        <label key={name} class="stack fine">
          {name}
          <input
            type="datetime-local"
            class="field"
            value={texts[name]}
            aria-invalid={error !== null}
            aria-describedby={id}
            onInput={({ currentTarget }) => {
              setError(null)
              setTyped({ ...typed, [name]: currentTarget.value })
            }}
          />
        </label>
      ))}
      <p class="fine">
        Times in {zone.replaceAll('_', ' ')}{' '}
        {!isAlwaysUtc && (
          <button type="button" class="text-link" onClick={() => go({ utc: !address.utc })}>
            {address.utc ? 'Use your time zone' : 'Use UTC'}
          </button>
        )}
      </p>
      <p id={id} class="fine bad" role="alert">
        {error}
      </p>
      <div class="filter-panel-foot row">
        <Button kind="bare" small onClick={onDone}>
          Cancel
        </Button>
        <Button type="submit" kind="strong" small>
          Apply
        </Button>
      </div>
    </form>
  )
}

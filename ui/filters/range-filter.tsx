import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { boundsOf } from '../data/page-address.ts'
import { Button } from '../design/button.tsx'
import { Icon } from '../design/icon.tsx'
import { Popover } from '../design/popover.tsx'
import type { Times } from '../format/times.ts'
import { instantOfWallTime, wallTimeOf } from '../format/wall-time.ts'
import { nowMs } from '../data/dashboard-clock.ts'

export interface RangeFilterProps {
  readonly times: Times
}

/** A range of two instants, where none of the usual lengths will do. */
export function RangeFilter({ times }: RangeFilterProps): JSX.Element {
  const { address } = useNavigation()
  return (
    <Popover
      label="Custom range"
      class={`filter-choice ${address.range.last === null ? 'is-set' : ''}`}
      words={
        <>
          <Icon name="calendar" />
          <span class="filter-range-words">Custom</span>
        </>
      }
    >
      {(close) => <RangeForm times={times} onDone={close} />}
    </Popover>
  )
}

interface RangeFormProps extends RangeFilterProps {
  readonly onDone: () => void
}

function RangeForm({ times, onDone }: RangeFormProps): JSX.Element {
  const { address, go } = useNavigation()
  const id = useId()
  const [[from, to], setTexts] = useState(() => {
    const { fromMs, toMs } = boundsOf(address.range, nowMs())
    return [wallTimeOf(fromMs, times.zone), wallTimeOf(toMs, times.zone)] as const
  })
  const [trouble, setTrouble] = useState<string | null>(null)
  const apply = (): void => {
    const [fromMs, toMs] = [instantOfWallTime(from, times.zone), instantOfWallTime(to, times.zone)]
    if (fromMs === null || toMs === null) setTrouble('Give both a date and a time.')
    else if (fromMs < 0 || fromMs >= toMs) setTrouble('The end must be after the beginning.')
    else {
      go({ range: { last: null, fromMs, toMs } })
      onDone()
    }
  }
  const field = (name: string, value: string, put: (text: string) => void): JSX.Element => (
    <label>
      {name}
      <input
        type="datetime-local"
        class="field"
        value={value}
        aria-invalid={trouble !== null}
        aria-describedby={id}
        onInput={(event) => {
          setTrouble(null)
          put(event.currentTarget.value)
        }}
      />
    </label>
  )
  return (
    <form
      class="filter-panel range-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      {field('From', from, (text) => setTexts([text, to]))}
      {field('To', to, (text) => setTexts([from, text]))}
      <p id={id} class={trouble === null ? '' : 'is-bad'} role="alert">
        {trouble ?? `Times in ${times.zone.replaceAll('_', ' ')}`}
      </p>
      <div class="filter-panel-foot">
        <Button kind="bare" small onClick={onDone}>
          Cancel
        </Button>
        <Button type="submit" kind="strong" small>
          Show
        </Button>
      </div>
    </form>
  )
}

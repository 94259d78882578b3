import type { JSX } from 'preact'
import { type RateName, isFee, rateWords } from './price-words.ts'

export interface RateFieldProps {
  readonly name: RateName
  readonly id: string
  readonly value: string
  readonly isFixed: boolean
  readonly trouble: string | undefined
  readonly onValue: (value: string) => void
}

/** One rate of a price, with what is wrong with it. */
export function RateField({ name, id, value, isFixed, trouble, onValue }: RateFieldProps): JSX.Element {
  return (
    <div class="rate-field">
      <label for={id}>{rateWords[name]}</label>
      <span class="rate-input">
        <span aria-hidden="true">$</span>
        <input
          id={id}
          class="field"
          type="text"
          inputMode="decimal"
          autocomplete="off"
          value={isFixed && name !== 'input' && name !== 'output' ? '' : value}
          readOnly={isFixed}
          aria-invalid={trouble === undefined ? undefined : 'true'}
          aria-describedby={trouble === undefined ? undefined : `${id}-wrong`}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
        {isFee(name) && <span class="quiet">each</span>}
      </span>
      {trouble !== undefined && (
        <p id={`${id}-wrong`} class="wrong">
          {trouble}
        </p>
      )}
    </div>
  )
}

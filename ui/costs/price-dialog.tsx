import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { isNameOf } from '../data/call-words.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import { useTimes } from '../data/navigation.tsx'
import { useAction } from '../data/use-action.ts'
import { Button } from '../design/button.tsx'
import { useModal } from '../design/use-modal.ts'
import { Note } from '../design/note.tsx'
import { type DraftTrouble, type PriceDraft, bodyOf, draftOf } from './price-form.ts'
import { type PricedModel, hostOf, overrideName } from './price-lines.ts'
import { type RateName, isFee, rateNames, rateWords } from './price-words.ts'
import { costActions } from './use-prices.ts'

export interface PriceDialogProps {
  readonly model: PricedModel
  readonly onDone: () => void
  /** Also with Escape. */
  readonly onClose: () => void
}

const mainRates: readonly RateName[] = ['input', 'output', 'cache_read']
const moreRates = rateNames.filter((name) => !mainRates.includes(name))

const isRate = isNameOf(rateWords)

const sinces = [
  ['always', 'For all calls, also earlier ones'],
  ['now', 'From now on'],
  ['day', 'From a day on'],
] as const

/** Sets a price of one's own, which goes before every other. */
export function PriceDialog({ model, onDone, onClose }: PriceDialogProps) {
  const times = useTimes()
  const { leave, props } = useModal(onClose)
  const form = useRef<HTMLFormElement>(null)
  const id = useId()
  const [draft, setDraft] = useState<PriceDraft>(() => draftOf(model.rates))
  const [wrong, setWrong] = useState<DraftTrouble>({})
  const { isBusy, trouble, run } = useAction()
  const rejected = trouble?.param ?? null
  useEffect(() => {
    if (rejected !== null && isRate(rejected)) setWrong({ [rejected]: trouble?.message })
  }, [trouble])
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [wrong])
  const save = (): void => {
    const made = bodyOf(draft, nowMs(), (day) => times.dayStartMs(day))
    setWrong('trouble' in made ? made.trouble : {})
    if ('trouble' in made) return
    void run(async () => {
      const name = overrideName({ upstream: model.upstream, model: model.name }, draft.isForAll)
      await costActions.setPrice(name, made.body)
      leave()
      onDone()
    })
  }
  const change = (part: Partial<PriceDraft>): void => setDraft((before) => ({ ...before, ...part }))
  const field = (name: RateName) => (
    <Field
      key={name}
      id={`${id}-${name}`}
      label={rateWords[name]}
      trouble={wrong[name]}
      unit={isFee(name) ? 'each' : ''}
      input={{
        type: 'text',
        inputMode: 'decimal',
        autocomplete: 'off',
        value: draft.isFree ? (name === 'input' || name === 'output' ? '0' : '') : (draft.rates[name] ?? ''),
        readOnly: draft.isFree,
        onInput: ({ currentTarget: { value } }) => change({ rates: { ...draft.rates, [name]: value } }),
      }}
    />
  )
  return (
    <dialog {...props} class="price-dialog" aria-labelledby={id}>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <h2 id={id}>Price of {model.name}</h2>
        <p class="quiet">In dollars for a million tokens. It goes before every price list.</p>
        <label class="choice">
          <input
            type="checkbox"
            checked={draft.isFree}
            onChange={({ currentTarget }) => {
              setWrong({})
              change({ isFree: currentTarget.checked })
            }}
          />
          <span>
            Free <span class="quiet">its calls count as priced, at $0</span>
          </span>
        </label>
        <div class="rate-fields">{mainRates.map(field)}</div>
        <details
          open={moreRates.some((name) => draft.rates[name] !== undefined || wrong[name] !== undefined)}
        >
          <summary>More rates</summary>
          <p class="fine">
            A rate that is left empty is as the one that it belongs to: cache and audio as input or output.
          </p>
          <div class="rate-fields">{moreRates.map(field)}</div>
        </details>
        {model.hasMore && (
          <Note>
            The present price has tiers. Yours will have none: it holds for requests of every length.
          </Note>
        )}
        {model.upstream !== null && (
          <Radios
            legend="Of which upstream"
            choices={[
              [false, `Only ${hostOf(model.upstream)}`],
              [true, 'Of this name everywhere'],
            ]}
            chosen={draft.isForAll}
            onChoose={(isForAll) => change({ isForAll })}
          />
        )}
        <Radios
          legend="For which calls"
          choices={sinces}
          chosen={draft.since}
          onChoose={(since) => change({ since })}
        >
          {draft.since === 'day' && (
            <Field
              id={`${id}-day`}
              label="First day"
              trouble={wrong.day}
              input={{
                type: 'date',
                value: draft.day,
                onInput: ({ currentTarget }) => change({ day: currentTarget.value }),
              }}
            />
          )}
          {draft.since !== 'now' && (
            <p class="fine">What was recorded already stays as it is until you price it anew.</p>
          )}
        </Radios>
        {trouble !== null && (rejected === null || !isRate(rejected)) && (
          <Note tone="bad">{trouble.message}</Note>
        )}
        <div class="buttons">
          <Button onClick={() => leave()}>Cancel</Button>
          <Button type="submit" kind="strong" isOff={isBusy}>
            {isBusy ? 'Setting…' : 'Set price'}
          </Button>
        </div>
      </form>
    </dialog>
  )
}

interface FieldProps {
  readonly id: string
  readonly label: string
  readonly trouble: string | undefined
  /** A rate, in dollars: behind it, what it is for. */
  readonly unit?: string
  readonly input: JSX.IntrinsicElements['input']
}

/** A field with its label, and the error in it. */
function Field({ id, label, trouble, unit, input: attributes }: FieldProps) {
  const isWrong = trouble !== undefined
  const input = (
    <input
      {...attributes}
      id={id}
      class="field"
      aria-invalid={isWrong ? 'true' : undefined}
      aria-describedby={isWrong ? `${id}-wrong` : undefined}
    />
  )
  return (
    <div class="rate-field">
      <label for={id}>{label}</label>
      {unit === undefined ? (
        input
      ) : (
        <span class="rate-input row">
          <span aria-hidden="true">$</span>
          {input}
          {unit !== '' && <span class="quiet">{unit}</span>}
        </span>
      )}
      {isWrong && (
        <p id={`${id}-wrong`} class="wrong">
          {trouble}
        </p>
      )}
    </div>
  )
}

interface RadiosProps<Choice> {
  readonly legend: string
  readonly choices: readonly (readonly [choice: Choice, words: string])[]
  readonly chosen: Choice
  readonly onChoose: (choice: Choice) => void
  readonly children?: ComponentChildren
}

function Radios<Choice>(props: RadiosProps<Choice>) {
  const { legend, choices, chosen, onChoose, children } = props
  const name = useId()
  return (
    <fieldset>
      <legend>{legend}</legend>
      {choices.map(([choice, words]) => (
        <label key={words} class="choice">
          <input type="radio" name={name} checked={choice === chosen} onChange={() => onChoose(choice)} />
          <span>{words}</span>
        </label>
      ))}
      {children}
    </fieldset>
  )
}

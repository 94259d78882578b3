import './price-dialog.css'
import type { JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Rates } from '../../src/api/costs.ts'
import { Trouble, reasonOf } from '../data/trouble.ts'
import { costActions } from './cost-actions.ts'
import { type DraftTrouble, type PriceDraft, bodyOf, draftOf } from './price-form.ts'
import { hostOf, overrideName } from './price-list.ts'
import { type RateName, rateNames, rateWords } from './price-words.ts'
import { RateField } from './rate-field.tsx'
import { nowMs } from '../data/dashboard-clock.ts'

/** What a price is set for. */
export interface PricedModel {
  /** Under which the calls ask for it, or under which one's own price is kept already. */
  readonly name: string
  /** Null where the name says it, or where it is for all. */
  readonly upstream: string | null
  /** What is charged now; null where nothing is known. */
  readonly rates: Rates | null
  /** Whether the present price has more to it than these rates: tiers, which one's own would have no more. */
  readonly hasTiers: boolean
}

export interface PriceDialogProps {
  readonly model: PricedModel
  /** Where a local day begins, in milliseconds since the Unix epoch. */
  readonly dayStartMs: (day: string) => number
  readonly onDone: () => void
  /** Also with Escape. */
  readonly onClose: () => void
}

const mainRates: readonly RateName[] = ['input', 'output', 'cache_read']
const moreRates = rateNames.filter((name) => !mainRates.includes(name))

const sinces = [
  { since: 'always', words: 'For all calls, also earlier ones' },
  { since: 'now', words: 'From now on' },
  { since: 'day', words: 'From a day on' },
] as const

/** Sets a price of one's own, which goes before every other. */
export function PriceDialog({ model, dayStartMs, onDone, onClose }: PriceDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [draft, setDraft] = useState<PriceDraft>(() => draftOf(model.rates))
  const [wrong, setWrong] = useState<DraftTrouble>({})
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  useEffect(() => {
    dialog.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [wrong])
  const leave = (): void => dialog.current?.close()
  const save = async (): Promise<void> => {
    if (isBusy) return
    const made = bodyOf(draft, nowMs(), dayStartMs)
    if ('trouble' in made) {
      setWrong(made.trouble)
      return
    }
    setWrong({})
    setTrouble(null)
    setBusy(true)
    try {
      const name = overrideName({ upstream: model.upstream, model: model.name }, draft.isForAll)
      await costActions.setPrice(name, made.body)
      leave()
      onDone()
    } catch (error) {
      const param = error instanceof Trouble ? error.param : null
      if (param !== null && isRate(param)) setWrong({ [param]: reasonOf(error) })
      else setTrouble(reasonOf(error))
      setBusy(false)
    }
  }
  const change = (part: Partial<PriceDraft>): void => setDraft((before) => ({ ...before, ...part }))
  const field = (name: RateName): JSX.Element => (
    <RateField
      key={name}
      name={name}
      id={`${id}-${name}`}
      value={draft.isFree ? '0' : (draft.rates[name] ?? '')}
      isFixed={draft.isFree}
      trouble={wrong[name]}
      onValue={(value) => change({ rates: { ...draft.rates, [name]: value } })}
    />
  )
  return (
    <dialog
      ref={dialog}
      class="price-dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        leave()
      }}
      onClose={onClose}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <h2 id={id}>
          Price of <span class="price-dialog-name">{model.name}</span>
        </h2>
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
          <p class="quiet">
            What is left empty costs as the rate that it belongs to: cache and audio as input or output.
          </p>
          <div class="rate-fields">{moreRates.map(field)}</div>
        </details>
        {model.hasTiers && (
          <p class="note">
            The present price has tiers. Yours will have none: it holds for requests of every length.
          </p>
        )}
        {model.upstream !== null && (
          <fieldset>
            <legend>Of which upstream</legend>
            <Radio
              name={`${id}-scope`}
              isChosen={!draft.isForAll}
              words={`Only ${hostOf(model.upstream)}`}
              onChoose={() => change({ isForAll: false })}
            />
            <Radio
              name={`${id}-scope`}
              isChosen={draft.isForAll}
              words="Of this name everywhere"
              onChoose={() => change({ isForAll: true })}
            />
          </fieldset>
        )}
        <fieldset>
          <legend>For which calls</legend>
          {sinces.map(({ since, words }) => (
            <Radio
              key={since}
              name={`${id}-since`}
              isChosen={draft.since === since}
              words={words}
              onChoose={() => change({ since })}
            />
          ))}
          {draft.since === 'day' && (
            <div class="rate-field">
              <label for={`${id}-day`}>First day</label>
              <input
                id={`${id}-day`}
                class="field"
                type="date"
                value={draft.day}
                aria-invalid={wrong.day === undefined ? undefined : 'true'}
                aria-describedby={wrong.day === undefined ? undefined : `${id}-day-wrong`}
                onInput={({ currentTarget }) => change({ day: currentTarget.value })}
              />
              {wrong.day !== undefined && (
                <p id={`${id}-day-wrong`} class="wrong">
                  {wrong.day}
                </p>
              )}
            </div>
          )}
          {draft.since !== 'now' && (
            <p class="quiet">What was recorded already stays as it is until you price it anew.</p>
          )}
        </fieldset>
        {trouble !== null && (
          <p class="note bad" role="alert">
            {trouble}
          </p>
        )}
        <div class="buttons">
          <button type="button" class="button" onClick={leave}>
            Cancel
          </button>
          <button type="submit" class="button strong" aria-disabled={isBusy}>
            {isBusy ? 'Setting…' : 'Set price'}
          </button>
        </div>
      </form>
    </dialog>
  )
}

interface RadioProps {
  readonly name: string
  readonly isChosen: boolean
  readonly words: string
  readonly onChoose: () => void
}

function Radio({ name, isChosen, words, onChoose }: RadioProps): JSX.Element {
  return (
    <label class="choice">
      <input type="radio" name={name} checked={isChosen} onChange={onChoose} />
      <span>{words}</span>
    </label>
  )
}

function isRate(param: string): param is RateName {
  return Object.hasOwn(rateWords, param)
}

import type { ComponentChildren } from 'preact'
import { AddressLink } from '../data/navigation.tsx'
import type { PageAddress } from '../data/page-address.ts'
import type { Change } from '../format/change.ts'
import { explained } from './meanings.ts'

/** A figure of the first row of a view. */
export interface FigureCard {
  readonly words: string
  /** The exact meaning of the figure. */
  readonly meaning: string
  readonly value: string
  /** Behind the value, smaller. */
  readonly unit?: string
  /** `warn` if one should look at it, `bad` if something is wrong. */
  readonly tone?: 'warn' | 'bad' | undefined
  readonly fact: string
  /** Before the change, or in its place. */
  readonly note?: string
  readonly change: Change | null
  /** Leads to its calls, or does something on the page. */
  readonly to: Partial<PageAddress> | (() => void)
}

export interface FigureCardsProps<Card extends FigureCard> {
  readonly cards: readonly Card[]
  readonly class?: string
  /** At the foot of each card. */
  readonly foot?: (card: Card) => ComponentChildren
}

/** The figures by which one sees whether all is well; each leads to its calls. */
export function FigureCards<Card extends FigureCard>(props: FigureCardsProps<Card>) {
  const { cards, class: className = '', foot } = props
  return (
    <ul class={`figure-cards ${className}`} aria-label="Figures">
      {cards.map((card, at) => {
        const { words, meaning, to } = card
        const look = { class: 'figure-card card', ...explained(words, meaning) }
        const children = [<Figure key="figure" {...card} />, foot?.(card)]
        return (
          <li key={at}>
            {typeof to === 'function' ? (
              <button type="button" {...look} onClick={to}>
                {children}
              </button>
            ) : (
              <AddressLink {...look} to={to}>
                {children}
              </AddressLink>
            )}
          </li>
        )
      })}
    </ul>
  )
}

function Figure({ words, value, unit = '', tone, fact, note, change }: FigureCard) {
  // About as many letters of its size as it takes: they become as small as they have to.
  const letters = value.length + unit.length / 2
  return (
    <>
      <span class="fine">{words}</span>
      <span
        class={`figure-value cut ${tone === undefined ? '' : `is-${tone}`}`}
        style={{ '--characters': letters }}
      >
        {value}
        {unit !== '' && <span class="figure-unit fine">{` ${unit}`}</span>}
      </span>
      <span class="figure-fact finest cut">{fact}</span>
      <span class="figure-change finest cut">
        {note}
        {change !== null && change.words !== '' && (
          <span class={`change is-${change.tone}`}>{change.words} </span>
        )}
        {change !== null && `was ${change.was}`}
      </span>
    </>
  )
}

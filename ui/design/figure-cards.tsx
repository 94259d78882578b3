import type { ComponentChildren } from 'preact'
import { AddressLink } from '../data/navigation.tsx'
import type { PageAddress } from '../data/page-address.ts'
import type { Change } from '../format/change.ts'
import { explained } from './meanings.ts'

/** A figure at the top of a view. */
export interface FigureCard {
  readonly words: string
  /** The exact meaning of the figure (default: the meaning of its name). */
  readonly meaning?: string
  readonly value: string
  /** The unit, behind the value and smaller. */
  readonly unit?: string
  /** `warn` if users should check the figure, `bad` if something is wrong. */
  readonly tone?: 'warn' | 'bad' | undefined
  readonly fact: string
  /** Text before the change, or in its place. */
  readonly note?: string
  readonly change: Change | null
  /** The address of the figure's calls, or an action on the page. */
  readonly to: Partial<PageAddress> | (() => void)
}

export interface FigureCardsProps<Card extends FigureCard> {
  readonly cards: readonly Card[]
  readonly class?: string
  /** Returns content at the foot of a card. */
  readonly foot?: (card: Card) => ComponentChildren
}

/** The most important figures of a view. Each is a link to its calls, or a button. */
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
  // The approximate length in full-size letters, from which CSS derives the font size.
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

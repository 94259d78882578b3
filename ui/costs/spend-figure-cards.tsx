import './spend-figure-cards.css'
import type { ComponentChildren, JSX } from 'preact'
import { AddressLink } from '../data/navigation.tsx'
import type { SpendCard } from './spend-cards.ts'

export interface SpendFigureCardsProps {
  readonly cards: readonly SpendCard[]
  readonly onPrices: () => void
}

/** The figures of money; each leads to its calls, or to the prices. */
export function SpendFigureCards({ cards, onPrices }: SpendFigureCardsProps): JSX.Element {
  return (
    <ul class="figure-cards spend-cards" aria-label="Figures">
      {cards.map((card) => (
        <li key={card.words}>
          {card.to === 'prices' ? (
            <button type="button" class="figure-card card" title={card.meaning} onClick={onPrices}>
              <Figure card={card} />
            </button>
          ) : (
            <AddressLink class="figure-card card" to={card.to} title={card.meaning}>
              <Figure card={card} />
            </AddressLink>
          )}
        </li>
      ))}
    </ul>
  )
}

function Figure({ card }: { readonly card: SpendCard }): ComponentChildren {
  const { words, value, fact, note, change, isTelling } = card
  return (
    <>
      <span class="figure-words">{words}</span>
      <span
        class={`figure-value ${isTelling === true ? 'is-telling' : ''}`}
        style={{ '--characters': value.length }}
      >
        {value}
      </span>
      <span class="figure-fact">{fact}</span>
      <span class="figure-change">
        {note}
        {change !== null && (
          <>
            {change.words !== '' && <span class="change">{change.words} </span>}was {change.was}
          </>
        )}
      </span>
    </>
  )
}

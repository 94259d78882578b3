import './figure-cards.css'
import type { JSX } from 'preact'
import { AddressLink } from '../address/navigation.tsx'
import { Sparkline } from '../charts/sparkline.tsx'
import type { Change } from './change.ts'
import type { FigureCard } from './overview-cards.ts'

/** Characters that have room in the largest letters. */
const longFigure = 11

/** The figures by which one sees whether all is well; each leads to its calls. */
export function FigureCards({ cards }: { readonly cards: readonly FigureCard[] }): JSX.Element {
  return (
    <ul class="figure-cards" aria-label="Figures">
      {cards.map((card) => (
        <li key={card.colour + card.meaning}>
          <AddressLink class="figure-card card" to={card.to} title={card.meaning}>
            <span class="figure-words">{card.words}</span>
            <span class={`figure-value ${card.value.length > longFigure ? 'is-long' : ''}`}>
              {card.value}
              {card.unit !== undefined && <span class="figure-unit">{`\u202f${card.unit}`}</span>}
            </span>
            <span class="figure-fact">{card.fact}</span>
            <span class="figure-change">{card.change !== null && <ChangeWords change={card.change} />}</span>
            <Sparkline values={card.course} colour={card.colour} />
          </AddressLink>
        </li>
      ))}
    </ul>
  )
}

function ChangeWords({ change: { words, was, tone } }: { readonly change: Change }): JSX.Element {
  return (
    <>
      {words !== '' && <span class={`change is-${tone}`}>{words} </span>}was {was}
    </>
  )
}

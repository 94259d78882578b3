import '../design/figure-cards.css'
import type { JSX } from 'preact'
import { AddressLink } from '../data/navigation.tsx'
import { Sparkline } from '../charts/sparkline.tsx'
import type { Change } from '../design/change.ts'
import type { FigureCard } from './overview-cards.ts'

/** The figures by which one sees whether all is well; each leads to its calls. */
export function FigureCards({ cards }: { readonly cards: readonly FigureCard[] }): JSX.Element {
  return (
    <ul class="figure-cards" aria-label="Figures">
      {cards.map((card) => (
        <li key={card.colour + card.meaning}>
          <AddressLink class="figure-card card" to={card.to} title={card.meaning}>
            <span class="figure-words">{card.words}</span>
            <span class="figure-value" style={{ '--characters': charactersOf(card) }}>
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

/** How many letters of its size the figure takes, about: its letters become as small as they have to. */
function charactersOf({ value, unit = '' }: FigureCard): number {
  return value.length + unit.length / 2
}

function ChangeWords({ change: { words, was, tone } }: { readonly change: Change }): JSX.Element {
  return (
    <>
      {words !== '' && <span class={`change is-${tone}`}>{words} </span>}was {was}
    </>
  )
}

import type { JSX } from 'preact'
import { Card } from '../design/card.tsx'

/** In place of a list that the sums of folded calls do not tell for the present filters. */
export function UntoldCard({ title }: { readonly title: string }): JSX.Element {
  return (
    <Card title={title}>
      <p class="overview-nothing">
        Older calls of this time were folded into sums, which do not tell this for what is filtered by.
      </p>
    </Card>
  )
}

import type { JSX } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import type { ViewProps } from './view-props.ts'

type ViewComponent = (props: ViewProps) => JSX.Element

/** A view whose script comes when it is first gone to. Afterwards the browser has it: nothing is seen of it. */
export function lazyView(load: () => Promise<ViewComponent>): ViewComponent {
  return function LazyView(props: ViewProps): JSX.Element {
    const [View, setView] = useState<ViewComponent | null>(null)
    const [isLost, setLost] = useState(false)
    useLayoutEffect(() => {
      let isHere = true
      load().then(
        (view) => isHere && setView(() => view),
        () => isHere && setLost(true),
      )
      return () => {
        isHere = false
      }
    }, [])
    if (View !== null) return <View {...props} />
    if (!isLost) return <div class="skeleton view-skeleton" />
    return (
      // As after an update of the program: the page in the browser is of the one before.
      <section class="note bad" role="alert">
        <span>This view could not be loaded.</span>
        <button type="button" class="button small" onClick={() => location.reload()}>
          Reload the page
        </button>
      </section>
    )
  }
}

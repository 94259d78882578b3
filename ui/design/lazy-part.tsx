import type { ComponentType, JSX } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Banner } from './banner.tsx'
import { useDelayed } from './use-delayed.ts'

/** A shorter load time is not noticeable. */
const soonMs = 150

/**
 * A part of the page whose script is loaded when it is first shown, so that the first view does not wait for it:
 * `lazyPart(async () => (await import('../live/live-view.tsx')).LiveView)`. `Meanwhile` keeps its place until then.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Meanwhile: () => JSX.Element | null = Coming,
): (props: Props) => JSX.Element {
  return function LazyPart(props: Props) {
    const [Part, setPart] = useState<ComponentType<Props> | 'failed' | null>(null)
    // A loaded script is there before the next paint.
    useLayoutEffect(() => {
      let isHere = true
      const take = (part: ComponentType<Props> | 'failed'): void => {
        if (isHere) setPart(() => part)
      }
      load().then(take, () => take('failed'))
      return () => {
        isHere = false
      }
    }, [])
    if (Part === 'failed') return <NotLoaded />
    return Part === null ? <Meanwhile /> : <Part {...props} />
  }
}

function Coming() {
  const isSlow = useDelayed(true, soonMs)
  return <div class="skeleton" style={{ height: '22rem', visibility: isSlow ? 'visible' : 'hidden' }} />
}

/** A newer build has other files; or the dashboard has gone. */
function NotLoaded() {
  return (
    <Banner
      tone="bad"
      actions={
        <Button small onClick={() => location.reload()}>
          Reload page
        </Button>
      }
    >
      Could not load this part of the page. The dashboard is not running or was updated.
    </Banner>
  )
}

import type { ComponentType, JSX } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Banner } from './banner.tsx'
import { useDelayed } from './use-delayed.ts'

/** A shorter load time is not noticeable. */
const soonMs = 150

/**
 * Returns a component whose script is loaded when it is first shown, so that the first view loads faster:
 * `lazyPart(async () => (await import('../live/live-view.tsx')).LiveView)`. `Meanwhile` is shown until then.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Meanwhile: () => JSX.Element | null = Coming,
): (props: Props) => JSX.Element {
  return function LazyPart(props: Props) {
    const [Part, setPart] = useState<ComponentType<Props> | 'failed' | null>(null)
    // A loaded script renders before the next paint.
    useLayoutEffect(() => {
      load().then(
        (part) => setPart(() => part),
        () => setPart('failed'),
      )
    }, [])
    if (Part === 'failed') return <NotLoaded />
    return Part === null ? <Meanwhile /> : <Part {...props} />
  }
}

function Coming() {
  const isSlow = useDelayed(true, soonMs)
  return <div class="skeleton" style={{ height: '22rem', visibility: isSlow ? 'visible' : 'hidden' }} />
}

/** The script is missing, because a newer build has other files, or the dashboard has stopped. */
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

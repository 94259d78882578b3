import { useLayoutEffect, useRef } from 'preact/hooks'
import { act } from '../data/dashboard-api.ts'
import { log } from '../data/live.ts'
import { useAction } from '../data/use-action.ts'
import { useObservable } from '../data/observable.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'
import { ConfirmButton } from '../design/overlay/confirm.tsx'
import { Banner } from '../design/banner.tsx'
import { useFrozen, useReaderPresence } from '../design/use-reader-presence.ts'
import { counted } from '../format/figures.ts'

/** The last lines of the gateway's log. The card follows new lines, except while a person reads older ones. */
export function LogCard({ file }: { readonly file: string }) {
  const { isBusy, error, run } = useAction()
  return (
    <Card
      title="Log"
      class="log-card"
      about={
        <>
          last lines of <code id="log-file">{file}</code>
        </>
      }
      actions={
        <ConfirmButton
          small
          isOff={isBusy}
          question={{
            title: 'Clear the log?',
            yes: 'Clear',
            points: ['Its lines are deleted for good.', 'Recorded calls are kept.'],
          }}
          onYes={() => void run(() => act('POST', '/api/proxy/clear-logs'))}
        >
          {isBusy ? 'Clearing…' : 'Clear'}
          <span class="aside"> the log</span>
        </ConfirmButton>
      }
    >
      {error !== null && <Banner tone="bad">{error.message}</Banner>}
      <LogLines />
    </Card>
  )
}

/** A smaller distance from the end (CSS px) counts as the end. */
const nearPx = 8

/** The lines, with a button that scrolls to the end. */
function LogLines() {
  const box = useRef<HTMLDivElement>(null)
  const now = useObservable(log)
  const { isRead, isAway, leave, listeners } = useReaderPresence(
    box,
    ({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight < scrollHeight - nearPx,
  )
  // A reset replaces the lines, so the frozen ones are dropped.
  const { lines, total } = useFrozen(now, isRead, now.resets)
  const news = now.total - total
  useLayoutEffect(() => {
    const { current } = box
    if (current === null || isRead) return
    const toEnd = (): void => current.scrollTo(0, current.scrollHeight)
    toEnd()
    const sizes = new ResizeObserver(toEnd)
    sizes.observe(current)
    return () => sizes.disconnect()
  }, [lines, isRead])
  return (
    <div class="log-lines" {...listeners}>
      <div
        ref={box}
        id="log-lines"
        class="lines code-block inset wrapped"
        role="region"
        aria-label="Gateway log"
        tabIndex={0}
      >
        {lines.map(({ at, text }) => (
          <div key={at}>{text}</div>
        ))}
        {lines.length === 0 && <p class="empty quiet">No lines yet.</p>}
      </div>
      {isRead && (news > 0 || isAway) && (
        <Button
          small
          icon="fall"
          class="to-end"
          onClick={() => {
            leave()
            box.current?.focus({ preventScroll: true })
          }}
        >
          {news > 0 ? counted(news, 'new line') : 'Jump to end'}
        </Button>
      )}
    </div>
  )
}

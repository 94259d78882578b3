import { type ComponentChildren, Fragment } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { Icon, type IconName } from '../icon.tsx'

/** The distances to the button and to the window's edges. */
const gapPx = 6
const edgePx = 12
/** With less height, the page scrolls, because scrolling inside would be awkward. */
const leastHeightPx = 240

export interface PopoverProps {
  /** The accessible name. */
  readonly label: string
  /** The content of the button: text, or an icon that `label` names. */
  readonly words?: ComponentChildren
  readonly icon?: IconName
  /** Attributes of the button. A key can press the button by its `id`; `class` is added. */
  readonly id?: string
  readonly class?: string
  readonly title?: string
  /** The width, or less in a narrower window. */
  readonly widthPx?: number
  /** Returns the content, while the popover is open. */
  readonly children: (close: () => void) => ComponentChildren
}

/** A button that opens a popover below it. Escape, or a press elsewhere, closes it and returns the focus. */
export function Popover(props: PopoverProps) {
  const { label, words, icon, id, class: className = '', title, widthPx = 288, children } = props
  const panelId = useId()
  const button = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  /** The time of the event that opened the popover; null while closed. Each opening renders new content. */
  const [openedMs, setOpened] = useState<number | null>(null)
  const place = (): void => {
    if (button.current === null || panel.current === null) return
    const { left, right, bottom } = button.current.getBoundingClientRect()
    const { clientWidth, clientHeight } = document.documentElement
    const width = Math.min(widthPx, clientWidth - 2 * edgePx)
    const hasRoom = left + width <= clientWidth - edgePx
    const x = Math.max(edgePx, hasRoom ? left : right - width)
    const { style } = panel.current
    style.width = `${width}px`
    style.left = `${x + scrollX}px`
    style.top = `${bottom + gapPx + scrollY}px`
    style.maxHeight = `${Math.max(leastHeightPx, clientHeight - bottom - gapPx - edgePx)}px`
  }
  return (
    <>
      <Button
        ref={button}
        id={id}
        class={`popover-button ${className}`}
        popovertarget={panelId}
        aria-expanded={openedMs !== null}
        title={title}
        // A key may have pressed the button. Then the focus must return to the button, too.
        onClick={() => button.current?.focus()}
        {...(icon !== undefined && { icon, label, kind: 'bare' })}
      >
        {words !== undefined && (
          <>
            {words}
            <Icon name="down" size={14} />
          </>
        )}
      </Button>
      <div
        ref={panel}
        id={panelId}
        class="popover"
        popover="auto"
        role="group"
        aria-label={label}
        onBeforeToggle={({ newState, timeStamp }) => {
          if (newState !== 'open') return
          place()
          setOpened(timeStamp)
        }}
        // The content stays until the popover is closed, because the browser returns the focus from it. The event
        // comes late, or not at all if the popover opens again first.
        onToggle={({ newState }) => {
          if (newState === 'closed') setOpened(null)
        }}
      >
        {openedMs !== null && (
          <Fragment key={openedMs}>{children(() => panel.current?.hidePopover())}</Fragment>
        )}
      </div>
    </>
  )
}

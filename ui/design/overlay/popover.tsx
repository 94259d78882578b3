import { type ComponentChildren, Fragment } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { Icon, type IconName } from '../icon.tsx'

/** Distances to the button, and to the edges of the window, in pixels. */
const gapPx = 6
const edgePx = 12
/** Below it, scrolling inside is no use: then the page scrolls. */
const leastHeightPx = 240

export interface PopoverProps {
  /** The accessible name. */
  readonly label: string
  /** The content of the button: words, or an icon that `label` names. */
  readonly words?: ComponentChildren
  readonly icon?: IconName
  /** Attributes of the button: `id` lets a key press it, `class` is added. */
  readonly id?: string
  readonly class?: string
  readonly title?: string
  /** Width in pixels; less in a narrower window. */
  readonly widthPx?: number
  /** Rendered while it is open. */
  readonly children: (close: () => void) => ComponentChildren
}

/** A button that opens something below it. Esc, or a press elsewhere, closes it and gives the focus back. */
export function Popover(props: PopoverProps) {
  const { label, words, icon, id, class: className = '', title, widthPx = 288, children } = props
  const panelId = useId()
  const button = useRef<HTMLButtonElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [timesOpened, setTimesOpened] = useState(0)
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
        aria-expanded={isOpen}
        title={title}
        // A key may have pressed it: the focus comes back to it then, too.
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
        onBeforeToggle={({ newState }) => {
          if (newState !== 'open') return
          place()
          setOpen(true)
          setTimesOpened((before) => before + 1)
        }}
        // The content stays until the popover is closed, because the browser returns the focus from it. This event comes late, and
        // not at all if the popover opens again first.
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        {isOpen && <Fragment key={timesOpened}>{children(() => panel.current?.hidePopover())}</Fragment>}
      </div>
    </>
  )
}

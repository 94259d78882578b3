import { useEffect, useRef } from 'preact/hooks'

const gapPx = 6
const edgePx = 8

/**
 * Shows the title of the element with the keyboard focus, as browsers do under the pointer. Escape hides the hint.
 * Screen readers do not read the hint, because they read the title as the element's description.
 */
export function FocusHint() {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const hint = box.current
    if (hint === null) return
    const leaving = new AbortController()
    const hide = (): void => hint.hidePopover()
    const show = (target: EventTarget | null): void => {
      if (!(target instanceof HTMLElement) || !target.matches(':focus-visible')) return
      const { title } = target
      // The element already shows its title as text, perhaps cut off.
      if (title === '' || target.textContent.includes(title)) return
      hint.textContent = title
      hint.showPopover()
      const { left, top, bottom } = target.getBoundingClientRect()
      const { clientWidth, clientHeight } = document.documentElement
      const { offsetWidth: width, offsetHeight: height } = hint
      const isAbove = bottom + gapPx + height > clientHeight
      hint.style.left = `${Math.max(edgePx, Math.min(left, clientWidth - edgePx - width))}px`
      hint.style.top = `${isAbove ? top - gapPx - height : bottom + gapPx}px`
    }
    const { signal } = leaving
    const focused = ({ target }: Event): void => {
      hide()
      // A closing popover returns the focus, and no popover can be shown during that event.
      requestAnimationFrame(() => show(target))
    }
    addEventListener('focusin', focused, { signal })
    for (const name of ['focusout', 'pointerdown', 'resize']) addEventListener(name, hide, { signal })
    addEventListener('scroll', hide, { signal, capture: true })
    addEventListener('keydown', ({ key }) => key === 'Escape' && hide(), { signal, capture: true })
    return () => leaving.abort()
  }, [])
  return <div ref={box} class="focus-hint" popover="manual" aria-hidden="true" />
}

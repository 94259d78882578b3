/** @import { LogLines } from '../src/api/dashboard-event.ts' */
/** @import { ConfirmDialog } from './confirm-dialog.js' */
/** @import { DashboardApi } from './dashboard-api.js' */
import { element, part, reasonOf, say, whenPressed } from './page-part.js'

const maxLines = 2000
/** How near to the end counts as at the end, in CSS pixels. */
const nearPx = 8

/** The end of the gateway's log. It follows what is added, unless the reader scrolled up. */
export class LogView {
  #box = part('log-lines', HTMLElement)
  #toEnd = part('log-end', HTMLButtonElement)
  #follows = true

  /**
   * @param {DashboardApi} api
   * @param {ConfirmDialog} dialog
   */
  constructor(api, dialog) {
    this.#toEnd.addEventListener('click', () => {
      this.#scrollToEnd()
      this.#box.focus()
    })
    this.#box.addEventListener('scroll', () => {
      this.#follows = this.#isAtEnd()
      this.#toEnd.hidden = this.#follows
    })
    const resizes = new ResizeObserver(() => {
      if (this.#follows) this.#scrollToEnd()
    })
    resizes.observe(this.#box)
    whenPressed(part('clear', HTMLButtonElement), () => void clear(api, dialog))
    this.#showEmpty()
  }

  /** @param {LogLines} added */
  add({ lines, reset }) {
    if (reset || this.#box.firstElementChild?.className === 'empty') this.#box.replaceChildren()
    this.#box.append(...lines.slice(-maxLines).map((line) => element('div', line)))
    while (this.#box.childElementCount > maxLines) this.#box.firstElementChild?.remove()
    if (this.#box.childElementCount === 0) this.#showEmpty()
    if (this.#follows || reset) this.#scrollToEnd()
    else this.#toEnd.hidden = this.#isAtEnd()
  }

  #showEmpty() {
    this.#box.append(element('p', 'Nothing yet.', 'empty'))
  }

  #isAtEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.#box
    return scrollTop + clientHeight >= scrollHeight - nearPx
  }

  #scrollToEnd() {
    this.#box.scrollTop = this.#box.scrollHeight
  }
}

/**
 * @param {DashboardApi} api
 * @param {ConfirmDialog} dialog
 */
async function clear(api, dialog) {
  const points = ['Its lines are gone for good. Recorded calls stay.']
  if (!(await dialog.ask('Clear the log?', 'Clear', () => points))) return
  const trouble = part('log-trouble', HTMLElement)
  try {
    await api.clearLog()
    say(trouble, null)
  } catch (error) {
    say(trouble, reasonOf(error))
  }
}

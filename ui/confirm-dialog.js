import { element, part } from './page-part.js'

/** Asks before something is done that others notice. */
export class ConfirmDialog {
  #dialog = part('confirm', HTMLDialogElement)
  #points = part('confirm-points', HTMLUListElement)
  #yes = part('confirm-yes', HTMLButtonElement)
  /** @type {(() => readonly string[]) | null} */
  #consequences = null
  /** @type {((agreed: boolean) => void) | null} */
  #answer = null

  constructor() {
    this.#dialog.addEventListener('close', () => {
      // The event comes late: by then the next question may have been asked.
      if (!this.#dialog.open) this.#settle(this.#dialog.returnValue === 'yes')
    })
    this.#yes.addEventListener('click', () => this.#dialog.close('yes'))
    part('confirm-no', HTMLButtonElement).addEventListener('click', () => this.#dialog.close(''))
  }

  /**
   * @param {string} title
   * @param {string} yes the word on the button
   * @param {() => readonly string[]} consequences read again whenever they may have changed
   * @returns {Promise<boolean>}
   */
  ask(title, yes, consequences) {
    this.#settle(false)
    part('confirm-title', HTMLElement).textContent = title
    this.#yes.textContent = yes
    this.#consequences = consequences
    this.update()
    this.#dialog.returnValue = ''
    this.#dialog.showModal()
    return new Promise((resolve) => {
      this.#answer = resolve
    })
  }

  /** Shows the consequences as they are now. */
  update() {
    if (this.#consequences === null) return
    this.#points.replaceChildren(...this.#consequences().map((point) => element('li', point)))
  }

  /** @param {boolean} agreed */
  #settle(agreed) {
    this.#consequences = null
    this.#answer?.(agreed)
    this.#answer = null
  }
}

/** @import { ProcessStatus } from '../src/api/process-status.ts' */
/** @import { ProxyConfig } from '../src/api/proxy-config.ts' */
/** @import { ConfirmDialog } from './confirm-dialog.js' */
/** @import { DashboardApi } from './dashboard-api.js' */
/** @import { Format } from './format.js' */
/** @import { Action } from './gateway-words.js' */
import { Trouble } from './dashboard-api.js'
import { actionsOf, consequencesOf } from './gateway-words.js'
import { part, reasonOf, say, setUsable, whenPressed } from './page-part.js'

/** @type {readonly Action[]} */
const actions = ['start', 'stop', 'restart']

/** @type {Readonly<Record<Action, { readonly idle: string, readonly busy: string }>>} */
const labels = {
  start: { idle: 'Start', busy: 'Starting…' },
  stop: { idle: 'Stop', busy: 'Stopping…' },
  restart: { idle: 'Restart', busy: 'Restarting…' },
}

/** The buttons that start, stop and restart the gateway. */
export class GatewayControls {
  #api
  #dialog
  #format
  #onDone
  /** @type {Action | null} */
  #busy = null
  /** @type {ProcessStatus | null} */
  #status = null
  /** @type {ProxyConfig | null} */
  #config = null

  /**
   * @param {DashboardApi} api
   * @param {ConfirmDialog} dialog
   * @param {Format} format
   * @param {(status: ProcessStatus) => void} onDone
   */
  constructor(api, dialog, format, onDone) {
    this.#api = api
    this.#dialog = dialog
    this.#format = format
    this.#onDone = onDone
    for (const action of actions) whenPressed(buttonOf(action), () => void this.#press(action))
  }

  /**
   * @param {ProcessStatus} status
   * @param {ProxyConfig | null} config
   */
  show(status, config) {
    this.#status = status
    this.#config = config
    this.#showButtons()
    this.#dialog.update()
  }

  /** @param {Action} action */
  async #press(action) {
    if (action !== 'start' && !(await this.#agreed(action))) return
    this.#busy = action
    this.#showButtons()
    showTrouble(null)
    try {
      this.#onDone(await this.#api[action]())
    } catch (error) {
      showTrouble(error)
    } finally {
      this.#busy = null
      this.#showButtons()
    }
  }

  /** @param {Action} action */
  #agreed(action) {
    const { idle } = labels[action]
    return this.#dialog.ask(`${idle} the gateway?`, idle, () =>
      this.#status === null ? [] : consequencesOf(action, this.#status, this.#config, this.#format),
    )
  }

  #showButtons() {
    const usable = this.#status === null || this.#busy !== null ? [] : actionsOf(this.#status)
    for (const action of actions) {
      const button = buttonOf(action)
      const label = labels[action][action === this.#busy ? 'busy' : 'idle']
      if (button.textContent !== label) button.textContent = label
      setUsable(button, usable.includes(action))
    }
  }
}

/** @param {Action} action */
function buttonOf(action) {
  return part(action, HTMLButtonElement)
}

/** @param {unknown} error null where there is none any more */
function showTrouble(error) {
  part('trouble', HTMLElement).hidden = error === null
  say(part('trouble-message', HTMLElement), error === null ? null : reasonOf(error))
  const log = error instanceof Trouble ? error.log : []
  say(part('trouble-log', HTMLElement), log.length === 0 ? null : log.join('\n'))
}

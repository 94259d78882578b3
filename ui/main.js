/** @import { ProcessStatus } from '../src/api/process-status.ts' */
/** @import { ProxyConfig } from '../src/api/proxy-config.ts' */
import { ConfirmDialog } from './confirm-dialog.js'
import { enableCopyButtons } from './copy-buttons.js'
import { DashboardApi } from './dashboard-api.js'
import { EventFeed } from './event-feed.js'
import { Format } from './format.js'
import { GatewayControls } from './gateway-controls.js'
import { GatewayView } from './gateway-view.js'
import { LogView } from './log-view.js'
import { OptionsForm } from './options-form.js'
import { part, say } from './page-part.js'

const tickMs = 1000

/** Puts the page together and keeps what was last heard. */
class Page {
  #format = new Format(navigator.language)
  #api = new DashboardApi()
  #dialog = new ConfirmDialog()
  #gateway = new GatewayView(this.#format)
  #controls = new GatewayControls(this.#api, this.#dialog, this.#format, (status) => this.#show(status))
  #options = new OptionsForm(this.#api, (config) => this.#showConfig(config))
  #log = new LogView(this.#api, this.#dialog)
  /** @type {ProcessStatus | null} */
  #status = null
  /** @type {ProxyConfig | null} */
  #config = null
  /** Of the status that the config was asked for with. */
  #configKey = ''
  /** @type {Date | null} */
  #lostSince = null

  open() {
    enableCopyButtons()
    const feed = new EventFeed({
      onGateway: (status) => this.#show(status),
      onLog: (lines) => this.#log.add(lines),
      onReached: () => this.#setLost(null),
      onLost: () => {
        this.#setLost(this.#lostSince ?? new Date())
        // Tells a session that is over from a dashboard that is gone: the stream itself does not say.
        void this.#loadConfig()
      },
    })
    feed.follow()
    setInterval(() => this.#gateway.showUptime(), tickMs)
  }

  /** @param {ProcessStatus} status */
  #show(status) {
    this.#status = status
    this.#gateway.show(status)
    this.#showWithConfig()
    const key = configKeyOf(status)
    if (key === this.#configKey) return
    this.#configKey = key
    void this.#loadConfig()
  }

  async #loadConfig() {
    try {
      this.#showConfig(await this.#api.config())
    } catch {
      // It is asked for again with the next status, which comes once the dashboard is reached.
      this.#configKey = ''
    }
  }

  /** @param {ProxyConfig} config */
  #showConfig(config) {
    this.#config = config
    this.#options.show(config)
    this.#showWithConfig()
  }

  #showWithConfig() {
    if (this.#status === null) return
    this.#gateway.showAddress(this.#status, this.#config)
    this.#controls.show(this.#status, this.#config)
  }

  /** @param {Date | null} since */
  #setLost(since) {
    this.#lostSince = since
    document.body.classList.toggle('old', since !== null)
    say(
      part('unreachable', HTMLElement),
      since === null
        ? null
        : `The dashboard cannot be reached since ${this.#format.time(since)}. ` +
            'What is shown is what was last known; the page goes on trying.',
    )
  }
}

/**
 * Equal as long as the options are the same, as far as a status tells.
 *
 * @param {ProcessStatus} status
 */
function configKeyOf({ state, pid, host, port, upstream, health }) {
  const { max_concurrent: max, slot_cooldown_ms: cooldown } = health?.rate_limiter ?? {}
  return JSON.stringify([state, pid, host, port, upstream, max, cooldown, health?.token_budget.daily_limit])
}

new Page().open()

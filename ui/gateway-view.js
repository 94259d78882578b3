/** @import { HealthReport } from '../src/api/health-report.ts' */
/** @import { ProcessStatus } from '../src/api/process-status.ts' */
/** @import { ProxyConfig } from '../src/api/proxy-config.ts' */
/** @import { Format } from './format.js' */
import { baseUrlOf, curlLine, detailOf, keyWords, wordsOf } from './gateway-words.js'
import { element, part, say } from './page-part.js'

const unknown = '–'

/** What the gateway is, where it is, and its figures. */
export class GatewayView {
  #format
  #card = part('gateway', HTMLElement)
  #mark = part('mark', SVGUseElement)
  #warnings = part('warnings', HTMLUListElement)
  /** @type {ProcessStatus | null} */
  #status = null
  #statusAtMs = 0

  /** @param {Format} format */
  constructor(format) {
    this.#format = format
  }

  /** @param {ProcessStatus} status */
  show(status) {
    this.#status = status
    this.#statusAtMs = performance.now()
    const words = wordsOf(status)
    document.title = `${words} · tokenweir`
    this.#card.dataset['state'] = status.state
    this.#mark.setAttribute('href', `#mark-${status.state}`)
    tell('state', words)
    tell('state-detail', detailOf(status, this.#format))
    say(part('message', HTMLElement), status.message)
    part('simulated', HTMLElement).hidden = !status.simulated
    tell('upstream', status.upstream)
    const { pid, instance } = status
    tell('process', pid === null ? 'none' : `${pid}${instance === null ? '' : `, instance ${instance}`}`)
    tell('log-file', status.log_file)
    this.#showWarnings(status.health)
    this.#showFigures(status.health)
    this.showUptime()
  }

  /**
   * @param {ProcessStatus} status
   * @param {ProxyConfig | null} config
   */
  showAddress(status, config) {
    const baseUrl = baseUrlOf(status, location.hostname)
    tell('base-url', baseUrl)
    tell('curl', curlLine(baseUrl, config?.upstream_key !== 'lent' && !status.simulated))
    tell('upstream-key', config === null ? unknown : keyWords[config.upstream_key])
    if (config !== null) tell('settings-file', config.file)
  }

  /** To be called as time goes by. */
  showUptime() {
    const { started_at: startedAt = null, uptime_s: uptimeS = null } = this.#status ?? {}
    if (startedAt === null || uptimeS === null) return tell('up-since', unknown)
    const passedS = (performance.now() - this.#statusAtMs) / 1000
    const since = this.#format.dateTime(new Date(startedAt))
    tell('up-since', `${since}, for ${this.#format.duration(uptimeS + passedS)}`)
  }

  /** @param {HealthReport | null} health */
  #showWarnings(health) {
    const messages = health?.warnings.map(({ message }) => message) ?? []
    this.#warnings.hidden = messages.length === 0
    const shown = [...this.#warnings.children].map(({ textContent }) => textContent)
    if (JSON.stringify(shown) === JSON.stringify(messages)) return
    this.#warnings.replaceChildren(...messages.map((message) => element('li', message)))
  }

  /** @param {HealthReport | null} health */
  #showFigures(health) {
    part('figures', HTMLElement).hidden = health === null
    if (health === null) return
    const { rate_limiter: calls, token_budget: budget, telemetry } = health
    const format = this.#format
    tell('active', format.count(calls.active))
    tell(
      'active-detail',
      `of ${format.count(calls.max_concurrent)} at most, ${format.count(calls.peak_active)} at peak`,
    )
    tell('queued', format.count(calls.queued))
    tell('queued-detail', `${format.count(calls.total_queued)} had to wait so far`)
    tell('admitted', format.count(calls.total_admitted))
    tell('budget', format.percent(budget.percentage_used))
    tell(
      'budget-detail',
      `${format.count(budget.total_used)} of ${format.counted(budget.daily_limit, 'token', 'tokens')}`,
    )
    tell('written', format.count(telemetry.written))
    tell(
      'written-detail',
      `${format.count(telemetry.pending)} to be written, ${format.count(telemetry.dropped)} lost`,
    )
  }
}

/**
 * @param {string} id
 * @param {string} text
 */
function tell(id, text) {
  const target = part(id, HTMLElement)
  if (target.textContent !== text) target.textContent = text
}

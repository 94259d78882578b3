import type { ServerResponse } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { HealthReport } from '../../api/health-report.ts'
import { type Clock, withTimeout } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import type { ScrapeQuestion } from '../../metrics/scrape-question.ts'
import type { SpanFigures } from '../../traces/span-sender.ts'

/** Time limit of a scrape; most scrapers wait no longer. */
const answerLimitMs = 2000
const retryAfterS = 5
const plainText = 'text/plain; version=0.0.4; charset=utf-8'
const openText = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
const loopDelayEveryMs = 20
const nanoseconds = 1e9

type ScrapeWish = Pick<ScrapeQuestion, 'full' | 'isOpenMetrics'>

/** Answers scrapes. The writer's thread makes the text, and gets the values that only the main thread knows. */
export class GatewayMetrics {
  readonly #clock: Clock
  readonly #ask: (observer: string, question: string) => Promise<string | null>
  /** Pending questions by kind, so that they do not pile up while the thread is busy. */
  readonly #scrapes = new Map<string, Promise<string | null>>()
  readonly #sendsSpans: boolean
  #loopDelay: ReturnType<typeof monitorEventLoopDelay> | null = null

  /** `sendsSpans`: true if an observer sends and counts spans. */
  constructor(
    clock: Clock,
    ask: (observer: string, question: string) => Promise<string | null>,
    sendsSpans: boolean,
  ) {
    this.#clock = clock
    this.#ask = ask
    this.#sendsSpans = sendsSpans
  }

  /** Answers a scrape; rejects with `metrics_late`. */
  async answer(report: HealthReport, full: boolean, res: ServerResponse): Promise<void> {
    const isOpenMetrics = prefersOpenMetrics(res.req.headers.accept ?? '')
    const text = await this.#text(report, { full, isOpenMetrics })
    if (text === null) {
      const message = 'The thread that records calls does not answer; /health may say why.'
      throw new Failure('metrics_late', message, { retryAfterS })
    }
    const body = Buffer.from(text)
    res.writeHead(200, {
      'Content-Type': isOpenMetrics ? openText : plainText,
      'Content-Length': body.length,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'x-tokenweir-instance': report.instance,
    })
    res.end(body)
  }

  /** The text of a scrape; null if it is late. */
  async #text(report: HealthReport, wish: ScrapeWish): Promise<string | null> {
    const kind = JSON.stringify(wish)
    let answer = this.#scrapes.get(kind)
    if (answer === undefined) {
      answer = this.#scraped(report, wish).finally(() => this.#scrapes.delete(kind))
      this.#scrapes.set(kind, answer)
    }
    const text = await withTimeout(this.#clock, answerLimitMs, answer)
    return text === 'late' ? null : text
  }

  async #scraped(report: HealthReport, wish: ScrapeWish): Promise<string | null> {
    const values = { ...gatewayValues(report), ...(await this.#spanValues()), ...this.#loopValues() }
    const warnings = report.warnings.map(({ code }) => code)
    const question: ScrapeQuestion = { ...wish, values, warnings, limits: limitValues(report) }
    // The question fails while the thread restarts.
    return this.#ask('metrics', JSON.stringify(question)).catch(() => null)
  }

  async #spanValues() {
    const figures = this.#sendsSpans ? await this.#ask('traces', '').catch(() => null) : null
    const { sent, dropped } =
      figures === null ? { sent: 0, dropped: 0 } : (JSON.parse(figures) as SpanFigures)
    return { tokenweir_spans_sent_total: sent, tokenweir_spans_dropped_total: dropped }
  }

  #loopValues() {
    if (this.#loopDelay === null) {
      // The timer begins with the first scrape.
      this.#loopDelay = monitorEventLoopDelay({ resolution: loopDelayEveryMs })
      this.#loopDelay.enable()
    }
    const delay = this.#loopDelay
    // Node's histogram includes the timer's interval.
    const lateS = (ns: number): number => Math.max(0, ns / nanoseconds - loopDelayEveryMs / 1000) || 0
    const { heapUsed, heapTotal, external } = process.memoryUsage()
    const values = {
      nodejs_eventloop_lag_mean_seconds: lateS(delay.mean),
      nodejs_eventloop_lag_p99_seconds: lateS(delay.percentile(99)),
      nodejs_eventloop_lag_max_seconds: lateS(delay.max),
      nodejs_eventloop_active_seconds_total: performance.eventLoopUtilization().active / 1000,
      nodejs_heap_size_used_bytes: heapUsed,
      nodejs_heap_size_total_bytes: heapTotal,
      nodejs_external_memory_bytes: external,
    }
    delay.reset()
    return values
  }
}

function gatewayValues({ rate_limiter, token_budget, telemetry }: HealthReport) {
  return {
    tokenweir_slots_max: rate_limiter.max_concurrent,
    tokenweir_slots_active: rate_limiter.active,
    tokenweir_queue_length: rate_limiter.queued,
    tokenweir_budget_limit_tokens: token_budget.daily_limit,
    tokenweir_budget_used_tokens: token_budget.total_used,
    tokenweir_retries_429_total: rate_limiter.total_retries_429,
    tokenweir_telemetry_dropped_total: telemetry.dropped,
  }
}

/** The limits of providers as labels and values. A missing name is `none`, because Prometheus drops an empty label. */
function limitValues({ provider_limits }: HealthReport): ScrapeQuestion['limits'] {
  const labelOf = (text: string | null): string => (text === null || text === '' ? 'none' : text)
  return provider_limits.flatMap(({ upstream, model, key, kind, window_s, limit, remaining }) => {
    if (kind === 'wait') return []
    const labels = { upstream, model: labelOf(model), key: labelOf(key), kind, window_s: String(window_s) }
    return [{ labels, limit, remaining }]
  })
}

/** True if an `Accept` header prefers OpenMetrics, by its weights (RFC 9110 §12.5.1). */
function prefersOpenMetrics(accept: string): boolean {
  const weightOf = (type: string): number => {
    const members = accept.split(',').filter((member) => member.trim().toLowerCase().startsWith(type))
    return Math.max(0, ...members.map((member) => Number(/;\s*q=([\d.]+)/i.exec(member)?.[1] ?? 1)))
  }
  const weight = weightOf('application/openmetrics-text')
  return weight > 0 && weight >= weightOf('text/plain')
}

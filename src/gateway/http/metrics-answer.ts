import type { ServerResponse } from 'node:http'
import type { HealthReport } from '../../api/health-report.ts'
import { Failure } from '../../call/failure.ts'

/** How a scraper wants its text. */
export interface ScrapeWish {
  /** All of it, and not only what strangers are shown. */
  readonly full: boolean
  readonly openMetrics: boolean
}

/** Tells Prometheus of the gateway. */
export interface MetricsSource {
  /** Null if it cannot be had, or not in time. Never rejects. */
  text(report: HealthReport, wish: ScrapeWish): Promise<string | null>
}

const plainText = 'text/plain; version=0.0.4; charset=utf-8'
const openText = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

const retryAfterS = 5

/** Answers a scrape; rejects with `metrics_late`. */
export async function answerMetrics(
  source: MetricsSource,
  report: HealthReport,
  full: boolean,
  res: ServerResponse,
): Promise<void> {
  const openMetrics = prefersOpenMetrics(res.req.headers.accept ?? '')
  const text = await source.text(report, { full, openMetrics })
  if (text === null) {
    const message = 'The thread that records calls does not answer; /health may say why.'
    throw new Failure('metrics_late', message, { retryAfterS })
  }
  const body = Buffer.from(text)
  res.writeHead(200, {
    'Content-Type': openMetrics ? openText : plainText,
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'x-tokenweir-instance': report.instance,
  })
  res.end(body)
}

/** By the weights of an `Accept` header (RFC 9110 §12.5.1). */
function prefersOpenMetrics(accept: string): boolean {
  const weightOf = (type: string): number => {
    const members = accept.split(',').filter((member) => member.trim().toLowerCase().startsWith(type))
    return Math.max(0, ...members.map((member) => Number(/;\s*q=([\d.]+)/i.exec(member)?.[1] ?? 1)))
  }
  const weight = weightOf('application/openmetrics-text')
  return weight > 0 && weight >= weightOf('text/plain')
}

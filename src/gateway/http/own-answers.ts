import type { HealthReport, PublicHealthReport } from '../../api/health-report.ts'
import type { FailureCode } from '../../call/failure.ts'
import type { RawLogEvent, RawLogStatus, RawLogSwitched, RecentPayloads } from '../../api/raw-log.ts'

/** The shape of an OpenAI error, so that client libraries raise what they raise for the upstream. */
export interface OwnError {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: null
    readonly code: FailureCode
  }
}

/** Others than the gateway's own user, root, and who brings the admin token, are told less. */
interface HealthAnswers {
  readonly 200: HealthReport | PublicHealthReport
  readonly 503: HealthReport | PublicHealthReport
}

/** What each of the gateway's own routes answers: as `RouteAnswers` of the dashboard, and made into a document by the same. */
export interface OwnAnswers {
  /** How the gateway is: slots, queue, token budget, telemetry, warnings. 503 while it finishes its last calls. */
  'GET /health': HealthAnswers
  /** As `/health`. */
  'GET /': HealthAnswers
  /** Figures for Prometheus, or for OpenMetrics where that is accepted. @fails metrics_late */
  'GET /metrics': { readonly '200 text/plain': string }
  /** The log of payloads: whether it is on, and its size. @fails draining */
  'GET /v1/raw-log/status': { readonly 200: RawLogStatus }
  /** Switches the log of payloads. @fails draining body_too_large */
  'POST /v1/raw-log/toggle': { readonly 200: RawLogSwitched }
  /** Deletes all payloads that were kept. @fails draining body_too_large */
  'POST /v1/raw-log/clear': { readonly 200: { readonly success: true } }
  /** The newest records of the log of payloads. @fails draining */
  'GET /v1/raw-log/recent': { readonly 200: RecentPayloads }
  /** Payloads as calls pass: server-sent events. @fails draining too_many_readers */
  'GET /v1/raw-log/stream': { readonly '200 text/event-stream': RawLogEvent }
}

import type { AnswerNames } from '../src/dashboard/http/app.ts'

/** The answers of the gateway's own routes, as names of schemas. The comments go into its document. */
export const gatewayRoutes: Readonly<Record<string, { readonly answer: AnswerNames }>> = {
  /** State of the gateway: slots, queue, token budget, telemetry, warnings. 503 while it finishes its last calls. */
  'GET /health': { answer: { 200: 'HealthAnswer', 503: 'HealthAnswer' } },
  /** As `/health`. */
  'GET /': { answer: { 200: 'HealthAnswer', 503: 'HealthAnswer' } },
  /** Figures for Prometheus, or for OpenMetrics where that is accepted. @fails metrics_late */
  'GET /metrics': { answer: { '200 text/plain': null } },
  /** The log of payloads: whether it is on, and its size. @fails draining */
  'GET /v1/raw-log/status': { answer: 'RawLogStatus' },
  /** Switches the log of payloads. @fails draining body_too_large */
  'POST /v1/raw-log/toggle': { answer: 'RawLogSwitched' },
  /** Deletes all logged payloads. @fails draining body_too_large */
  'POST /v1/raw-log/clear': { answer: 'Done' },
  /** The newest records of the log of payloads. @fails draining */
  'GET /v1/raw-log/recent': { answer: 'RecentPayloads' },
  /** Payloads as calls pass: server-sent events. @fails draining too_many_readers */
  'GET /v1/raw-log/stream': { answer: { '200 text/event-stream': 'RawLogEvent' } },
}

import type { HealthReport } from '../../src/api/health-report.ts'
import type { ProcessStatus } from '../../src/api/process-status.ts'

/** The report of a gateway that has just begun: what a test does not look at. */
export const sampleHealth: HealthReport = {
  status: 'ok',
  upstream: 'http://127.0.0.1:1/v1',
  db: 'data/llm_telemetry.db',
  rate_limiter: {
    max_concurrent: 4,
    active: 0,
    queued: 0,
    slot_cooldown_ms: 50,
    total_admitted: 0,
    total_queued: 0,
    total_retries_429: 0,
    peak_active: 0,
    queue_order: 'fifo',
  },
  token_budget: {
    daily_limit: 1,
    total_used: 0,
    remaining: 1,
    percentage_used: 0,
    estimated: 0,
    known: true,
  },
  clients: [],
  provider_limits: [],
  minute_limits: [],
  pid: 77,
  instance: 'sample',
  version: '0.0.0',
  uptime_s: 5,
  wrong_base_url_calls: 0,
  raw_log: { enabled: false, file_size_bytes: 0 },
  telemetry: { written: 0, pending: 0, dropped: 0 },
  warnings: [],
}

/** The state of that gateway, as the dashboard tells it. */
export const sampleStatus: ProcessStatus = {
  running: true,
  state: 'running',
  pid: 77,
  port: 9090,
  host: '127.0.0.1',
  upstream: 'http://127.0.0.1:1/v1',
  instance: 'sample',
  started_at: '2026-11-21T06:00:00.000Z',
  uptime_s: 5,
  health_ok: true,
  health: sampleHealth,
  pid_file: 'data/.proxy.pid',
  log_file: 'data/gateway.log',
  predecessors: [],
  message: null,
  simulated: false,
  crash: null,
}

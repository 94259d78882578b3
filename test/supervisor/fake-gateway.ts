import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  ControlStatus,
  ControlledGateway,
  DrainAnswer,
  HandOverAnswer,
  HandOverOrder,
  LiveOptions,
} from '../../src/control/control-messages.ts'
import type { LiveCalls } from '../../src/api/live-calls.ts'
import { sampleHealth } from '../support/sample-health.ts'
import { ownIdentity } from '../../src/lib/process/process-identity.ts'

/** A gateway as its control server sees it, that only remembers what it was told. */
export class FakeGateway implements ControlledGateway {
  readonly instance: string
  readonly set: LiveOptions[] = []
  stops = 0

  constructor(instance: string) {
    this.instance = instance
  }

  status(): ControlStatus {
    return {
      identity: ownIdentity(),
      instance: this.instance,
      version: '0.0.0',
      host: '127.0.0.1',
      port: 1,
      started_at: '2026-11-21T06:00:00.000Z',
      draining: this.stops > 0,
      drain_timeout_ms: 30_000,
      options: { max_concurrent: this.set.at(-1)?.max_concurrent ?? 4 },
      health: { ...sampleHealth, pid: process.pid, instance: this.instance },
      predecessors: [],
      supervised: true,
      crash: null,
    }
  }

  async live(): Promise<LiveCalls> {
    return { calls: [], more: 0 }
  }

  async cancel(): Promise<boolean> {
    return false
  }

  stop(): void {
    this.stops += 1
  }

  reloadFiles(): void {}

  async setOptions(options: LiveOptions): Promise<void> {
    this.set.push(options)
  }

  async handOver(order: HandOverOrder): Promise<HandOverAnswer> {
    return { failed: `It does not start ${order.command.join(' ')}.`, code: 'not_up' }
  }

  draining(): DrainAnswer | null {
    return null
  }

  rawLog(name: string, query: string, req: IncomingMessage, res: ServerResponse): void {
    res.end(`${req.method} ${name}${query}`)
  }
}

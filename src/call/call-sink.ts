import type { CallStart } from './call.ts'
import type { CallRecord } from './call-record.ts'

/** The numbers of written, waiting and lost records. */
export interface SinkCounts {
  /** Rows in the database. */
  readonly written: number
  /** Records taken and not yet written. */
  readonly pending: number
  /** Records lost because the store could not keep up or could not write. */
  readonly dropped: number
}

/** A problem for a person to know; `/health` lists it and then has the status `degraded`. */
export interface Warning {
  readonly code: string
  readonly message: string
}

/**
 * The port to the recorder of calls. Nothing here throws, rejects or waits for a database, and its memory is bounded:
 * lost records are counted in `dropped`.
 */
export interface CallSink {
  /** Call it before the call goes to the upstream. After a kill, calls that were open for over 100 ms have a row. */
  begin(call: CallStart): void
  /**
   * Call it when the call has ended, with the object that was begun. The row is written in a batch, off the
   * request's path.
   */
  finish(record: CallRecord): void
  /** Counts an ended call without a record; `null` if the call has no id yet. */
  lose(call: CallStart | null): void
  figures(): SinkCounts
  warnings(): readonly Warning[]
}

/** The figures of an instance in a minute, for the charts of the slots. */
export interface GatewayMinute {
  /** Minutes since the Unix epoch. */
  readonly minute: number
  readonly activeMax: number
  readonly queuedMax: number
  /** Milliseconds of this minute in which every slot was in use. */
  readonly atLimitMs: number
  readonly admitted: number
  readonly dropped: number
}

export type GatewayEventKind = 'start' | 'stop' | 'crash' | 'restart' | 'config' | 'price_sync' | 'compress'

/** An event of the gateway itself. Charts draw it as a mark or a shaded span. */
export interface GatewayEvent {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number
  readonly kind: GatewayEventKind
  readonly detail: string | null
}

/** The port for the gateway's own history, as bounded and as silent as {@link CallSink}. */
export interface GatewayHistory {
  minute(minute: GatewayMinute): void
  event(event: GatewayEvent): void
}

/** Tokens used by the calls that ended in one minute. */
export interface MinuteUsage {
  /** Minutes since the Unix epoch. */
  readonly minute: number
  readonly tokens: number
  /** Estimated tokens among them, which no upstream reported; absent from a gateway of an earlier version. */
  readonly estimated?: number | undefined
  /** The keys of the budgets that count them, too: of the client or key, and of the upstream. */
  readonly owners?: readonly string[] | undefined
}

/** Tokens used by the calls of one client and key at one upstream that ended in one minute. */
export interface ClientUsage extends MinuteUsage {
  readonly client: string | null
  readonly keyFingerprint: string | null
  readonly upstreamName: string | null
}

/** A call that was sent to an upstream lately. */
export interface RecentCall extends ClientUsage {
  readonly model: string | null
  /** When the call was last sent to the upstream, in ms since the Unix epoch. */
  readonly sentMs: number
  readonly attempts: number
}

/** Selects calls of these clients and keys, or at these upstreams, that began from `fromMs` to `toMs` and ended before a third instant. */
export interface ClientUsageQuestion {
  /** Names of clients, and fingerprints of keys. */
  readonly of: readonly string[]
  /** Names of upstreams. */
  readonly at: readonly string[]
  readonly fromMs: number
  readonly toMs: number
  readonly endedBeforeMs: number
}

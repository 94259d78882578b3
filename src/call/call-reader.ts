import type { CallFilter } from './call-filter.ts'
import type { FoundSessions, SessionPage } from './call-session.ts'
import type { CallAnswer, CallQuestion } from './call-question.ts'
import type { CallType } from './call.ts'
import type { CallJson } from './call-record.ts'
import type { ServedModel } from './figures.ts'

/** The order of a list: the newest first, or the largest values of a column first. */
export type CallSort = 'started_at' | 'duration' | 'ttft' | 'cost'

/** A page of a list, newest first unless sorted otherwise. */
export interface CallPage {
  readonly limit: number
  /** Only calls with a smaller id: the id of the last call of the page before. */
  readonly beforeId?: number
  /** Other than `started_at`: the largest first, calls without a value left out, no further page. */
  readonly sort?: CallSort
  /** The smallest first, no further page. */
  readonly rising?: boolean
}

/** Calls in the order of their ends, for followers. */
export interface EndedCalls {
  readonly calls: readonly CallJson[]
  /** Pass it as `afterSeq` the next time. */
  readonly lastSeq: number
}

/** Calls of a client with a key. */
export interface SeenClient {
  readonly client: string | null
  readonly key_fingerprint: string | null
  readonly calls: number
  /** Input and output tokens, as far as reported. */
  readonly tokens: number
  /** When the last of them began: ISO 8601, UTC. */
  readonly last_at: string
}

/** Clients with their calls and tokens, and the first instant of the count, as with {@link ServedCount}. */
export interface SeenClients {
  readonly fromMs: number
  readonly clients: readonly SeenClient[]
}

/** The fields of a call that alert rules read. Names are masked, as in the row. */
export interface EndedCall {
  readonly seq: number
  /** Milliseconds since the Unix epoch. */
  readonly endedMs: number
  readonly model: string | null
  readonly client: string | null
  readonly session: string | null
  readonly upstream: string | null
  readonly isOk: boolean
  /** A client that left is no failure. */
  readonly isFailed: boolean
  readonly queueMs: number | null
  readonly ttftMs: number | null
  readonly tokens: number
  /** Null without a price. */
  readonly costUsd: number | null
  /** True for a call with usage and no price. */
  readonly isUnpriced: boolean
}

/** Bounds of ended calls: those from `fromMs` on, and those that were written after `afterSeq`. */
export interface EndedBounds {
  readonly fromMs: number
  readonly afterSeq: number
  /** Most calls returned: the newest. */
  readonly most: number
  /** The search ends after this time (ms); one page is always read. */
  readonly withinMs: number
}

/** Bounds of the calls to read: the newest first. */
export interface SlotUsesBounds {
  readonly fromMs: number
  readonly toMs: number
  /** Each upstream has slots of its own. */
  readonly upstreamName: string
  /** Most calls returned, about. */
  readonly most: number
  /** Milliseconds after which reading ends, about. */
  readonly withinMs: number
}

/** Calls that took a slot or wished to, in no order: the columns are equally long, all times in milliseconds. */
export interface SlotUses {
  /** All calls from then on are in it. */
  readonly fromMs: number
  /** When each could have taken a slot, since the Unix epoch. */
  readonly askedMs: Float64Array
  readonly waitMs: Float64Array
  /** How long it held its slot; -1 if it never had one. */
  readonly heldMs: Float64Array
}

/** The counts, and the instant of their first call: the start of the range, unless counting took too long. */
export interface ServedCount {
  readonly fromMs: number
  readonly models: readonly ServedModel[]
}

export interface Growth {
  readonly calls: number
  /** With those that are folded. */
  readonly ever: number
  readonly recent: number
  /** When the first of the recent ones began, in milliseconds since the Unix epoch. */
  readonly firstMs: number
}

/**
 * The questions about recorded calls, for any store. The required answers are in
 * `test/store/any-store.ts`. A reader may be opened with an `IsOver`: every method that may read many rows rejects
 * with `QueryTooSlowError` soon after it says so.
 */
export interface CallReader {
  /** Newest first. */
  list(filter: CallFilter, page: CallPage): Promise<readonly CallJson[]>
  /** The calls that were written after `afterSeq`, oldest first, at most `limit`. */
  endedSince(afterSeq: number, filter: CallFilter, limit: number): Promise<EndedCalls>
  /** Sessions with a call of the filter, each with the sums of all its calls. */
  sessions(filter: CallFilter, page: SessionPage): Promise<FoundSessions>
  /** The call with an id; null without one. */
  call(id: number): Promise<CallJson | null>
  /**
   * Totals and percentiles, all of one instant. Edges before `foldedUntilMs` count from the start of their
   * quarter hour; rejects with `FoldedRangeError` if two of them are then the same, or if the sums of folded
   * calls do not tell what is asked.
   */
  aggregate(question: CallQuestion): Promise<CallAnswer>
  /** Counts calls by upstream and model: reads every call of that time, the newest first, for about `withinMs` milliseconds. */
  servedModels(fromMs: number, toMs: number, withinMs: number): Promise<ServedCount>
  /** Counts calls by client and key: reads every call of that time, the newest first, for about `withinMs` milliseconds. */
  seenClients(fromMs: number, toMs: number, withinMs: number): Promise<SeenClients>
  /** How calls waited for slots, and held them. */
  slotUses(bounds: SlotUsesBounds): Promise<SlotUses>
  /** The calls that ended from `fromMs` on, or were written after `afterSeq`; the newest first. */
  endedWithin(bounds: EndedBounds): Promise<readonly EndedCall[]>
  /** Every model that was asked for and every type of call, in order, for the choices of a filter. */
  choices(): Promise<{ readonly models: readonly string[]; readonly types: readonly CallType[] }>
  /** When the first call began and the last one did, in milliseconds since the Unix epoch; `null` without calls. */
  extent(): Promise<{ readonly firstMs: number; readonly lastMs: number } | null>
  /** How many calls there are one by one, how many came since `fromMs`, and in what room of time; about, at once. */
  growth(fromMs: number): Promise<Growth>
  /** Calls before this instant, a whole quarter hour, were folded into sums; `null` if none were. */
  foldedUntilMs(): Promise<number | null>
  /** The highest `seq`, 0 when there is no call: where a follower starts. */
  lastSeq(): Promise<number>
  close(): void
}

/** From the first minute (inclusive) to the second, since the Unix epoch. */
export type MinuteSpan = readonly [fromMinute: number, pastMinute: number]

/** The gateways' figures of one bucket of time; without `minutes` the others mean nothing. */
export interface SlotUse {
  /** Minutes in which a gateway ran, each gateway's own. */
  readonly minutes: number
  readonly activeMax: number
  readonly queuedMax: number
  readonly atLimitMs: number
  /** The first and the last of those minutes, since the Unix epoch. */
  readonly firstMinute: number
  readonly lastMinute: number
  /** True if all of them are of one gateway. */
  readonly isOne: boolean
}

/** A limit of calls in flight, from the instant on at which a gateway began to hold it. */
export interface PastLimit {
  readonly atMs: number
  /** Null if the gateway that began then did not note it. */
  readonly maxConcurrent: number | null
}

/** An event in the gateways' own history. */
export interface PastEvent {
  readonly atMs: number
  readonly instance: string
  readonly kind: string
  readonly detail: string | null
}

/** The questions asked of what gateways noted of themselves. */
export interface HistoryReader {
  /** For each bucket from one edge to the next; a minute counts where it begins. */
  slotUse(edgesMs: readonly number[]): Promise<readonly SlotUse[]>
  /** The spans between two minutes of the range in which a gateway ran, in which none did. */
  missingMinutes(span: MinuteSpan): Promise<readonly MinuteSpan[]>
  /** True if any gateway ran before that minute. */
  ranBefore(minute: number): Promise<boolean>
  /** Limits that were set within the range, oldest first, after the one that held at its start. */
  limits(fromMs: number, toMs: number): Promise<readonly PastLimit[]>
  /** Tokens that the budget counts, for each bucket from one edge to the next, by the ends of calls. */
  budgetTokens(edgesMs: readonly number[]): Promise<readonly number[]>
  /** The last ones of the range, oldest first. */
  events(fromMs: number, toMs: number, limit: number): Promise<readonly PastEvent[]>
}

/** All that a store can be asked. */
export interface StoreReader extends CallReader {
  readonly history: HistoryReader
  /** Asks questions of one snapshot of the database. */
  inReadTransaction<Answer>(ask: () => Promise<Answer>): Promise<Answer>
}

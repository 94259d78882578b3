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
  /** Any sort but `started_at` lists the largest values first, without unknown ones, and has no further page. */
  readonly sort?: CallSort
  /** Lists the smallest values first; there is no further page. */
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
  /** Start of the last call: ISO 8601, UTC. */
  readonly last_at: string
}

/** Clients with their calls and tokens. `fromMs`: start of the counted calls, as in {@link ServedCount}. */
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
  /** True for a failed call. A call whose client left has not failed. */
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
  /** Each upstream has separate slots. */
  readonly upstreamName: string
  /** Most calls returned, about. */
  readonly most: number
  /** Reading ends after about this time (ms). */
  readonly withinMs: number
}

/** Calls that took a slot or waited for one, in any order, as columns of equal length. All times are in milliseconds. */
export interface SlotUses {
  /** Start of the calls that were read: ms since the Unix epoch. */
  readonly fromMs: number
  /** When each call asked for a slot: ms since the Unix epoch. */
  readonly askedMs: Float64Array
  readonly waitMs: Float64Array
  /** How long each call held its slot; -1 if it never got one. */
  readonly heldMs: Float64Array
}

/** Counts of calls by model. `fromMs`: start of the counted calls, later than the range's if counting took too long. */
export interface ServedCount {
  readonly fromMs: number
  readonly models: readonly ServedModel[]
}

/** How many calls the database has, for a forecast of its growth. Counts are approximate. */
export interface Growth {
  readonly calls: number
  /** All calls ever recorded, with folded ones. */
  readonly ever: number
  readonly recent: number
  /** Start of the first recent call, in ms since the Unix epoch. */
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
   * Totals and percentiles from one snapshot. Edges before `foldedUntilMs` move to the start of their quarter
   * hour. Rejects with `FoldedRangeError` if two edges are then equal, or if the sums of folded calls cannot
   * answer.
   */
  aggregate(question: CallQuestion): Promise<CallAnswer>
  /**
   * Counts calls by upstream and model. Reads every call of the range, newest first, for about `withinMs`
   * milliseconds.
   */
  servedModels(fromMs: number, toMs: number, withinMs: number): Promise<ServedCount>
  /** Counts calls by client and key. Reads every call of the range, newest first, for about `withinMs` milliseconds. */
  seenClients(fromMs: number, toMs: number, withinMs: number): Promise<SeenClients>
  /** How calls waited for slots, and held them. */
  slotUses(bounds: SlotUsesBounds): Promise<SlotUses>
  /** The calls that ended from `fromMs` on, or were written after `afterSeq`; the newest first. */
  endedWithin(bounds: EndedBounds): Promise<readonly EndedCall[]>
  /** All requested models and all types of calls, sorted, for the choices of a filter. */
  choices(): Promise<{ readonly models: readonly string[]; readonly types: readonly CallType[] }>
  /** Starts of the first and the last call, in ms since the Unix epoch; `null` without calls. */
  extent(): Promise<{ readonly firstMs: number; readonly lastMs: number } | null>
  /** Counts calls: all, and those since `fromMs` (ms since the Unix epoch). Approximate, and fast. */
  growth(fromMs: number): Promise<Growth>
  /** Calls before this instant, a whole quarter hour, were folded into sums; `null` if none were. */
  foldedUntilMs(): Promise<number | null>
  /** The highest `seq`, also of folded calls; 0 without any. A follower starts there. */
  lastSeq(): Promise<number>
  close(): void
}

/** Minutes since the Unix epoch, from the first (inclusive) to the second. */
export type MinuteSpan = readonly [fromMinute: number, pastMinute: number]

/** The gateways' figures of a bucket of time. If `minutes` is 0, the other figures mean nothing. */
export interface SlotUse {
  /** Minutes in which a gateway ran; two gateways count twice. */
  readonly minutes: number
  readonly activeMax: number
  readonly queuedMax: number
  readonly atLimitMs: number
  /** The first and the last of these minutes, since the Unix epoch. */
  readonly firstMinute: number
  readonly lastMinute: number
  /** True if all these minutes are of one gateway. */
  readonly isOne: boolean
}

/** A limit of calls in flight, and when a gateway began to apply it. */
export interface PastLimit {
  readonly atMs: number
  /** The limit; null if the gateway did not record it. */
  readonly maxConcurrent: number | null
}

/** An event in the gateways' own history. */
export interface PastEvent {
  readonly atMs: number
  readonly instance: string
  readonly kind: string
  readonly detail: string | null
}

/** Answers from the gateways' own history: minutes, limits and events. */
export interface HistoryReader {
  /** Use of the slots for each bucket, from one edge to the next. A minute counts in the bucket in which it begins. */
  slotUse(edgesMs: readonly number[]): Promise<readonly SlotUse[]>
  /** Spans without a gateway, each between two minutes of the range in which a gateway ran. */
  missingMinutes(span: MinuteSpan): Promise<readonly MinuteSpan[]>
  /** True if any gateway ran before that minute. */
  ranBefore(minute: number): Promise<boolean>
  /** The limit at the start of the range, then the limits that were set within it, oldest first. */
  limits(fromMs: number, toMs: number): Promise<readonly PastLimit[]>
  /** Tokens that the budget counts, for each bucket from one edge to the next. A call counts when it ends. */
  budgetTokens(edgesMs: readonly number[]): Promise<readonly number[]>
  /** The last events of the range, oldest first, at most `limit`. */
  events(fromMs: number, toMs: number, limit: number): Promise<readonly PastEvent[]>
}

/** All questions that a store answers. */
export interface StoreReader extends CallReader {
  readonly history: HistoryReader
  /** Asks questions of one snapshot of the database. */
  inReadTransaction<Answer>(ask: () => Promise<Answer>): Promise<Answer>
}

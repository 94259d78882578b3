import { getOrAdd } from '../../lib/get-or-add.ts'
import type { Caller, MinuteStake, QueueOrder } from './admission.ts'
import type { Owner } from './owner.ts'
import { type WaitingSince, SortedLine, WaitingLine, compareAge } from './waiting-line.ts'

/** A waiting call, to be kept for `SlotScheduler.cancel`. */
export interface Waiter<T> extends WaitingSince {
  readonly call: T
  readonly order: QueueOrder
  readonly caller: Caller
  stake: MinuteStake | null
  subQueue: SubQueue<T>
}

/** Calls that wait for one another: those of one client, or of all whom nothing tells apart, for the same limits a minute. */
export interface SubQueue<T> {
  readonly arrival: WaitingLine<Waiter<T>>
  readonly back: SortedLine<Waiter<T>>
  readonly of: Queuer<T>
  readonly group: object | null
}

/** A client, or all whom nothing tells apart. */
export interface Queuer<T> {
  readonly client: string
  /** The owner of the calls, if clients take turns. */
  readonly owner: Owner | ''
  /** By the limits a minute of their calls. */
  readonly subQueues: Map<object | null, SubQueue<T>>
  /** Slots that they may hold together. */
  most: number
  /** Slots that they hold; counted only if there is such a limit. */
  active: number
}

export function newQueuer<T>(client: string, owner: Owner | '' = ''): Queuer<T> {
  return { client, owner, subQueues: new Map(), most: Infinity, active: 0 }
}

export function subQueueOf<T>(queuer: Queuer<T>, group: object | null): SubQueue<T> {
  const make = (): SubQueue<T> => ({
    of: queuer,
    group,
    back: new SortedLine(),
    arrival: new WaitingLine(),
  })
  return getOrAdd(queuer.subQueues, group, make)
}

export function sizeOf({ subQueues }: Queuer<unknown>): number {
  let size = 0
  for (const { back, arrival } of subQueues.values()) size += back.size + arrival.size
  return size
}

/** Slots that a client may still take. */
export function room({ most, active }: Queuer<unknown>): number {
  return Math.max(0, most - active)
}

/** Calls of a subQueue that no limit a minute holds back: of those with such limits, one at a time. */
export function mayGo({ group, back, arrival }: SubQueue<unknown>, nowMs: number): number {
  if (group === null) return Infinity
  const stake = (back.head ?? arrival.head)?.stake ?? null
  return stake === null || stake.waitMs(nowMs, new Set()) === 0 ? 1 : 0
}

/** The subQueue whose first call has waited longest. */
export function oldest<T>(subQueues: ReadonlySet<SubQueue<T>>, order: QueueOrder): SubQueue<T> | undefined {
  let found: SubQueue<T> | undefined
  let first: Waiter<unknown> | undefined
  for (const subQueue of subQueues) {
    const { head } = subQueue[order]
    if (head !== undefined && (first === undefined || compareAge(head, first) < 0))
      [found, first] = [subQueue, head]
  }
  return found
}

/** The subQueues of a client: the one whose first call came first goes first. */
export function inOrder<T>({ subQueues }: Queuer<T>, order: QueueOrder): Iterable<SubQueue<T>> {
  if (subQueues.size < 2) return subQueues.values()
  const seqOf = (subQueue: SubQueue<T>): number => subQueue[order].head?.seq ?? 0
  return Array.from(subQueues.values()).sort((one, other) => seqOf(one) - seqOf(other))
}

/** A subQueue, and which of its first calls is meant. */
export interface QueueHead<T> {
  readonly subQueue: SubQueue<T>
  readonly order: QueueOrder
}

/** Negative if the first call of one has waited longer; of two that have waited as long, one that comes back goes first. */
export function byAge(one: QueueHead<unknown>, other: QueueHead<unknown>): number {
  const [own, others] = [one.subQueue[one.order].head ?? last, other.subQueue[other.order].head ?? last]
  if (own.sinceMs !== others.sinceMs || one.order === other.order) return compareAge(own, others)
  return one.order === 'back' ? -1 : 1
}

/** After all others. */
const last: WaitingSince = { seq: Infinity, sinceMs: Infinity }

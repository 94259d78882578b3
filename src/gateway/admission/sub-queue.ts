import { getOrAdd } from '../../lib/get-or-add.ts'
import type { Caller, MinuteStake, QueueOrder } from './admission.ts'
import type { Owner } from './owner.ts'
import { type WaitingSince, SortedLine, WaitingLine, compareAge } from './waiting-line.ts'

/** A waiting call, for `SlotScheduler.cancel`. */
export interface Waiter<T> extends WaitingSince {
  readonly call: T
  readonly order: QueueOrder
  readonly caller: Caller
  stake: MinuteStake | null
  subQueue: SubQueue<T>
}

/**
 * The waiting calls of one client, or of all clients, that need the same limits a minute. The calls are served in
 * order.
 */
export interface SubQueue<T> {
  readonly arrival: WaitingLine<Waiter<T>>
  readonly back: SortedLine<Waiter<T>>
  readonly of: Queuer<T>
  readonly group: object | null
}

/** A client, or with `fifo` all clients without a limit. */
export interface Queuer<T> {
  readonly client: string
  /** The owner of the calls, if clients take turns. */
  readonly owner: Owner | ''
  /** The sub-queues, by the group of the calls' limits a minute; null for calls without such limits. */
  readonly subQueues: Map<object | null, SubQueue<T>>
  /** Most slots of its calls. */
  most: number
  /** Slots that its calls use; counted only if `most` is finite. */
  active: number
}

/** A queuer without calls and without a limit. */
export function newQueuer<T>(client: string, owner: Owner | '' = ''): Queuer<T> {
  return { client, owner, subQueues: new Map(), most: Infinity, active: 0 }
}

/** The sub-queue of a group of limits a minute, which is created if it is missing. */
export function subQueueOf<T>(queuer: Queuer<T>, group: object | null): SubQueue<T> {
  const make = (): SubQueue<T> => ({
    of: queuer,
    group,
    back: new SortedLine(),
    arrival: new WaitingLine(),
  })
  return getOrAdd(queuer.subQueues, group, make)
}

/** How many calls of the queuer wait. */
export function sizeOf({ subQueues }: Queuer<unknown>): number {
  let size = 0
  for (const { back, arrival } of subQueues.values()) size += back.size + arrival.size
  return size
}

/** Slots that a client may still take. */
export function room({ most, active }: Queuer<unknown>): number {
  return Math.max(0, most - active)
}

/** How many calls of a sub-queue could go now. Calls with limits a minute go one at a time. */
export function mayGo({ group, back, arrival }: SubQueue<unknown>, nowMs: number): number {
  if (group === null) return Infinity
  const stake = (back.head ?? arrival.head)?.stake ?? null
  return stake === null || stake.waitMs(nowMs, new Set()) === 0 ? 1 : 0
}

/** The sub-queue whose first call has waited longest. */
export function oldest<T>(subQueues: ReadonlySet<SubQueue<T>>, order: QueueOrder): SubQueue<T> | undefined {
  let result: SubQueue<T> | undefined
  let first: Waiter<unknown> | undefined
  for (const subQueue of subQueues) {
    const { head } = subQueue[order]
    if (head !== undefined && (first === undefined || compareAge(head, first) < 0))
      [result, first] = [subQueue, head]
  }
  return result
}

/** The sub-queues of a client, in the order of their first calls. */
export function inOrder<T>({ subQueues }: Queuer<T>, order: QueueOrder): Iterable<SubQueue<T>> {
  if (subQueues.size < 2) return subQueues.values()
  const seqOf = (subQueue: SubQueue<T>): number => subQueue[order].head?.seq ?? 0
  return Array.from(subQueues.values()).sort((a, b) => seqOf(a) - seqOf(b))
}

/** The first call of a sub-queue: of its arrivals, or of the calls that come back. */
export interface QueueHead<T> {
  readonly subQueue: SubQueue<T>
  readonly order: QueueOrder
}

/** Negative if `first` has waited longer; of equal waits, a call that comes back goes first. */
export function byAge(first: QueueHead<unknown>, second: QueueHead<unknown>): number {
  const [a, b] = [first.subQueue[first.order].head ?? last, second.subQueue[second.order].head ?? last]
  if (a.sinceMs !== b.sinceMs || first.order === second.order) return compareAge(a, b)
  return first.order === 'back' ? -1 : 1
}

/** A placeholder that sorts after all calls. */
const last: WaitingSince = { seq: Infinity, sinceMs: Infinity }

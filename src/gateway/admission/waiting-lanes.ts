import { getOrAdd } from '../../lib/get-or-add.ts'
import type { Caller, MinuteStake, QueueOrder } from './admission.ts'
import type { Owner } from './owner.ts'
import { type Placeable, SortedLine, WaitingLine, compared } from './waiting-line.ts'

/** A waiting call, to be kept for `SlotScheduler.cancel`. */
export interface Waiter<T> extends Placeable {
  readonly call: T
  readonly order: QueueOrder
  readonly caller: Caller
  stake: MinuteStake | null
  lane: WaitingLane<T>
}

/** Calls that wait for one another: those of one client, or of all whom nothing tells apart, for the same limits a minute. */
export interface WaitingLane<T> {
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
  readonly lanes: Map<object | null, WaitingLane<T>>
  /** Slots that they may hold together. */
  most: number
  /** Slots that they hold; counted only if there is such a limit. */
  active: number
}

export function newQueuer<T>(client: string, owner: Owner | '' = ''): Queuer<T> {
  return { client, owner, lanes: new Map(), most: Infinity, active: 0 }
}

export function laneOf<T>(queuer: Queuer<T>, group: object | null): WaitingLane<T> {
  const make = (): WaitingLane<T> => ({
    of: queuer,
    group,
    back: new SortedLine(),
    arrival: new WaitingLine(),
  })
  return getOrAdd(queuer.lanes, group, make)
}

export function sizeOf({ lanes }: Queuer<unknown>): number {
  let size = 0
  for (const { back, arrival } of lanes.values()) size += back.size + arrival.size
  return size
}

/** Slots that a client may still take. */
export function room({ most, active }: Queuer<unknown>): number {
  return Math.max(0, most - active)
}

/** Calls of a lane that no limit a minute holds back: of those with such limits, one at a time. */
export function mayGo({ group, back, arrival }: WaitingLane<unknown>, nowMs: number): number {
  if (group === null) return Infinity
  const stake = (back.head ?? arrival.head)?.stake ?? null
  return stake === null || stake.waitMs(nowMs, new Set()) === 0 ? 1 : 0
}

/** The lane whose first call has waited longest. */
export function oldest<T>(lanes: ReadonlySet<WaitingLane<T>>, order: QueueOrder): WaitingLane<T> | undefined {
  let found: WaitingLane<T> | undefined
  let first: Waiter<unknown> | undefined
  for (const lane of lanes) {
    const { head } = lane[order]
    if (head !== undefined && (first === undefined || compared(head, first) < 0))
      [found, first] = [lane, head]
  }
  return found
}

/** The lanes of a client: the one whose first call came first goes first. */
export function inOrder<T>({ lanes }: Queuer<T>, order: QueueOrder): Iterable<WaitingLane<T>> {
  if (lanes.size < 2) return lanes.values()
  const seqOf = (lane: WaitingLane<T>): number => lane[order].head?.seq ?? 0
  return Array.from(lanes.values()).sort((one, other) => seqOf(one) - seqOf(other))
}

/** A lane, and which of its first calls is meant. */
export interface QueuePlace<T> {
  readonly lane: WaitingLane<T>
  readonly order: QueueOrder
}

/** Negative if the first call of one has waited longer; of two that have waited as long, one that comes back goes first. */
export function byAge(one: QueuePlace<unknown>, other: QueuePlace<unknown>): number {
  const [own, others] = [one.lane[one.order].head ?? last, other.lane[other.order].head ?? last]
  if (own.sinceMs !== others.sinceMs || one.order === other.order) return compared(own, others)
  return one.order === 'back' ? -1 : 1
}

/** After all others. */
const last: Placeable = { seq: Infinity, sinceMs: Infinity }

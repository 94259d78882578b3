import type { Clock } from '../../call/clock.ts'
import type { Destination } from '../call/attempt.ts'
import type { Replicas, TakenReplica } from '../call/call-upstream.ts'

/** One that is broken is behind the others for so long, and twice as long each further time. */
const firstRestMs = 1000
const longestRestMs = 60_000
/** So many sessions are remembered, those of the latest calls. */
const mostSessions = 10_000

/** One address of an upstream. */
class Replica {
  readonly url: string
  destination: Destination
  inFlight = 0
  /** On the clock of calls. */
  restsUntilMs = 0
  restMs = 0
  /** The last failure was that nobody could connect to it. */
  isUnreachable = false
  /** When it was last taken, in calls. */
  turn = 0
  /** The turn of the newest call that it failed. */
  failedTurn = 0
  /** Since when it has given no good answer, in ms since the Unix epoch; null if the last one was good. */
  failingSinceMs: number | null = null
  problem: string | null = null

  constructor(url: string, destination: Destination) {
    this.url = url
    this.destination = destination
  }
}

/** How a replica is. */
export interface ReplicaState {
  readonly host: string
  readonly inFlight: number
  readonly failingSinceMs: number | null
  readonly problem: string | null
}

/**
 * Spreads the calls of one upstream over its replicas: to the one with the fewest in flight, but where a session's last call
 * went, as its prompt is known there. One that lately failed a call comes after the others: a server that fails at once
 * has always the fewest in flight. Nobody is asked how it is: what calls meet is what is known.
 */
export class ReplicaSet implements Replicas {
  readonly #clock: Clock
  /** How many calls one replica takes at a time until others are preferred to the one that a session knows. */
  #share = 1
  #replicas: readonly Replica[] = []
  readonly #sessions = new Map<string, Replica>()
  #turn = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** These are its addresses from now on; of one that was there before, what is known of it stays. */
  set(destinations: ReadonlyMap<string, Destination>, maxConcurrent: number): void {
    this.#replicas = [...destinations].map(([url, destination]) => {
      const replica = this.#replicas.find((each) => each.url === url) ?? new Replica(url, destination)
      replica.destination = destination
      return replica
    })
    this.#share = Math.ceil(maxConcurrent / this.#replicas.length)
  }

  get allRest(): boolean {
    const nowMs = this.#clock.now()
    return this.#replicas.every(({ restsUntilMs, isUnreachable }) => isUnreachable && restsUntilMs > nowMs)
  }

  states(): readonly ReplicaState[] {
    return this.#replicas.map(({ destination, inFlight, failingSinceMs, problem }) => {
      return { host: destination.base.host, inFlight, failingSinceMs, problem }
    })
  }

  take(session: string | null, tried: ReadonlySet<string>): TakenReplica | null {
    const replica = this.#choose(session, tried)
    if (replica === undefined) return null
    const turn = ++this.#turn
    replica.inFlight++
    replica.turn = turn
    if (session !== null && this.#replicas.length > 1) this.#remember(session, replica)
    return {
      url: replica.url,
      destination: replica.destination,
      answered: () => answered(replica, turn),
      unreachable: (reason) => this.#failed(replica, reason, true),
      broken: (reason) => this.#failed(replica, reason, false),
      [Symbol.dispose]: () => void replica.inFlight--,
    }
  }

  #choose(session: string | null, tried: ReadonlySet<string>): Replica | undefined {
    const untried = this.#replicas.filter(({ url }) => !tried.has(url))
    const nowMs = this.#clock.now()
    const awake = untried.filter(({ restsUntilMs }) => restsUntilMs <= nowMs)
    const known = session === null ? undefined : this.#sessions.get(session)
    if (known !== undefined && awake.includes(known) && known.inFlight < this.#share) return known
    if (awake.length > 0) return awake.toSorted(byUse)[0]
    return untried.toSorted((one, other) => one.restMs - other.restMs || byUse(one, other))[0]
  }

  #remember(session: string, replica: Replica): void {
    this.#sessions.delete(session)
    this.#sessions.set(session, replica)
    if (this.#sessions.size <= mostSessions) return
    for (const oldest of this.#sessions.keys()) {
      this.#sessions.delete(oldest)
      break
    }
  }

  #failed(replica: Replica, reason: string, isUnreachable: boolean): void {
    const nowMs = this.#clock.now()
    replica.problem = reason
    replica.isUnreachable = isUnreachable
    replica.failedTurn = this.#turn
    replica.failingSinceMs ??= this.#clock.wallTime()
    // Calls that met the same failure at the same time count as one.
    if (replica.restsUntilMs > nowMs) return
    replica.restMs = Math.min(longestRestMs, Math.max(firstRestMs, 2 * replica.restMs))
    replica.restsUntilMs = nowMs + replica.restMs
  }
}

/** The fewest in flight first; of as many, the one whose last call is longest ago. */
function byUse(one: Replica, other: Replica): number {
  return one.inFlight - other.inFlight || one.turn - other.turn
}

/** Of a call that began at this turn. One that began before the last failure says nothing new. */
function answered(replica: Replica, turn: number): void {
  if (turn <= replica.failedTurn) return
  replica.restMs = 0
  replica.restsUntilMs = 0
  replica.isUnreachable = false
  replica.failingSinceMs = null
  replica.problem = null
}

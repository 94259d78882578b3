import type { Clock } from '../../call/clock.ts'
import type { Destination } from '../call/attempt.ts'
import type { Replicas, TakenReplica } from '../call/call-upstream.ts'

/** One that cannot be connected to is left alone for so long, and twice as long each further time. */
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
  /** When it was last taken, in calls. */
  turn = 0
  /** Since when it cannot be connected to, in ms since the Unix epoch; null if it can, as far as is known. */
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
 * went, as its prompt is known there. Nobody is asked how it is: what calls meet is what is known.
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

  get count(): number {
    return this.#replicas.length
  }

  get allRest(): boolean {
    const nowMs = this.#clock.now()
    return this.#replicas.every(({ restsUntilMs }) => restsUntilMs > nowMs)
  }

  states(): readonly ReplicaState[] {
    return this.#replicas.map(({ destination, inFlight, failingSinceMs, problem }) => {
      return { host: destination.base.host, inFlight, failingSinceMs, problem }
    })
  }

  take(session: string | null, tried: readonly Destination[]): TakenReplica {
    const replica = this.#choose(session, tried)
    replica.inFlight++
    replica.turn = ++this.#turn
    if (session !== null && this.#replicas.length > 1) this.#remember(session, replica)
    return {
      destination: replica.destination,
      reached: () => reached(replica),
      unreachable: (reason) => this.#unreachable(replica, reason),
      [Symbol.dispose]: () => void replica.inFlight--,
    }
  }

  #choose(session: string | null, tried: readonly Destination[]): Replica {
    const untried = this.#replicas.filter(({ destination }) => !tried.includes(destination))
    const nowMs = this.#clock.now()
    const awake = untried.filter(({ restsUntilMs }) => restsUntilMs <= nowMs)
    // If all rest, the one that has rested longest is as good as any.
    const usable = awake.length > 0 ? awake : untried
    const known = session === null ? undefined : this.#sessions.get(session)
    if (known !== undefined && awake.includes(known) && known.inFlight < this.#share) return known
    return usable.reduce((best, each) => (isBetter(each, best) ? each : best))
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

  #unreachable(replica: Replica, reason: string): void {
    const nowMs = this.#clock.now()
    replica.problem = reason
    replica.failingSinceMs ??= this.#clock.wallTime()
    // Calls that met the same failure at the same time count as one.
    if (replica.restsUntilMs > nowMs) return
    replica.restMs = Math.min(longestRestMs, Math.max(firstRestMs, 2 * replica.restMs))
    replica.restsUntilMs = nowMs + replica.restMs
  }
}

function isBetter(one: Replica, other: Replica): boolean {
  return one.inFlight - other.inFlight < 0 || (one.inFlight === other.inFlight && one.turn < other.turn)
}

function reached(replica: Replica): void {
  replica.restMs = 0
  replica.restsUntilMs = 0
  replica.failingSinceMs = null
  replica.problem = null
}

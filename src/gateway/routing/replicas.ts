import { backoffMs } from '../../lib/backoff.ts'
import type { RawHeaders } from '../../call/response-head.ts'
import type { Clock } from '../../call/clock.ts'
import type { UpstreamBase } from '../http/target.ts'
import type { Transport } from '../upstream/transport.ts'

/** A replica that failed is behind the others for so long, and twice as long each further time. */
const backoff = { firstMs: 1000, longestMs: 60_000 } as const
/** So many sessions are remembered, those of the latest calls. */
const mostSessions = 10_000

const noneTried: ReadonlySet<string> = new Set()

/** One address, and how calls are sent there. */
export interface Endpoint {
  readonly transport: Transport
  readonly base: UpstreamBase
  /** The gateway's own credential: name and value of a header, or nothing. */
  readonly keyHeader: RawHeaders
  /** The client's credentials are not for this upstream. */
  readonly stripsCredentials: boolean
}

/** One address of an upstream, and what calls have met there. */
class Replica {
  readonly url: string
  endpoint: Endpoint
  inFlight = 0
  /** On the clock of calls. */
  restsUntilMs = 0
  /** In a row. */
  failures = 0
  /** The last failure was that nobody could connect to it. */
  isUnreachable = false
  /** When it was last taken, in calls. */
  lastUse = 0
  /** The turn of the newest call that it failed. */
  failedUse = 0
  /** Since when it has given no good answer, in ms since the Unix epoch; null if the last one was good. */
  failingSinceMs: number | null = null
  problem: string | null = null

  constructor(url: string, endpoint: Endpoint) {
    this.url = url
    this.endpoint = endpoint
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
export class Replicas {
  readonly #clock: Clock
  /** How many calls one replica takes at a time until others are preferred to the one that a session knows. */
  #share = 1
  #replicas: readonly Replica[] = []
  readonly #sessions = new Map<string, Replica>()
  #turn = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** These are the addresses from now on; what is known of one that was there before stays. */
  set(endpoints: ReadonlyMap<string, Endpoint>, maxConcurrent: number): void {
    this.#replicas = [...endpoints].map(([url, endpoint]) => {
      const replica = this.#replicas.find((each) => each.url === url) ?? new Replica(url, endpoint)
      replica.endpoint = endpoint
      return replica
    })
    this.#share = Math.ceil(maxConcurrent / this.#replicas.length)
  }

  /** Nobody could connect to any of them lately, so that they are left alone. */
  get allUnreachable(): boolean {
    const nowMs = this.#clock.now()
    return this.#replicas.every(({ restsUntilMs, isUnreachable }) => isUnreachable && restsUntilMs > nowMs)
  }

  states(): readonly ReplicaState[] {
    return this.#replicas.map(({ endpoint, inFlight, failingSinceMs, problem }) => {
      return { host: endpoint.base.host, inFlight, failingSinceMs, problem }
    })
  }

  /**
   * The replica for an attempt, none of the addresses that were tried; null if there is no other. `session`: the
   * call's, which goes where its last call went as long as that has a slot free.
   */
  choose(session: string | null, tried: ReadonlySet<string> = noneTried): ReplicaAttempt | null {
    const [first] = this.#replicas
    const isOnly = this.#replicas.length === 1 && first !== undefined && !tried.has(first.url)
    const replica = isOnly ? first : this.#choose(session, tried)
    if (replica === undefined) return null
    replica.inFlight++
    replica.lastUse = ++this.#turn
    if (session !== null && this.#replicas.length > 1) this.#remember(session, replica)
    return new ReplicaAttempt(replica, this)
  }

  #choose(session: string | null, tried: ReadonlySet<string>): Replica | undefined {
    const untried = this.#replicas.filter(({ url }) => !tried.has(url))
    const nowMs = this.#clock.now()
    const awake = untried.filter(({ restsUntilMs }) => restsUntilMs <= nowMs)
    const known = session === null ? undefined : this.#sessions.get(session)
    if (known !== undefined && awake.includes(known) && known.inFlight < this.#share) return known
    if (awake.length > 0) return awake.toSorted(byUse)[0]
    return untried.toSorted((one, other) => one.failures - other.failures || byUse(one, other))[0]
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

  failed(replica: Replica, reason: string, isUnreachable: boolean): void {
    const nowMs = this.#clock.now()
    replica.problem = reason
    replica.isUnreachable = isUnreachable
    replica.failedUse = this.#turn
    replica.failingSinceMs ??= this.#clock.wallTime()
    // Calls that met the same failure at the same time count as one.
    if (replica.restsUntilMs > nowMs) return
    replica.restsUntilMs = nowMs + backoffMs(backoff, ++replica.failures)
  }
}

/** A replica while an attempt is made there. */
export class ReplicaAttempt implements Disposable {
  readonly #replica: Replica
  readonly #replicas: Replicas
  readonly #turn: number

  constructor(replica: Replica, replicas: Replicas) {
    this.#replica = replica
    this.#replicas = replicas
    this.#turn = replica.lastUse
  }

  get url(): string {
    return this.#replica.url
  }

  get endpoint(): Endpoint {
    return this.#replica.endpoint
  }

  /** It has answered well. A call that began before the last failure says nothing new. */
  answered(): void {
    const replica = this.#replica
    if (replica.failingSinceMs === null || this.#turn <= replica.failedUse) return
    replica.failures = 0
    replica.restsUntilMs = 0
    replica.isUnreachable = false
    replica.failingSinceMs = null
    replica.problem = null
  }

  /** It answered badly or broke off, for this reason; `isUnreachable`: nobody could connect to it. */
  failed(reason: string, isUnreachable: boolean): void {
    this.#replicas.failed(this.#replica, reason, isUnreachable)
  }

  [Symbol.dispose](): void {
    this.#replica.inFlight--
  }
}

/** The fewest in flight first; of as many, the one whose last call is longest ago. */
function byUse(one: Replica, other: Replica): number {
  return one.inFlight - other.inFlight || one.lastUse - other.lastUse
}

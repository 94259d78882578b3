import { backoffMs } from '../../lib/backoff.ts'
import type { RawHeaders } from '../../call/response-head.ts'
import type { Clock } from '../../call/clock.ts'
import type { UpstreamBase } from '../http/target.ts'
import type { Transport } from '../upstream/transport.ts'

/** How long a failed replica comes after the others; doubled with each further failure. */
const backoff = { firstMs: 1000, longestMs: 60_000 } as const
/** Most sessions in memory; the sessions of the latest calls stay. */
const mostSessions = 10_000

const noneTried: ReadonlySet<string> = new Set()

/** An address of an upstream, and how calls are sent there. */
export interface Endpoint {
  readonly transport: Transport
  readonly base: UpstreamBase
  /** The gateway's own credential: name and value of a header; empty without one. */
  readonly keyHeader: RawHeaders
  /** True if the client's credentials must not go to this upstream. */
  readonly stripsCredentials: boolean
}

/** An address of an upstream, and the failures of calls there. */
class Replica {
  readonly url: string
  endpoint: Endpoint
  inFlight = 0
  /** The replica rests, and comes after the others, until this time (monotonic ms). */
  restsUntilMs = 0
  /** Failures in a row. */
  failures = 0
  /** True if at the last failure no connection could be made. */
  isUnreachable = false
  /** The number of the replica's last call. */
  lastUse = 0
  /** The number of the newest call at the last failure. */
  failedUse = 0
  /** When the replica began to fail, in ms since the Unix epoch; null after a good answer. */
  failingSinceMs: number | null = null
  problem: string | null = null

  constructor(url: string, endpoint: Endpoint) {
    this.url = url
    this.endpoint = endpoint
  }
}

/** The state of a replica. */
export interface ReplicaState {
  readonly host: string
  readonly inFlight: number
  readonly failingSinceMs: number | null
  readonly problem: string | null
}

/**
 * Spreads the calls of one upstream over its replicas. A call goes to the replica of its session's last call,
 * which has the prompt cached; without one, to the replica with the fewest calls in flight. A replica that
 * failed lately comes last, because a server that fails at once has few calls in flight. There are no health
 * checks; only calls reveal failures.
 */
export class Replicas {
  readonly #clock: Clock
  /** With this many calls in flight, a replica is not preferred for its sessions. */
  #share = 1
  #replicas: readonly Replica[] = []
  readonly #sessions = new Map<string, Replica>()
  #turn = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Sets the addresses. A known address keeps its state. */
  set(endpoints: ReadonlyMap<string, Endpoint>, maxConcurrent: number): void {
    this.#replicas = [...endpoints].map(([url, endpoint]) => {
      const replica = this.#replicas.find((earlier) => earlier.url === url) ?? new Replica(url, endpoint)
      replica.endpoint = endpoint
      return replica
    })
    this.#share = Math.ceil(maxConcurrent / this.#replicas.length)
  }

  /** True while every replica rests because no connection could be made. */
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
   * Chooses a replica for an attempt, except the addresses in `tried`; null if none is left. A `session`
   * keeps its replica while that is not full.
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
    const usual = session === null ? undefined : this.#sessions.get(session)
    if (usual !== undefined && awake.includes(usual) && usual.inFlight < this.#share) return usual
    if (awake.length > 0) return awake.toSorted(byUse)[0]
    return untried.toSorted((a, b) => a.failures - b.failures || byUse(a, b))[0]
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
    // Several calls that meet the same failure at the same time count as one.
    if (replica.restsUntilMs > nowMs) return
    replica.restsUntilMs = nowMs + backoffMs(backoff, ++replica.failures)
  }
}

/** An attempt at a replica. Dispose it at the end. */
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

  /** Call it on a good answer. An answer to a call from before the last failure is ignored. */
  answered(): void {
    const replica = this.#replica
    if (replica.failingSinceMs === null || this.#turn <= replica.failedUse) return
    replica.failures = 0
    replica.restsUntilMs = 0
    replica.isUnreachable = false
    replica.failingSinceMs = null
    replica.problem = null
  }

  /** Call it on a failure. `isUnreachable`: no connection could be made. */
  failed(reason: string, isUnreachable: boolean): void {
    this.#replicas.failed(this.#replica, reason, isUnreachable)
  }

  [Symbol.dispose](): void {
    this.#replica.inFlight--
  }
}

/** The fewest calls in flight first, then the longest time since the last call. */
function byUse(first: Replica, second: Replica): number {
  return first.inFlight - second.inFlight || first.lastUse - second.lastUse
}

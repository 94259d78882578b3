import type { Admission } from '../admission/admission.ts'
import type { UsageInjection } from '../usage-injection/usage-injection.ts'
import type { Destination } from './attempt.ts'
import type { AttemptsOptions } from './attempts.ts'
import type { Retries429 } from './retries-429.ts'
import type { RunningCall } from './running-call.ts'

/** An upstream as calls see it: whose slots they wait for, where they go, how they are tried again. */
export interface CallUpstream {
  /** Null for the one of `--upstream`. */
  readonly name: string | null
  readonly admission: Admission
  readonly retries: Retries429
  readonly usageInjection: UsageInjection
  /** Where a call goes; with replicas, until one of them is chosen. */
  readonly destination: Destination
  /** Null if there is but one address, to which every attempt goes. */
  readonly replicas: Replicas | null
}

/** The addresses of one upstream. */
export interface Replicas {
  /** Nobody could connect to any of them lately, so that they are left alone. */
  readonly allRest: boolean
  /**
   * The one that an attempt goes to, none of the addresses that were tried; null if there is no other. `session`: the
   * call's, which goes where its last call went as long as that has a slot free.
   */
  take(session: string | null, tried: ReadonlySet<string>): TakenReplica | null
}

/** A replica while an attempt is made there. */
export interface TakenReplica extends Disposable {
  readonly url: string
  readonly destination: Destination
  /** It has answered well. */
  answered(): void
  /** It could not be connected to, for this reason: it is left alone for a while. */
  unreachable(reason: string): void
  /** It answered badly or broke off, for this reason: for a while it is behind the others. */
  broken(reason: string): void
}

/** Where a call goes on that its upstream could not take. */
export interface Fallback {
  readonly upstream: CallUpstream
  /** What its model is called there; null for the same. */
  readonly model: string | null
}

/** Upstreams besides the default one. */
export interface Routes {
  /** The one that a path names with its first segment, and the path behind that; null if it names none. */
  byPath(path: string): { readonly upstream: CallUpstream; readonly path: string } | null
  /** The one of the model that the call asks for or about, else the default one. Throws if nobody can know its model. */
  byModel(running: RunningCall): CallUpstream
  /** Whether a call may be answered by others than its upstream. */
  mayGoOn(running: RunningCall): boolean
  /** The next one for a call; null if there is none, or it has been there. */
  fallback(running: RunningCall, tried: ReadonlySet<CallUpstream>): Fallback | null
  /** Answers a call that asks for the models of all; false if it is none, or nobody told any. */
  listModels(running: RunningCall, options: AttemptsOptions): Promise<boolean>
}

/** The upstreams as they are now; null if there is only the default one. */
export interface Routing {
  readonly routes: Routes | null
  /** Refuses who waits for a slot of any of them, now and from now on. */
  drain(): void
}

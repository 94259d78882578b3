import { remembered } from '../../lib/remembered.ts'
import { type UpstreamSetting, defaultName, patternMatcher } from '../../options/upstream-settings.ts'
import type { AttemptsOptions } from '../call/attempts.ts'
import type { CallUpstream, Fallback, Routes } from '../call/call-upstream.ts'
import { Failure } from '../../call/failure.ts'
import { type RunningCall, unreadableBody } from '../call/running-call.ts'
import { listModels } from './list-models.ts'
import type { NamedUpstream } from './named-upstream.ts'

/** Longest name of a model that is remembered, in characters. */
const longestModel = 200

/** Which upstream a call goes to: by its path, else by its model, else the default one. */
export class NamedRoutes implements Routes {
  readonly #byName: ReadonlyMap<string, NamedUpstream>
  readonly #default: CallUpstream
  readonly #hasPatterns: boolean
  readonly #ofModel: (model: string) => CallUpstream

  /** `named` in the order in which their patterns are asked. */
  constructor(named: readonly NamedUpstream[], byDefault: CallUpstream) {
    this.#byName = new Map(named.map((upstream) => [upstream.name, upstream]))
    this.#default = byDefault
    const patterns = named.flatMap((upstream) => {
      const { models = [] } = upstream.setting
      return models.map((pattern) => ({ upstream, takes: patternMatcher(pattern) }))
    })
    this.#hasPatterns = patterns.length > 0
    this.#ofModel = remembered(
      (model) => patterns.find(({ takes }) => takes(model))?.upstream ?? byDefault,
      longestModel,
    )
  }

  byPath(path: string): { readonly upstream: CallUpstream; readonly path: string } | null {
    const end = path.indexOf('/', 1)
    const upstream = end < 0 ? undefined : this.#byName.get(path.slice(1, end))
    return upstream === undefined ? null : { upstream, path: path.slice(end) }
  }

  byModel({ facts, path, arrived }: RunningCall): CallUpstream {
    if (facts?.isUnreadable === true && this.#hasPatterns) {
      const advice = 'Send it without a coding, or name the upstream in the path.'
      throw new Failure('unreadable_body', `${unreadableBody(arrived.head)} ${advice}`, {
        headers: ['Accept-Encoding', 'gzip, deflate, br, zstd'],
      })
    }
    const model = facts?.model ?? path.model
    return model === null ? this.#default : this.#ofModel(model)
  }

  mayGoOn(running: RunningCall): boolean {
    const { name } = running.upstream
    return (
      this.#asksForAll(running) || (name !== null && this.#byName.get(name)?.setting.fallback !== undefined)
    )
  }

  fallback({ upstream, facts }: RunningCall, tried: ReadonlySet<CallUpstream>): Fallback | null {
    const { fallback } = (upstream.name === null ? null : this.#byName.get(upstream.name)?.setting) ?? {}
    if (fallback === undefined) return null
    const { to, models = {} } = typeof fallback === 'string' ? { to: fallback } : fallback
    const next = to === defaultName ? this.#default : this.#byName.get(to)
    if (next === undefined || tried.has(next)) return null
    const asked = facts?.model ?? null
    if (asked !== null && Object.hasOwn(models, asked))
      // In a coded body no name can be put in the place of another.
      return facts?.modelPlace === null ? null : { upstream: next, model: models[asked] ?? null }
    return asked === null || this.#serves(next, asked) ? { upstream: next, model: null } : null
  }

  listModels(running: RunningCall, options: AttemptsOptions): Promise<boolean> {
    if (!this.#asksForAll(running)) return Promise.resolve(false)
    const upstreams = [this.#default, ...this.#byName.values()]
    return listModels(running, { upstreams, ofModel: this.#ofModel }, options)
  }

  /** For the models of all upstreams. */
  #asksForAll({ arrived, path, upstream }: RunningCall): boolean {
    const isList = path.name === '/v1/models' && arrived.req.method === 'GET'
    return isList && arrived.upstream === undefined && upstream === this.#default
  }

  /** By the patterns of its own, whatever stands before them; without any, it may. */
  #serves({ name }: CallUpstream, model: string): boolean {
    const { models }: Partial<UpstreamSetting> =
      (name === null ? null : this.#byName.get(name)?.setting) ?? {}
    return models === undefined || models.some((pattern) => patternMatcher(pattern)(model))
  }
}

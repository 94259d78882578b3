import { dirname, isAbsolute, join } from 'node:path'
import type { Warning } from '../../call/call-sink.ts'
import { reportFault } from '../../lib/fault.ts'
import { remembered } from '../../lib/remembered.ts'
import { watchPath } from '../../lib/files/watch-path.ts'
import { type UpstreamSetting, defaultName, patternMatcher } from '../../options/upstream-settings.ts'
import { UpstreamsFile } from '../../options/upstreams-file.ts'
import { Upstream, type UpstreamOptions } from './upstream.ts'

const checkEveryMs = 500
/** Longest name of a model in the cache, in characters. */
const longestModel = 200

type AdmissionSettings = ReturnType<UpstreamOptions['admission']>

export interface UpstreamsOptions extends Omit<UpstreamOptions, 'admission' | 'keys'> {
  /** The options at the start; {@link Upstreams.setAdmission} changes them. */
  readonly admission: AdmissionSettings
  /** Base URL of the default upstream. */
  readonly url: string
  /** Requests and tokens a minute of the default upstream; 0 for no limit. */
  readonly maxRpm: number
  readonly maxTpm: number
  /** The file of the other upstreams. */
  readonly path: string
  /** Ports of the gateway and its dashboard. */
  readonly ownPorts: readonly number[]
  /** Reads a variable of the gateway's environment. */
  readonly variable: (name: string) => string | undefined
}

/** The upstream for a call that its own upstream could not take. */
export interface Fallback {
  readonly upstream: Upstream
  /** The model's name at the fallback; null for the same name. */
  readonly model: string | null
}

/**
 * All upstreams: the default one, and those of a file that people may change while the gateway runs. A call
 * goes to the upstream that its path names, else to that of its model, else to the default one.
 */
export class Upstreams {
  readonly default: Upstream
  /** The options of the upstreams in the file. */
  readonly #upstreamOptions: UpstreamOptions
  /** The upstreams in the file, in its order, by name. */
  #byName: ReadonlyMap<string, Upstream> = new Map()
  /** Upstreams that were removed from the file; calls may still run there. */
  readonly #removed = new Set<Upstream>()
  readonly #file: UpstreamsFile
  readonly #unwatch: () => void
  #unwatchKeys: readonly (() => void)[] = []
  #admission: AdmissionSettings
  #isDraining = false
  #hasPatterns = false
  #ofModel: (model: string) => Upstream
  /** Called when upstreams were added, removed or changed. */
  onChange = (): void => {}

  constructor(options: UpstreamsOptions) {
    const { path, variable } = options
    this.#admission = options.admission
    const keys = { variable, folder: dirname(path) }
    const common = { ...options, keys, admission: () => this.#admission }
    this.#upstreamOptions = { ...common, isShared: false, defaultKey: null }
    const setting = {
      name: defaultName,
      urls: [options.url],
      credentials: 'client',
      ...(options.maxRpm > 0 && { max_rpm: options.maxRpm }),
      ...(options.maxTpm > 0 && { max_tpm: options.maxTpm }),
    } as const
    this.default = new Upstream(setting, common)
    this.#ofModel = () => this.default
    this.#file = new UpstreamsFile(path, options.ownPorts)
    this.reloadIfChanged()
    this.#unwatch = watchPath(path, checkEveryMs, () => this.reloadIfChanged())
  }

  /** Reads the file if it has changed, and applies it before this returns. */
  reloadIfChanged(): void {
    if (this.#file.reloadIfChanged({ ownOnly: true })) this.#apply()
  }

  /** True if there are several upstreams, so that answers and rows name theirs. */
  get areSeveral(): boolean {
    return this.#byName.size > 0
  }

  /** True if an upstream has patterns for models. */
  get haveModels(): boolean {
    return this.#hasPatterns
  }

  /** The upstream in the first segment of a path, and the rest of the path; null if the segment names none. */
  byPath(path: string): { readonly upstream: Upstream; readonly path: string } | null {
    if (this.#byName.size === 0) return null
    const end = path.indexOf('/', 1)
    const upstream = end < 0 ? undefined : this.#byName.get(path.slice(1, end))
    return upstream === undefined ? null : { upstream, path: path.slice(end) }
  }

  /** The first upstream in the file with a pattern for this model; else the default one. */
  ofModel(model: string | null): Upstream {
    return model === null ? this.default : this.#ofModel(model)
  }

  /** The fallback of calls for this model; null without one, or if the upstream does not have the model. */
  fallback({ setting }: Upstream, model: string | null): Fallback | null {
    if (setting.fallback === undefined) return null
    const { to, models = {} } =
      typeof setting.fallback === 'string' ? { to: setting.fallback } : setting.fallback
    const upstream = to === defaultName ? this.default : this.#byName.get(to)
    if (upstream === undefined) return null
    if (model !== null && Object.hasOwn(models, model)) return { upstream, model: models[model] ?? null }
    return model === null || serves(upstream, model) ? { upstream, model: null } : null
  }

  /** Changes options of all upstreams, also of later ones. */
  setAdmission(changed: Partial<AdmissionSettings>): void {
    this.#admission = { ...this.#admission, ...changed }
    const { queueOrder, slotCooldownMs } = changed
    for (const upstream of this.all()) {
      if (queueOrder !== undefined) upstream.admission.setQueueOrder(queueOrder)
      if (slotCooldownMs !== undefined) upstream.admission.setCooldown(slotCooldownMs)
      // An upstream without its own number of slots gets the new one.
      if (changed.maxConcurrent !== undefined) upstream.set(upstream.setting)
    }
  }

  /** Refuses waiting and new calls at all upstreams. */
  refuseNew(): void {
    this.#isDraining = true
    for (const { admission } of this.all()) admission.refuseNew()
  }

  /** The default upstream, then those in the file. */
  *configured(): Iterable<Upstream> {
    yield this.default
    yield* this.#byName.values()
  }

  /** All upstreams but the default one, with removed upstreams that may have calls. */
  *others(): Iterable<Upstream> {
    yield* this.#byName.values()
    yield* this.#removed
  }

  *all(): Iterable<Upstream> {
    yield this.default
    yield* this.others()
  }

  /** Warnings for `/health`. */
  get warnings(): readonly Warning[] {
    const { problem } = this.#file
    const broken =
      problem === null
        ? []
        : [{ code: 'broken_upstreams_file', message: `${problem} The last valid upstreams stay in force` }]
    const keyless = Array.from(this.#byName.values()).flatMap(({ name, problem: what }) =>
      what === null ? [] : [{ code: 'upstream_key_missing', message: `The upstream ${name} ${what}` }],
    )
    return [...broken, ...keyless]
  }

  async close(): Promise<void> {
    this.#unwatch()
    this.#watchKeys([])
    await Promise.all(Array.from(this.all(), (upstream) => upstream.close()))
  }

  #apply(): void {
    const settings = this.#file.content.upstreams
    const before = new Map(Array.from(this.others(), (upstream) => [upstream.name, upstream]))
    this.#byName = new Map(settings.map((setting) => [setting.name, this.#with(setting, before)]))
    for (const upstream of before.values()) {
      if (this.#byName.get(upstream.name) === upstream) continue
      if (upstream.isBusy || !this.#removed.delete(upstream)) this.#removed.add(upstream)
      else upstream.close().catch(reportFault)
    }
    const patterns = Array.from(this.#byName.values()).flatMap((upstream) => {
      const { models = [] } = upstream.setting
      return models.map((pattern) => ({ upstream, takes: patternMatcher(pattern) }))
    })
    this.#hasPatterns = patterns.length > 0
    this.#ofModel = remembered(
      (model) => patterns.find(({ takes }) => takes(model))?.upstream ?? this.default,
      longestModel,
    )
    this.#watchKeys(settings)
    this.onChange()
  }

  /** The upstream with this setting: the one that had its name, or a new one. */
  #with(setting: UpstreamSetting, before: ReadonlyMap<string, Upstream>): Upstream {
    const existing = before.get(setting.name)
    if (existing !== undefined) {
      this.#removed.delete(existing)
      existing.set(setting)
      return existing
    }
    const upstream = new Upstream(setting, this.#upstreamOptions)
    if (this.#isDraining) upstream.admission.refuseNew()
    return upstream
  }

  #watchKeys(settings: readonly UpstreamSetting[]): void {
    for (const unwatch of this.#unwatchKeys) unwatch()
    const onChange = (): void => {
      for (const upstream of this.#byName.values()) upstream.set(upstream.setting)
    }
    const { folder } = this.#upstreamOptions.keys
    const files = settings.flatMap(({ credentials }) =>
      typeof credentials === 'object' && 'file' in credentials ? [credentials.file] : [],
    )
    this.#unwatchKeys = files.map((file) =>
      watchPath(isAbsolute(file) ? file : join(folder, file), checkEveryMs, onChange),
    )
  }
}

/** True if a pattern of the upstream matches, or it has none. */
function serves({ setting: { models } }: Upstream, model: string): boolean {
  return models === undefined || models.some((pattern) => patternMatcher(pattern)(model))
}

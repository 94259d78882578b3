import { dirname } from 'node:path'
import type { HealthReport } from '../api/health-report.ts'
import type { UpstreamRow, UpstreamsReport } from '../api/upstreams.ts'
import { CodedError } from '../lib/errors.ts'
import { ControlClient } from '../control/control-client.ts'
import { limitsOf } from '../options/limit-settings.ts'
import { type UpstreamChange, type UpstreamSetting, defaultName } from '../options/upstream-settings.ts'
import { upstreamsPath } from '../options/upstreams-path.ts'
import { UpstreamsFile } from '../options/upstreams-file.ts'
import type { OwnAddress } from './gateway-config.ts'

/** The options of {@link Upstreams}. */
export interface UpstreamsOptions {
  /** The folder of the file, also if the control socket is elsewhere. */
  readonly dataFolder: string
  /** The file in the options, for when no gateway runs. */
  readonly file: string
  readonly upstream: string
  /** The dashboard's address, which no upstream may have; the port may be set later. */
  readonly dashboard: OwnAddress
  readonly gatewayPort: number
}

/** The settings of upstreams, their health in the running gateway, and changes. */
export class Upstreams {
  readonly #options: UpstreamsOptions
  readonly #control: ControlClient

  constructor(options: UpstreamsOptions) {
    this.#options = options
    this.#control = new ControlClient(options.dataFolder)
  }

  async report(): Promise<UpstreamsReport> {
    const { file, health } = await this.#readCurrent()
    const url = health?.upstream ?? this.#options.upstream
    const byDefault = { name: defaultName, urls: [url], credentials: 'client' } as const
    return {
      upstreams: [byDefault, ...file.content.upstreams].map((setting) => rowOf(setting, health)),
      file: file.path,
      problem: file.problem,
    }
  }

  /** The settings in the file's order. */
  async settings(): Promise<readonly UpstreamSetting[]> {
    return (await this.#readCurrent()).file.content.upstreams
  }

  /**
   * Adds or changes an upstream: sets the given members, and removes those that are null. A running gateway has the change when
   * this resolves. `mayLend`: the caller may decide which address gets a key. Rejects with `CodedError`.
   */
  async change(name: string, change: UpstreamChange, mayLend: boolean): Promise<void> {
    await this.#write((before) => {
      const existing = before.find((upstream) => upstream.name === name)
      if (!mayLend) refuseKeys(existing, change)
      const changed = new Map(Object.entries({ ...existing, ...change, name }))
      for (const [member, value] of changed) if (value === null || value === undefined) changed.delete(member)
      const setting = Object.fromEntries(changed) as unknown as UpstreamSetting
      return existing === undefined
        ? [...before, setting]
        : before.map((upstream) => (upstream === existing ? setting : upstream))
    })
  }

  /** Removes an upstream. Rejects with `CodedError`. */
  async remove(name: string): Promise<void> {
    await this.#write((before) => {
      if (!before.some((upstream) => upstream.name === name)) {
        throw new CodedError('upstream_not_found', `There is no upstream ${name}.`)
      }
      return before.filter((upstream) => upstream.name !== name)
    })
  }

  async #write(changed: Parameters<UpstreamsFile['change']>[0]): Promise<void> {
    const { file } = await this.#readCurrent()
    await file.change(changed)
    // A gateway that does not answer reads the file at its next check.
    await this.#control.reloadFiles().catch(() => null)
  }

  async #readCurrent(): Promise<{ readonly file: UpstreamsFile; readonly health: HealthReport | null }> {
    const status = await this.#control.running()
    const { dataFolder, file: filePath, dashboard, gatewayPort } = this.#options
    const { db, upstream_file: path = filePath } = status?.options ?? {}
    const fullPath = upstreamsPath(String(path), typeof db === 'string' ? dirname(db) : dataFolder)
    const file = new UpstreamsFile(fullPath, [status?.port ?? gatewayPort, dashboard.port])
    file.reloadIfChanged()
    return { file, health: status?.health ?? null }
  }
}

/** Throws if a change from the dashboard would send a key to another address, or another key to any address. */
function refuseKeys(existing: UpstreamSetting | undefined, { credentials, urls }: UpstreamChange): void {
  if (typeof credentials === 'object' && credentials !== null) {
    throw new CodedError(
      'key_not_lent',
      'Only the command can give an upstream a key: tokenweir upstreams set <name> --key-env <variable>.',
      { param: 'credentials' },
    )
  }
  if (urls !== undefined && credentials === undefined && typeof existing?.credentials === 'object') {
    throw new CodedError(
      'key_not_lent',
      `${existing.name} uses a key, which only goes to addresses that the command has set: tokenweir upstreams set <name> --url <url>.`,
      { param: 'urls' },
    )
  }
}

function rowOf(setting: UpstreamSetting, health: HealthReport | null): UpstreamRow {
  const { name, urls, models = [], limits = {}, credentials = 'none', fallback = null } = setting
  const report = health?.upstreams?.find((upstream) => upstream.name === name) ?? null
  return { name, urls, models, ...limitsOf(setting), limits, credentials, fallback, health: report }
}

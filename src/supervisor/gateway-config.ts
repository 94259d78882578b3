import { resolve } from 'node:path'
import type { ConfigOption, ProxyConfig, SettingValue } from '../api/proxy-config.ts'
import { type GatewayValues, gatewayOptionTable } from '../options/gateway-options.ts'
import {
  type OptionSpec,
  type Options,
  argumentsOf,
  settingName,
  settingValue,
} from '../options/option-spec.ts'
import { SettingError, type Settings, type SettingsFile } from './gateway-settings.ts'

/** What a gateway is started with. */
export interface ResolvedGateway {
  readonly values: GatewayValues
  /** Every option, so that nothing in the child's environment can change one. */
  readonly args: readonly string[]
  /** Whether the upstream's address came from who started us, so that `UPSTREAM_API_KEY` may go there. */
  readonly upstreamIsTrusted: boolean
}

type Key = keyof GatewayValues

/** The dashboard's own listener, to which no gateway may forward: its routes trust what comes from this machine. */
export interface OwnAddress {
  readonly port: number
}

/**
 * The options of the gateway that this dashboard starts: from flags, then the environment, then
 * `gateway.json`, then defaults. The gateway itself reads none but its arguments.
 */
export class GatewayConfig {
  readonly #given: Options<GatewayValues>
  readonly #file: SettingsFile
  readonly #own: OwnAddress
  readonly #hasKey: boolean

  constructor(given: Options<GatewayValues>, file: SettingsFile, own: OwnAddress, hasKey: boolean) {
    this.#given = given
    this.#file = file
    this.#own = own
    this.#hasKey = hasKey
  }

  /** The settings that a request asks for. Throws {@link SettingError} at the first that is wrong or fixed. */
  check(asked: Readonly<Record<string, unknown>>): Settings {
    const settings: Record<string, SettingValue> = {}
    for (const [name, value] of Object.entries(asked)) {
      const key = keyOf(name)
      if (key === null) {
        const known = settableNames().join(', ')
        throw new SettingError('unknown_setting', name, `${name} cannot be set here; what can is ${known}.`)
      }
      const setBy = this.#given.setBy[key]
      if (setBy !== null) {
        throw new SettingError('fixed_setting', name, `${name} is fixed by ${setBy} and cannot be set here.`)
      }
      settings[name] = this.#checked(name, key, value)
    }
    return settings
  }

  /** What the next gateway gets, with these settings on top of the kept ones. Throws {@link SettingError}. */
  resolve(settings: Settings = {}): ResolvedGateway {
    const kept = { ...this.#kept(), ...settings }
    const values: GatewayValues = { ...this.#given }
    for (const key of keys()) {
      const saved = this.#given.setBy[key] === null ? kept[nameOf(key)] : undefined
      if (saved !== undefined) Object.assign(values, { [key]: saved })
    }
    const isSaved = this.#given.setBy.upstream === null && kept['upstream'] !== undefined
    return {
      values,
      args: argumentsOf(gatewayOptionTable, values),
      upstreamIsTrusted:
        !isSaved || originOf(values.upstream) === originOf(gatewayOptionTable.upstream.default),
    }
  }

  /** Keeps settings for all starts to come. Throws {@link SettingError}. */
  keep(settings: Settings): void {
    if (Object.keys(settings).length > 0) this.#file.write({ ...this.#kept(), ...settings })
  }

  /** Beside the options of the gateway that runs, where one does. Throws {@link SettingError}. */
  describe(running: Readonly<Record<string, SettingValue | readonly string[]>> | null): ProxyConfig {
    const kept = this.#kept()
    const { values, upstreamIsTrusted } = this.resolve()
    const options = keys().map((key): ConfigOption => {
      const name = nameOf(key)
      const { description, kind, default: byDefault, changes } = specOf(key)
      const source = this.#given.sources[key]
      return {
        name,
        description,
        range: kind.range,
        choices: kind.choices ?? null,
        value: values[key],
        default: byDefault,
        source: source === 'default' && kept[name] !== undefined ? 'saved' : source,
        fixed_by: this.#given.setBy[key],
        changes: changes ?? null,
        running: running?.[name] ?? null,
      }
    })
    return {
      options,
      needs_restart: options.filter(differs).map(({ name }) => name),
      file: this.#file.path,
      upstream_key: this.#hasKey ? (upstreamIsTrusted ? 'lent' : 'withheld') : 'absent',
    }
  }

  #kept(): Settings {
    const kept: Record<string, SettingValue> = {}
    for (const [name, value] of Object.entries(this.#file.read())) {
      const key = keyOf(name)
      if (key === null) {
        throw new SettingError('unknown_setting', name, `${this.#file.path}: ${name} is no setting.`)
      }
      try {
        kept[name] = this.#checked(name, key, value)
      } catch (error) {
        if (!(error instanceof SettingError)) throw error
        throw new SettingError(error.code, name, `${this.#file.path}: ${error.message}`)
      }
    }
    return kept
  }

  #checked(name: string, key: Key, value: unknown): SettingValue {
    const spec = specOf(key)
    const read = settingValue(spec, value)
    if (read === undefined || typeof read === 'object') {
      const got = JSON.stringify(value) ?? 'nothing'
      throw new SettingError(
        'invalid_setting',
        name,
        `${name} must be ${spec.kind.range}; got ${got.slice(0, 100)}`,
      )
    }
    if (key === 'upstream' && leadsTo(String(read), this.#own)) {
      throw new SettingError(
        'invalid_setting',
        name,
        `${name} must not be the dashboard itself; got ${String(read)}`,
      )
    }
    return read
  }
}

/** A gateway's options in JSON, by their setting names. */
export function settingsOf(values: GatewayValues): Record<string, SettingValue | readonly string[]> {
  return Object.fromEntries(keys().map((key) => [nameOf(key), values[key]]))
}

/** Whether an upstream's address is a port of this machine's own, whatever name is used for the machine. */
export function leadsTo(upstream: string, { port }: OwnAddress): boolean {
  const url = URL.parse(upstream)
  if (url === null || port === 0) return false
  const urlPort = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const isOwnName =
    /^(?:localhost|.*\.localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/
  return urlPort === port && isOwnName.test(url.hostname.replace(/\.$/, ''))
}

function keys(): readonly Key[] {
  return Object.keys(gatewayOptionTable) as Key[]
}

/** The table's specs under one type: a key and its value always come from the same entry. */
function specOf(key: Key): OptionSpec<SettingValue | readonly string[]> {
  return gatewayOptionTable[key]
}

function nameOf(key: Key): string {
  return settingName(gatewayOptionTable[key].name)
}

function settableNames(): readonly string[] {
  return keys()
    .filter((key) => specOf(key).changes !== undefined)
    .map(nameOf)
}

function keyOf(name: string): Key | null {
  return keys().find((key) => nameOf(key) === name && specOf(key).changes !== undefined) ?? null
}

/** A running gateway tells these in full. */
const pathNames: ReadonlySet<string> = new Set(['db', 'pid_file', 'raw_log_file'])

function differs({ name, value, running }: ConfigOption): boolean {
  if (running === null) return false
  // Port 0 asks for any: the running one has it.
  if (name === 'port' && value === 0) return false
  if (pathNames.has(name)) return resolve(String(value)) !== running
  return JSON.stringify(value) !== JSON.stringify(running)
}

function originOf(url: string): string | null {
  return URL.parse(url)?.origin ?? null
}

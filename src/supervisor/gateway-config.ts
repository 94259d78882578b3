import { isAbsolute, resolve } from 'node:path'
import type { ConfigOption, ProxyConfig } from '../api/proxy-config.ts'
import { codeOf, reasonOf } from '../lib/errors.ts'
import { changeFile } from '../lib/files/change-file.ts'
import { isObject } from '../lib/message-shape.ts'
import { readText } from '../lib/files/read-file.ts'
import { type GatewayValues, gatewayOptionTable } from '../options/gateway-options.ts'
import {
  type AllSettings,
  SettingError,
  type Settings,
  allSettings,
  changeable,
  readSettings,
} from '../options/gateway-settings.ts'
import { type Options, sourceOf, valueFacts } from '../options/option-spec.ts'
import { isOwnAddress } from '../options/own-address.ts'
import { mayHaveKey } from '../options/upstream-key.ts'

/** The dashboard's own port. No gateway may forward there, because the dashboard trusts calls from this machine. */
export interface OwnAddress {
  readonly port: number
}

/**
 * The options of the gateway that this dashboard starts: flags come first, then the environment, `gateway.json` and defaults.
 * The gateway itself reads only its arguments.
 */
export class GatewayConfig {
  readonly #options: Options<GatewayValues>
  /** The file of settings made on the dashboard, read each time, so that a person may edit it. */
  readonly #path: string
  readonly #ownAddress: OwnAddress
  readonly #hasKey: boolean

  /** `path` is that of `gateway.json`. */
  constructor(options: Options<GatewayValues>, path: string, ownAddress: OwnAddress, hasKey: boolean) {
    this.#options = options
    this.#path = path
    this.#ownAddress = ownAddress
    this.#hasKey = hasKey
  }

  /** The settings that a request asks for. Throws {@link SettingError} if one is wrong or fixed. */
  check(changes: Readonly<Record<string, unknown>>): Settings {
    for (const { key, name } of changeable) {
      const setBy = this.#options.setBy[key]
      if (setBy === null || !Object.hasOwn(changes, name)) continue
      const message = `${name} is fixed by ${setBy} and cannot be set here.`
      throw new SettingError('fixed_setting', message, { param: name })
    }
    return this.#checked(changes)
  }

  /** Options for the next gateway, with these settings on top of the saved ones. Throws {@link SettingError}. */
  resolve(settings: Settings = {}): GatewayValues {
    const saved = { ...this.#savedSettings(), ...settings }
    const open = changeable.filter(({ key, name }) => this.#options.setBy[key] === null && name in saved)
    return { ...this.#options, ...Object.fromEntries(open.map(({ key, name }) => [key, saved[name]])) }
  }

  /**
   * True if the upstream's address came with the start of the dashboard, so that it may get `UPSTREAM_API_KEY`: it was not
   * only set on the page.
   */
  trusts(upstream: string): boolean {
    const { setBy, upstream: ownUpstream } = this.#options
    return mayHaveKey(upstream, setBy.upstream === null ? gatewayOptionTable.upstream.default : ownUpstream)
  }

  /** Saves settings for all later starts, one process at a time. Rejects with {@link SettingError}. */
  async save(settings: Settings): Promise<void> {
    if (Object.keys(settings).length === 0) return
    const refusal = (_: unknown, message: string): SettingError =>
      new SettingError('settings_not_kept', message)
    await changeFile(this.#path, { refusal }, (replace) =>
      replace(`${JSON.stringify({ ...this.#savedSettings(), ...settings }, null, 2)}\n`),
    )
  }

  /** All options with their sources, beside those of the running gateway. Throws {@link SettingError}. */
  describe(running: AllSettings | null): ProxyConfig {
    const saved = this.#savedSettings()
    const values = this.resolve()
    const options = allSettings.map(({ key, name, spec }): ConfigOption => {
      const source = sourceOf(this.#options.setBy[key])
      const { kind, unit, min, max, choices, range } = valueFacts(spec)
      return {
        name,
        description: spec.description,
        kind,
        unit,
        min,
        max,
        choices,
        range,
        value: values[key],
        default: spec.default,
        source: source === 'default' && saved[name] !== undefined ? 'saved' : source,
        fixed_by: this.#options.setBy[key],
        changes: spec.changes ?? null,
        running: running?.[name] ?? null,
      }
    })
    return {
      options,
      needs_restart: options
        .filter(({ name, value, running }) => running !== null && !isMet(name, value, running))
        .map(({ name }) => name),
      file: this.#path,
      upstream_key: this.#hasKey ? (this.trusts(values.upstream) ? 'lent' : 'withheld') : 'absent',
    }
  }

  /** Reads the file; without a file, no settings are saved. */
  #savedSettings(): Settings {
    let content: unknown
    try {
      content = JSON.parse(readText(this.#path))
      if (!isObject(content)) throw new TypeError('it must hold one JSON object')
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return {}
      const message = `${this.#path} cannot be read: ${reasonOf(error)}`
      throw new SettingError('broken_settings_file', message)
    }
    try {
      return this.#checked(content)
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      throw new SettingError(error.code, `${this.#path}: ${error.message}`, error)
    }
  }

  #checked(changes: Readonly<Record<string, unknown>>): Settings {
    const settings = readSettings(changes, changeable)
    const { upstream } = settings
    if (!isOwnAddress(String(upstream), [this.#ownAddress.port])) return settings
    const message = `upstream must not be the dashboard itself; got ${upstream}`
    throw new SettingError('invalid_setting', message, { param: 'upstream' })
  }
}

/** True if the running gateway uses the wanted value. The gateway reports absolute paths. */
export function isMet(
  name: string,
  value: ConfigOption['value'],
  running: ConfigOption['running'] | undefined,
): boolean {
  // Port 0 means any free port.
  if (name === 'port' && value === 0) return true
  if (typeof running === 'string' && isAbsolute(running)) return resolve(String(value)) === running
  return JSON.stringify(value) === JSON.stringify(running)
}

import type { SettingValue } from '../api/proxy-config.ts'
import { CodedError } from '../lib/errors.ts'
import { type GatewayValues, gatewayOptionTable } from './gateway-options.ts'
import { type OptionSpec, settingName, shownValue } from './option-spec.ts'

/** Options of the gateway in JSON, by setting name: of a running gateway, a request, or `gateway.json`. */
export type Settings = Readonly<Record<string, SettingValue>>
export type AllSettings = Readonly<Record<string, SettingValue | readonly string[]>>

/** An option of the gateway, with its names in JSON and in code. */
export interface Setting {
  readonly key: keyof GatewayValues
  readonly name: string
  readonly spec: OptionSpec<SettingValue | readonly string[]>
}

/** All settings, in the order of `--help`. */
export const allSettings: readonly Setting[] = Object.entries(gatewayOptionTable).map(([key, spec]) => ({
  key: key as keyof GatewayValues,
  name: settingName(spec.name),
  // Kind and value come from the same entry, which TypeScript cannot see.
  spec: spec as Setting['spec'],
}))

/** The settings that the dashboard can change. */
export const changeable: readonly Setting[] = allSettings.filter(({ spec }) => spec.changes !== undefined)

/** The settings that a running gateway can change. */
export const live: readonly Setting[] = changeable.filter(({ spec }) => spec.changes === 'live')

/** A setting, or the file of settings, is unknown or wrong. */
export class SettingError extends CodedError<SettingErrorCode> {}

type SettingErrorCode =
  | 'invalid_setting'
  | 'unknown_setting'
  | 'fixed_setting'
  | 'broken_settings_file'
  | 'settings_not_kept'

/** Reads settings from JSON. Each must be one of `among`. Throws {@link SettingError}. */
export function readSettings(values: Readonly<Record<string, unknown>>, among: readonly Setting[]): Settings {
  const settings: Record<string, SettingValue> = {}
  for (const [param, value] of Object.entries(values)) {
    const spec = among.find(({ name }) => name === param)?.spec
    if (spec === undefined) {
      const names = among.map(({ name }) => name).join(', ')
      const message = `${param} cannot be set here; these can: ${names}.`
      throw new SettingError('unknown_setting', message, { param })
    }
    const read = typeof value === typeof spec.default ? spec.kind.parse(shownValue(value)) : undefined
    if (read === undefined || typeof read === 'object') {
      const range = typeof spec.default === 'boolean' ? 'true or false' : spec.kind.range
      const gotText = (JSON.stringify(value) ?? 'nothing').slice(0, 100)
      throw new SettingError('invalid_setting', `${param} must be ${range}; got ${gotText}`, { param })
    }
    settings[param] = read
  }
  return settings
}

/** The settings among these that a running gateway can change. */
export function liveIn(settings: Settings): Settings {
  const liveSettings = live.filter(({ name }) => name in settings)
  return Object.fromEntries(liveSettings.map(({ name }) => [name, settings[name] as SettingValue]))
}

/** All settings of a gateway with these values. */
export function settingsOf(values: GatewayValues): AllSettings {
  return Object.fromEntries(allSettings.map(({ key, name }) => [name, values[key]]))
}

/** A gateway's values from its settings. A value of another type or an unknown word, as of another version, is left out. */
export function valuesIn(settings: Readonly<Record<string, unknown>>): Partial<GatewayValues> {
  const valid = allSettings.filter(({ name, spec }) => isLike(settings[name], spec))
  return Object.fromEntries(valid.map(({ key, name }) => [key, settings[name]]))
}

function isLike(value: unknown, { default: model, kind }: Setting['spec']): boolean {
  if (kind.choices !== undefined) return kind.choices.some((word) => word === value)
  return typeof value === typeof model && Array.isArray(value) === Array.isArray(model)
}

/** The default values. */
export const defaultValues: Readonly<GatewayValues> = Object.fromEntries(
  allSettings.map(({ key, spec }) => [key, spec.default]),
) as unknown as GatewayValues

import { type GatewayValues, gatewayOptionTable } from './gateway-options.ts'
import { type OptionSpec, settingName, shownValue } from './option-spec.ts'

type SettingValue = number | string | boolean

/** The gateway's options in JSON, by their setting names: of a running gateway, of a request, of `gateway.json`. */
export type Settings = Readonly<Record<string, SettingValue>>
export type AllSettings = Readonly<Record<string, SettingValue | readonly string[]>>

/** An option of the gateway as JSON knows it. */
export interface Setting {
  readonly key: keyof GatewayValues
  readonly name: string
  readonly spec: OptionSpec<SettingValue | readonly string[]>
}

/** All of them, in the order of `--help`. */
export const allSettings: readonly Setting[] = Object.entries(gatewayOptionTable).map(([key, spec]) => ({
  key: key as keyof GatewayValues,
  name: settingName(spec.name),
  // A value always comes from the same entry as its kind.
  spec: spec as Setting['spec'],
}))

/** Those that can be changed from outside. */
export const changeable: readonly Setting[] = allSettings.filter(({ spec }) => spec.changes !== undefined)

/** What a setting is to be, out of JSON. */
export function readValue(
  { name, spec }: Setting,
  value: unknown,
): { readonly value: SettingValue } | { readonly wrong: string } {
  const read = typeof value === typeof spec.default ? spec.kind.parse(shownValue(value)) : undefined
  if (read !== undefined && typeof read !== 'object') return { value: read }
  return { wrong: `${name} must be ${typeof spec.default === 'boolean' ? 'true or false' : spec.kind.range}` }
}

/** Those of the settings that a running gateway can take over. */
export function liveIn(settings: Settings): Settings {
  const live = changeable.filter(({ name, spec }) => spec.changes === 'live' && name in settings)
  return Object.fromEntries(live.map(({ name }) => [name, settings[name] as SettingValue]))
}

export function settingsOf(values: GatewayValues): AllSettings {
  return Object.fromEntries(allSettings.map(({ key, name }) => [name, values[key]]))
}

/** What settings say of a gateway's values. What is of another type, as another version may have it, is left out. */
export function valuesIn(settings: Readonly<Record<string, unknown>>): Partial<GatewayValues> {
  const told = allSettings.filter(({ name, spec }) => isLike(settings[name], spec.default))
  return Object.fromEntries(told.map(({ key, name }) => [key, settings[name]]))
}

function isLike(value: unknown, model: unknown): boolean {
  return typeof value === typeof model && Array.isArray(value) === Array.isArray(model)
}

/** The values of a gateway that was told nothing. */
export const defaultValues: Readonly<GatewayValues> = Object.fromEntries(
  allSettings.map(({ key, spec }) => [key, spec.default]),
) as unknown as GatewayValues

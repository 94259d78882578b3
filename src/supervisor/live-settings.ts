import type { LiveOptions } from '../control/control-messages.ts'
import { gatewayOptionTable } from '../options/gateway-options.ts'
import { type OptionSpec, settingName, specsOf } from '../options/option-spec.ts'
import type { Settings } from './gateway-settings.ts'

/** Those of the settings that a running gateway can take over; `null` where there is none among them. */
export function liveSettings(settings: Settings): LiveOptions | null {
  const specs: readonly OptionSpec<unknown>[] = specsOf(gatewayOptionTable)
  const isLive = (setting: string): boolean =>
    specs.some(({ name, changes }) => changes === 'live' && settingName(name) === setting)
  const taken = Object.entries(settings).filter(([name]) => isLive(name))
  return taken.length === 0 ? null : Object.fromEntries(taken)
}

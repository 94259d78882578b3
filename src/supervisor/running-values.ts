import type { ControlStatus } from '../control/control-messages.ts'
import type { GatewayValues } from '../options/gateway-options.ts'
import { defaultValues, valuesIn } from '../options/gateway-settings.ts'

/** The options of the running gateway, with its actual port. */
export function valuesOf({ options, port }: Pick<ControlStatus, 'options' | 'port'>): GatewayValues {
  return { ...defaultValues, ...valuesIn(options), port }
}

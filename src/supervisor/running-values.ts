import type { ControlStatus } from '../control/control-messages.ts'
import { type GatewayValues, gatewayOptionTable } from '../options/gateway-options.ts'
import { type OptionSpec, settingName } from '../options/option-spec.ts'

/**
 * What a running gateway would have to be started with to be the same again, also on the port it got. What a
 * gateway of another version does not tell, or tells differently, is as by default.
 */
export function runningValues({ options, port }: Pick<ControlStatus, 'options' | 'port'>): GatewayValues {
  const values: Partial<Record<keyof GatewayValues, unknown>> = {}
  for (const key of Object.keys(gatewayOptionTable) as (keyof GatewayValues)[]) {
    const spec: OptionSpec<unknown> = gatewayOptionTable[key]
    const told = options[settingName(spec.name)]
    values[key] = isLike(told, spec.default) ? told : spec.default
  }
  return { ...(values as unknown as GatewayValues), port }
}

function isLike(value: unknown, model: unknown): boolean {
  return typeof value === typeof model && Array.isArray(value) === Array.isArray(model)
}

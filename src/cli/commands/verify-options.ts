import { gatewayOptionTable, type GatewayValues } from '../../options/gateway-options.ts'
import { modelName, onOff, toggle } from '../../options/value-kind.ts'
import type { Options, OptionTable } from '../../options/option-spec.ts'

/** What `tokenweir verify` is asked for. */
export interface VerifyValues extends Pick<GatewayValues, 'upstream' | 'usageInjection'> {
  /** `null`: the first that the upstream lists. */
  model: string | null
  stream: boolean
  direct: boolean
}

export type VerifyOptions = Options<VerifyValues>

/** Every option of `tokenweir verify`, in the order of `--help`. */
export const verifyOptionTable: OptionTable<VerifyValues> = {
  upstream: gatewayOptionTable.upstream,
  model: {
    name: 'model',
    kind: modelName,
    default: null,
    env: [],
    description: 'model to ask; the first that the upstream lists unless given',
  },
  stream: {
    name: 'stream',
    kind: onOff,
    default: true,
    env: [],
    description: 'whether the answer is asked for as a stream',
  },
  usageInjection: gatewayOptionTable.usageInjection,
  direct: {
    name: 'direct',
    kind: toggle,
    default: false,
    env: [],
    description:
      'make three more calls each way, past the gateway and through it: status, header names, time to first token',
  },
}

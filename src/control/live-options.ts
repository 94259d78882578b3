import { gatewayOptionTable } from '../options/gateway-options.ts'
import { type OptionSpec, settingName, settingValue, specsOf } from '../options/option-spec.ts'
import type { LiveOptions } from './control-messages.ts'

const liveSpecs: ReadonlyMap<string, OptionSpec<unknown>> = new Map(
  specsOf(gatewayOptionTable)
    .filter(({ changes }) => changes === 'live')
    .map((spec) => [settingName(spec.name), spec as OptionSpec<unknown>]),
)

/** Reads the body of `POST /options`; what is wrong with it is said in words. */
export function readLiveOptions(text: string): LiveOptions | { readonly wrong: string } {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { wrong: 'The body is not JSON.' }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { wrong: 'The body must be a JSON object.' }
  }
  for (const [name, value] of Object.entries<unknown>({ ...body })) {
    const spec = liveSpecs.get(name)
    if (spec === undefined) return { wrong: `${name} is no option of a running gateway.` }
    if (settingValue(spec, value) === undefined) {
      const range = typeof spec.default === 'boolean' ? 'true or false' : spec.kind.range
      return { wrong: `${name} must be ${range}.` }
    }
  }
  return body
}

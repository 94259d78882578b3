import type { SettingValue } from '../api/proxy-config.ts'
import { isObject } from '../lib/message-shape.ts'
import { changeable, readValue } from '../options/gateway-settings.ts'
import type { LiveOptions } from './control-messages.ts'

/** Reads the body of `POST /options`; what is wrong with it is said in words. */
export function readLiveOptions(text: string): LiveOptions | { readonly wrong: string } {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { wrong: 'The body is not JSON.' }
  }
  if (!isObject(body)) return { wrong: 'The body must be a JSON object.' }
  const options: Record<string, SettingValue> = {}
  for (const [name, value] of Object.entries(body)) {
    const setting = changeable.find((one) => one.name === name)
    if (setting?.spec.changes !== 'live') return { wrong: `${name} is no option of a running gateway.` }
    const read = readValue(setting, value)
    if ('wrong' in read) return { wrong: `${read.wrong}.` }
    options[name] = read.value
  }
  return options
}

import type { LiveOptions } from './control-messages.ts'

/** The values of each option that changes in a running gateway: the smallest and the largest, or on and off. */
const ranges: Readonly<Record<keyof LiveOptions, readonly [min: number, max: number] | 'switch'>> = {
  max_concurrent: [1, 100_000],
  slot_cooldown_ms: [0, 60_000],
  token_limit: [1, Number.MAX_SAFE_INTEGER],
  raw_log: 'switch',
}

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
  const options: Record<string, number | boolean> = {}
  for (const [name, value] of Object.entries<unknown>({ ...body })) {
    if (!isLiveOption(name)) return { wrong: `${name} is no option of a running gateway.` }
    const range = ranges[name]
    if (range === 'switch') {
      if (typeof value !== 'boolean') return { wrong: `${name} must be true or false.` }
    } else if (!isWithin(value, range)) {
      return { wrong: `${name} must be a whole number from ${range[0]} to ${range[1]}.` }
    }
    options[name] = value
  }
  return options
}

function isWithin(value: unknown, [min, max]: readonly [min: number, max: number]): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}

function isLiveOption(name: string): name is keyof LiveOptions {
  return Object.hasOwn(ranges, name)
}

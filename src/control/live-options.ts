import type { LiveOptions } from './control-messages.ts'

/** Smallest and largest value of each option that changes in a running gateway. */
const bounds: Readonly<Record<keyof LiveOptions, readonly [min: number, max: number]>> = {
  max_concurrent: [1, 100_000],
  slot_cooldown_ms: [0, 60_000],
  token_limit: [1, Number.MAX_SAFE_INTEGER],
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
  const options: { -readonly [Name in keyof LiveOptions]: number } = {}
  for (const [name, value] of Object.entries<unknown>({ ...body })) {
    if (!isLiveOption(name)) return { wrong: `${name} is no option of a running gateway.` }
    const [min, max] = bounds[name]
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
      return { wrong: `${name} must be a whole number from ${min} to ${max}.` }
    }
    options[name] = value
  }
  return options
}

function isLiveOption(name: string): name is keyof LiveOptions {
  return Object.hasOwn(bounds, name)
}

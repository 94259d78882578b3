import type { ConfigOption } from '../../src/api/proxy-config.ts'

/** An option of the gateway that nobody has set. */
export const sampleOption: ConfigOption = {
  name: 'max_concurrent',
  description: 'how many',
  kind: 'number',
  unit: 'calls',
  min: 1,
  max: 100_000,
  choices: null,
  range: 'a whole number from 1 to 100,000',
  value: 4,
  default: 4,
  source: 'default',
  fixed_by: null,
  changes: 'live',
  running: 4,
}

/** What an option that is no number has nothing of. */
export const noNumber = { unit: null, min: null, max: null } as const

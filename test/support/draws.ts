import { readConfigureGlobal } from 'fast-check'

/** How many examples a property test draws: a quarter in `npm test`, whose seed is fixed, and all in `npm run fuzz`. */
export function draws(many: number): number {
  return readConfigureGlobal().seed === undefined ? many : Math.ceil(many / 4)
}

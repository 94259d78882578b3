/** The nearest number that can be counted on exactly. */
export function saturatedNumber(value: number): number {
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value))
}

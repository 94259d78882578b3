const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** A size in the largest unit of which there is at least one, with one digit after the point: `1.6 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  // What would be shown as 1024.0 is one of the next unit.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit] ?? ''}`
}

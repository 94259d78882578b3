import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** By how many megabytes the heap has grown while what `fill` gives is held. */
export function heldMegabytes(fill: () => object): number {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const held = new Set([fill()])
  collectGarbage()
  const after = process.memoryUsage().heapUsed
  held.clear()
  return (after - before) / 1e6
}

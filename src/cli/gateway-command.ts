import { fileURLToPath } from 'node:url'

/** How the dashboard starts a gateway: this Node, this very package. */
export const gatewayCommand: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url)),
  'gateway',
]

import { fileURLToPath } from 'node:url'

/** This Node, this very package: how the dashboard starts a job. */
export const ownCommand: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url)),
]

/** How it starts a gateway. */
export const gatewayCommand: readonly string[] = [...ownCommand, 'gateway']

import { fileURLToPath } from 'node:url'

/** This Node, this very package. */
const ownCommand = [process.execPath, fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))]

/** How the dashboard starts a gateway. */
export const gatewayCommand: readonly string[] = [...ownCommand, 'gateway']

/** How it starts a job on the database. */
export const databaseCommand: readonly string[] = [...ownCommand, 'db']

/** How it brings prices up to date. */
export const costsCommand: readonly string[] = [...ownCommand, 'costs']

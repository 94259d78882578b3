import { readFileSync } from 'node:fs'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

/** The version in this package's `package.json`, for the source and for the built files. */
export const { version } = JSON.parse(manifest) as { readonly version: string }

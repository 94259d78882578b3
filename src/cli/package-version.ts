import { readFileSync } from 'node:fs'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

/** The version of this package, as its `package.json` says; the same from source and from the built files. */
export const { version } = JSON.parse(manifest) as { readonly version: string }

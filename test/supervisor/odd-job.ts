/** Stands in for `tokenweir db` and `tokenweir costs`: says what stands in a file, line by line, and ends. */
import { readFileSync } from 'node:fs'

process.stdout.write(readFileSync(process.argv[2] ?? '', 'utf8'))

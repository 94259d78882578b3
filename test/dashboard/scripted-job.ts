/**
 * Stands in for `tokenweir db`: `node scripted-job.ts <folder> compress …`. Notes its arguments in `<folder>/asked`,
 * and says, line by line, what is added to `<folder>/said`; `exit <code>` ends it.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '', ...args] = process.argv.slice(2)
const secrets = Object.keys(process.env).filter((name) => /KEY|TOKEN/.test(name))
appendFileSync(join(folder, 'asked'), `${JSON.stringify({ args, secrets, pid: process.pid })}\n`)
const parent = process.ppid
let told = 0
setInterval(() => {
  // Nobody is left to say anything.
  if (process.ppid !== parent || !existsSync(folder)) process.exit(1)
  const path = join(folder, 'said')
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
  for (const line of lines.slice(told)) {
    told += 1
    const [, code] = /^exit (\d+)$/.exec(line) ?? []
    if (code !== undefined) process.exit(Number(code))
    console.log(line)
  }
}, 5)

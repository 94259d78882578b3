#!/usr/bin/env node
/*
 * Written so that every Node there ever was can read it: it only says which one is needed. What it starts is
 * hidden from the parser, because old ones know neither modules nor import().
 */
var version = process.versions.node.split('.').map(Number)

if (version[0] > 24 || (version[0] === 24 && version[1] >= 16)) {
  // eslint-disable-next-line no-eval
  eval('import("./start.js")')
} else {
  process.stderr.write(
    'tokenweir needs Node 24.16 or newer; this is Node ' +
      process.versions.node +
      '. With it, for once: npx --loglevel=error -p node@24 -p tokenweir tokenweir\n',
  )
  process.exitCode = 1
}

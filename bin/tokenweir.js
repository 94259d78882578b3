#!/usr/bin/env node
/*
 * Written so that every Node there ever was can read it: it only looks for one that is new enough. What it starts is
 * hidden from the parser, because old ones know neither modules nor import().
 */
var version = process.versions.node.split('.').map(Number)

function refuse() {
  process.stderr.write(
    'tokenweir needs Node 24.16 or newer; this is Node ' +
      process.versions.node +
      '. Install a newer one (https://nodejs.org); in a clone, npm ci brings it.\n',
  )
  process.exitCode = 1
}

if (version[0] > 24 || (version[0] === 24 && version[1] >= 16)) {
  // eslint-disable-next-line no-eval
  eval('import("./start.js")')
} else {
  try {
    // eslint-disable-next-line no-eval
    eval('import("./newer-node.js")').then(function (found) {
      if (found.runOnNewerNode() !== true) refuse()
    }, refuse)
  } catch (error) {
    refuse(error)
  }
}

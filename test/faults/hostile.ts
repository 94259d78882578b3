/**
 * What strangers send to the two ports, what an upstream answers, and whether refusals reach those who are still sending:
 * `node test/faults/hostile.ts [--connections 20000] [--uploads 100]
 * [--answers 20000]`. Ends with 1 where something does not hold.
 */
import { parseArgs } from 'node:util'
import { attackByAnswers } from '../support/broken-answers.ts'
import { attackDashboard, attackGateway } from '../support/hostile-rounds.ts'
import { refusedUploads } from '../support/refused-uploads.ts'

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '0' },
    uploads: { type: 'string', default: '0' },
    answers: { type: 'string', default: '0' },
  },
})
const connections = Number(values.connections)
const uploads = Number(values.uploads)
const answers = Number(values.answers)
/** Of four connections three go to the gateway's port. */
const toDashboard = Math.floor(connections / 4)

if (connections > 0) {
  const words = [await attackGateway(connections - toDashboard), await attackDashboard(toDashboard)]
  console.log(`measured: ${words.join('; ')}`)
}
if (answers > 0) console.log(`measured: ${await attackByAnswers(answers)}`)
if (uploads > 0) {
  const { arrived, of, lost } = await refusedUploads(uploads)
  for (const each of lost) console.error(each)
  console.log(`measured: ${arrived} of ${of} refusals of uploads of 10 MB arrived`)
  if (arrived < of) process.exitCode = 1
}

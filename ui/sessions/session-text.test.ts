import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callJson } from '../../test/support/call-json.ts'
import { sessionCourse } from './session-course.ts'
import { toolUses } from './session-text.ts'

const at = (ms: number, tools: string | null) =>
  callJson({ started_at: new Date(ms).toISOString(), duration_ms: 100, tools })

test('a tool has the time until the next call, and what several tools share is apart', () => {
  const course = sessionCourse([
    at(0, 'Read'),
    at(600, 'Bash'),
    at(2700, 'Read,Grep'),
    at(3800, null),
    at(9000, 'Bash'),
    at(9101, 'Bash'),
  ])
  assert.deepEqual(toolUses(course), {
    tools: [
      { name: 'Bash', calls: 3, ms: 2001 },
      { name: 'Read', calls: 2, ms: 500 },
      { name: 'Grep', calls: 1, ms: 0 },
    ],
    togetherMs: 1000,
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleStatus } from '../../../test/support/sample-health.ts'
import type { GatewayState, ProcessStatus } from '../../api/process-status.ts'
import { StatusDisplay } from './status-display.ts'

function statusOf(state: GatewayState, message: string | null = null): ProcessStatus {
  return { ...sampleStatus, running: false, state, health: null, message }
}

/** A display, with a function that takes what was written since the last look. */
function makeDisplay(isWatched: boolean, width: () => number = () => 80) {
  let text = ''
  const print = (more: string): void => void (text += more)
  const display = new StatusDisplay({ print, width, isWatched, color: false })
  const written = (): string => {
    const all = text
    text = ''
    return all
  }
  return { display, written }
}

test('on a terminal one line is drawn over itself, and only when it changed', () => {
  const { display, written } = makeDisplay(true)
  display.show(statusOf('starting'))
  assert.equal(written(), '\r◐ starting\u001b[K')
  display.show(statusOf('starting'))
  assert.equal(written(), '')
  display.show(statusOf('running'))
  assert.equal(written(), '\r● running\u001b[K')
  display.close()
  assert.equal(written(), '\n')
})

test('other lines stand above it, whether or not it is there', () => {
  const { display, written } = makeDisplay(true)
  display.print('before')
  assert.equal(written(), 'before\n')
  display.show(statusOf('running'))
  written()
  display.print('between')
  assert.equal(written(), '\r\u001b[Kbetween\n● running')
  display.close()
  display.print('after')
  assert.equal(written(), '\nafter\n')
})

test('once closed it shows nothing more, and closing again changes nothing', () => {
  for (const isWatched of [true, false]) {
    const { display, written } = makeDisplay(isWatched)
    display.close()
    display.close()
    display.show(statusOf('running'))
    assert.equal(written(), '')
  }
})

test('it follows the width of the terminal and keeps off its last column', () => {
  let width = 12
  const { display, written } = makeDisplay(true, () => width)
  display.show(statusOf('stopped', 'somebody stopped it'))
  assert.equal(written(), '\r○ stopped:…\u001b[K')
  width = 80
  display.show(statusOf('stopped', 'somebody stopped it'))
  assert.equal(written(), '\r○ stopped: somebody stopped it\u001b[K')
})

test('elsewhere a line is written when the state changes, and figures are not', () => {
  const { display, written } = makeDisplay(false)
  for (const state of ['starting', 'running', 'running', 'stopped', 'stopped'] as const) {
    display.show(statusOf(state))
  }
  display.print('a line')
  display.show(statusOf('stopped', 'another reason'))
  display.show(statusOf('foreign'))
  display.close()
  const taken = 'gateway: port 9090 is in use by another program'
  assert.equal(written(), `gateway: starting\ngateway: running\ngateway: stopped\na line\n${taken}\n`)
})

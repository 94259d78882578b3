import assert from 'node:assert/strict'
import { existsSync, writeFileSync, readFileSync, rmSync, statSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import type { OutgoingRecord } from '../../src/api/raw-log.ts'
import { formatCallId } from '../../src/call/call-id.ts'
import { systemClock } from '../../src/call/clock.ts'
import { keepingOf } from '../../src/payloads/copy/capture-rule.ts'
import { payloadsOf } from '../../src/payloads/file/payload-reader.ts'
import { startPayloadWorker } from '../../src/payloads/raw-log.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { fullDisk } from '../support/full-disk.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { endedRecord, passBy, passThrough, payloadCall } from './imagined-call.ts'
import { logUnderTest, until, Watched } from './log-under-test.ts'
import { assertWithin } from '../support/assert-within.ts'

describe('what is kept', () => {
  test('both records of each call, in their order, with numbers that rise, over restarts too', async () => {
    await using dir = await makeTempDir()
    const filePath = dir.file('logger/payloads.jsonl')
    const seqs: number[] = []
    for (let run = 0; run < 2; run++) {
      await using under = await logUnderTest({ filePath })
      const id = under.nextId()
      assert.ok(passBy(under.log, { id, request: '{"a":1}', answer: '{"b":2}' }))
      const [answer, request] = await under.entries(2)
      assert.deepEqual(
        [request?.direction, request?.id, request?.body],
        ['incoming', formatCallId(id), { a: 1 }],
      )
      assert.deepEqual(
        [answer?.direction, answer?.id, answer?.body],
        ['outgoing', formatCallId(id), { b: 2 }],
      )
      assert.equal((answer as OutgoingRecord).outcome, 'ok')
      seqs.push(request!.seq, answer!.seq)
      assert.equal(under.log.status().file_size_bytes, statSync(filePath).size)
    }
    assert.deepEqual(
      seqs,
      seqs.toSorted((one, other) => one - other),
    )
    assert.equal(new Set(seqs).size, 4)
    assert.equal(readFileSync(filePath, 'utf8').trimEnd().split('\n').length, 4)
  })

  test('a stream in many pieces, larger than a batch, whole and with the time of each piece', async () => {
    let nowMs = 0
    await using under = await logUnderTest({ clock: { ...systemClock, now: () => ++nowMs } })
    const pieces = Array.from(
      { length: 3000 },
      (_, at) => `data: {"n":${at},"fill":"${'x'.repeat(200)}"}\n\n`,
    )
    const request = JSON.stringify({ text: 'y'.repeat(900_000) })
    passBy(under.log, { id: under.nextId(), request, answer: pieces })
    const [answer, asked] = await under.entries()
    assert.deepEqual(asked?.body, JSON.parse(request))
    assert.equal(answer?.body, pieces.join(''))
    assert.equal(answer.truncated, false)
    const { chunks = [] } = answer as OutgoingRecord
    assert.equal(chunks.length, pieces.length)
    assert.ok(chunks.every((atMs, at) => at === 0 || atMs > (chunks[at - 1] ?? 0)))
  })

  test('of a body beyond the limit its beginning, and how long it was', async () => {
    await using under = await logUnderTest({ maxBodyBytes: 1000 })
    passBy(under.log, { id: under.nextId(), request: 'q'.repeat(1001), answer: 'a'.repeat(1000) })
    const [answer, request] = await under.entries()
    assert.deepEqual([request?.body_bytes, request?.truncated], [1001, true])
    assert.deepEqual([answer?.body_bytes, answer?.truncated], [1000, false])
    assert.ok(String(request?.body).length <= 1000)
  })

  test('a call that ends without an answer has both records', async () => {
    await using under = await logUnderTest()
    const id = under.nextId()
    const copy = under.log.begin(payloadCall({ id }))
    copy?.ended(
      endedRecord(id, { status: null, outcome: 'client_disconnected', failureCode: 'client_stalled' }),
    )
    const [answer, request] = await under.entries()
    assert.equal(request?.direction, 'incoming')
    assert.deepEqual([answer?.status, (answer as OutgoingRecord).outcome], [null, 'client_disconnected'])
  })
})

describe('what is left out', () => {
  test('errors: only calls that failed reach the file, with their requests; the feed has all', async () => {
    await using under = await logUnderTest({ capture: 'errors' })
    const outcomes = ['ok', 'upstream_error', 'client_disconnected', 'refused'] as const
    const pass = (): string[] =>
      outcomes.map((outcome) => {
        const id = under.nextId()
        passBy(under.log, { id, record: { outcome } })
        return formatCallId(id)
      })
    const unwatched = pass()
    assert.equal((await under.entries()).length, 4)
    using watched = new Watched(under.log)
    const calls = pass()
    const kept = await under.entries(4)
    const expected = [calls[3], calls[3], calls[1], calls[1]]
    assert.deepEqual(fieldsOf(kept, 'id'), expected)
    assert.deepEqual(
      fieldsOf((await under.entries()).slice(4), 'id'),
      [3, 3, 1, 1].map((at) => unwatched[at]),
    )
    assert.equal(watched.events.filter((event) => !('type' in event)).length, 8)
    for (const record of kept)
      assert.ok(watched.seqs.includes(record.seq), 'the same number in the file and the feed')
  })

  test('a rule that changes holds for calls that begin then: both records of a call are kept, or none', async () => {
    await using under = await logUnderTest()
    const [before, failed, fine] = [under.nextId(), under.nextId(), under.nextId()]
    const begun = under.log.begin(payloadCall({ id: before }))
    under.log.setCapture('errors')
    assert.equal(under.log.status().capture, 'errors')
    begun?.ended(endedRecord(before, {}))
    passBy(under.log, { id: failed, record: { outcome: 'upstream_error' } })
    passBy(under.log, { id: fine })
    assert.deepEqual(
      fieldsOf(await under.entries(), 'id'),
      [failed, failed, before, before].map(formatCallId),
    )
  })

  test('sample: one call in so many, both of its records', async () => {
    const capture = 'sample:1/4'
    await using under = await logUnderTest({ capture })
    const ids = Array.from({ length: 400 }, () => under.nextId())
    const copied = ids.filter((id) => passBy(under.log, { id }))
    assert.deepEqual(
      copied,
      ids.filter((id) => keepingOf(capture, id) === 'always'),
    )
    const kept = await under.entries()
    assert.deepEqual(
      fieldsOf(kept, 'id'),
      copied.toReversed().flatMap((id) => [formatCallId(id), formatCallId(id)]),
    )
  })

  test('nothing is copied, and no thread is started, where nobody logs or watches', async () => {
    let started = 0
    const startWorker: typeof startPayloadWorker = (settings) => {
      started++
      return startPayloadWorker(settings)
    }
    await using under = await logUnderTest({ enabled: false, startWorker })
    assert.equal(under.log.isOpen, false)
    assert.equal(passBy(under.log, { id: under.nextId() }), false)
    assert.equal(started, 0)
    const watched = new Watched(under.log)
    assert.equal(passBy(under.log, { id: under.nextId() }), true)
    await until(() => watched.events.length === 3)
    watched[Symbol.dispose]()
    assert.equal(under.log.isOpen, false)
    assert.equal(started, 1)
    assert.equal(existsSync(under.filePath), false, 'the feed alone writes nothing')
  })
})

describe('the switch', () => {
  test('off means off: a call under way adds nothing from then on; on again, the next is kept', async () => {
    await using under = await logUnderTest()
    const id = under.nextId()
    const copy = under.log.begin(payloadCall({ id }))!
    copy.requestEnd('gpt', false)
    assert.equal((await under.entries()).length, 1)
    under.log.toggle(false, null)
    passThrough(copy, { id })
    assert.equal(passBy(under.log, { id: under.nextId() }), false)
    assert.equal((await under.entries()).length, 1)
    under.log.toggle(true, null)
    assert.equal(passBy(under.log, { id: under.nextId() }), true)
    assert.equal((await under.entries()).length, 3)
  })

  test('it switches itself off after the time that was given, however long, unless told otherwise', async () => {
    const clock = new FakeClock()
    await using under = await logUnderTest({ clock, enabled: false })
    const { log } = under
    const thirtyDaysMs = 30 * 86_400_000
    log.toggle(true, thirtyDaysMs)
    assert.equal(log.status().enabled_until, new Date(clock.wallTime() + thirtyDaysMs).toISOString())
    await clock.advance(thirtyDaysMs - 1)
    assert.equal(log.enabled, true)
    await clock.advance(1)
    assert.deepEqual([log.enabled, log.status().enabled_until], [false, null])
    log.toggle(true, 1000)
    log.toggle(true, null)
    await clock.advance(2000)
    assert.deepEqual([log.enabled, log.enabledUntilMs], [true, null])
    log.toggle(true, 1000)
    log.toggle(false, null)
    log.toggle(true, 3000)
    await clock.advance(1500)
    assert.equal(log.enabled, true)
    log.toggle(false, 1000)
    assert.deepEqual([log.enabled, log.enabledUntilMs], [false, null])
  })

  test('while it is off, its files are still read, measured and cleared', async () => {
    await using under = await logUnderTest()
    passBy(under.log, { id: under.nextId() })
    await under.log.close()
    await using off = await logUnderTest({ filePath: under.filePath, enabled: false })
    await until(() => off.log.status().file_size_bytes === statSync(under.filePath).size)
    assert.equal((await off.entries()).length, 2)
    await off.log.clear()
    assert.equal(statSync(under.filePath).size, 0)
  })
})

describe('the feed', () => {
  test('a listener that throws is not told again, and the others are', async () => {
    await using under = await logUnderTest({ enabled: false })
    let told = 0
    under.log.watch({
      events: () => {
        told++
        throw new Error('a listener’s fault')
      },
      dropped: () => {},
    })
    using watched = new Watched(under.log)
    passBy(under.log, { id: under.nextId() })
    await until(() => watched.events.length === 3)
    passBy(under.log, { id: under.nextId() })
    await until(() => watched.events.length === 6)
    assert.equal(told, 1)
    assert.equal(under.log.status().subscribers_count, 1)
  })

  test('what is too much between the threads is left out and told', async () => {
    await using under = await logUnderTest({ fedBytesLimit: 1 })
    using watched = new Watched(under.log)
    const pass = (): void => void passBy(under.log, { id: under.nextId() })
    pass()
    const first = under.log.recent(1)
    pass()
    const second = under.log.recent(1)
    // Nothing of the feed is taken before the event loop turns.
    await Promise.all([first, second])
    pass()
    await under.log.recent(1)
    await until(() => watched.events.length + watched.dropped >= 5)
    assert.equal((await under.entries()).length, 6, 'the file has them all')
  })
})

describe('what is held is bounded', () => {
  test('first bodies are cut, then calls are not copied and counted; when there is room again, all is as before', async () => {
    // A thread that takes nothing until it may.
    await using under = await logUnderTest({ heldBytesLimit: 200_000, flushAfterMs: 1_000_000 })
    const ids = Array.from({ length: 400 }, () => under.nextId())
    const copied = ids.filter((id) =>
      passBy(under.log, { id, request: 'q'.repeat(3000), answer: 'a'.repeat(3000) }),
    )
    assert.ok(copied.length > 20 && copied.length < 400, `${copied.length}`)
    assert.equal(under.log.status().dropped, (400 - copied.length) * 2)
    const kept = await under.entries()
    assert.equal(kept.length, copied.length * 2)
    assert.ok(kept.some(({ truncated }) => truncated))
    assert.ok(kept.some(({ truncated }) => !truncated))
    assert.equal(passBy(under.log, { id: under.nextId(), request: 'q'.repeat(3000) }), true)
    const [, request] = await under.entries()
    assert.deepEqual([request?.truncated, request?.body_bytes], [false, 3000])
  })

  test('what the thread holds of calls that have not ended counts, too', async () => {
    await using under = await logUnderTest({ heldBytesLimit: 500_000 })
    const begin = (): boolean => {
      const copy = under.log.begin(payloadCall({ id: under.nextId() }))
      copy?.requestData(Buffer.alloc(30_000))
      return copy !== null
    }
    let count = 0
    while (begin() && count < 1000) {
      count++
      await under.log.recent(1)
    }
    assert.ok(count > 5 && count < 300, `${count}`)
  })
})

describe('a thread that dies', () => {
  test('is followed by another; what was under way is counted, and calls go on', async () => {
    const workers: Worker[] = []
    const startWorker: typeof startPayloadWorker = (settings) => {
      const worker = startPayloadWorker(settings)
      workers.push(worker)
      return worker
    }
    await using under = await logUnderTest({ startWorker })
    const { log } = under
    passBy(log, { id: under.nextId() })
    assert.equal((await under.entries()).length, 2)
    const id = under.nextId()
    const copy = log.begin(payloadCall({ id }))!
    copy.requestData(Buffer.from('{}'))
    await workers[0]?.terminate()
    await until(() => log.warnings().length > 0)
    assert.equal(log.warnings()[0]?.code, 'raw_log_restarted')
    passThrough(copy, { id })
    assert.equal(log.status().dropped, 2)
    await assert.rejects(log.recent(1))
    await until(() => workers.length === 2)
    passBy(log, { id: under.nextId() })
    assert.equal((await under.entries()).length, 4)
    assert.equal(log.status().enabled, true)
    assert.deepEqual(log.warnings(), [])
    // What it has taken is brought to disk at a stop, as it was before.
    passBy(log, { id: under.nextId() })
    await log.close()
    assert.equal(log.status().dropped, 2)
  })

  test('one that ends with its last message has not failed', async () => {
    const workers: Worker[] = []
    const startWorker: typeof startPayloadWorker = (settings) =>
      workers[workers.push(startPayloadWorker(settings)) - 1]!
    await using under = await logUnderTest({ startWorker })
    passBy(under.log, { id: under.nextId() })
    assert.equal((await under.entries()).length, 2)
    // On a busy machine, Node may tell of both in one turn.
    workers[0]?.on('message', ({ kind }) => kind === 'closed' && workers[0]?.emit('exit', 0))
    await under.log.close()
    assert.deepEqual(under.log.warnings(), [])
  })

  test('one that hangs is told of after a while', async () => {
    const clock = new FakeClock()
    const startWorker: typeof startPayloadWorker = (settings) => {
      const worker = startPayloadWorker(settings)
      worker.postMessage = () => {}
      return worker
    }
    await using under = await logUnderTest({ clock, startWorker })
    passBy(under.log, { id: under.nextId() })
    await clock.advance(9000)
    assert.deepEqual(under.log.warnings(), [])
    await clock.advance(2000)
    assert.deepEqual(fieldsOf(under.log.warnings(), 'code'), ['raw_log_stalled'])
    const closed = under.log.close()
    await clock.advance(5000)
    await closed
  })

  test('one that cannot be started harms nobody', async () => {
    const startWorker = (): Worker => {
      throw new Error('no thread today')
    }
    await using under = await logUnderTest({ startWorker })
    assert.equal(passBy(under.log, { id: under.nextId() }), false)
    assert.match(under.log.warnings()[0]?.message ?? '', /no thread today/)
    assert.equal(under.log.status().dropped, 2)
    await assert.rejects(under.log.clear())
  })
})

describe('a file that cannot be written', () => {
  test('switches logging off, says so, and costs no call; on again, it is tried again', async (context) => {
    await using dir = await makeTempDir()
    using disk = fullDisk(dir.file('logger'))
    if (disk === null) return context.skip('nothing can be mounted here')
    await using under = await logUnderTest({ enabled: false, filePath: dir.file('logger/payloads.jsonl') })
    const { log } = under
    log.toggle(true, 60_000)
    using watched = new Watched(log)
    passBy(log, { id: under.nextId() })
    await until(() => !log.enabled && log.status().dropped > 0)
    const { trouble, dropped, enabled_until } = log.status()
    assert.match(trouble ?? '', /payloads\.jsonl: the disk is full/)
    assert.deepEqual([dropped, enabled_until], [2, null])
    assert.equal(log.warnings()[0]?.code, 'raw_log_off')
    await until(() => watched.events.length === 3)
    passBy(log, { id: under.nextId() })
    await until(() => watched.events.length === 6)
    rmSync(dir.file('logger/filler'))
    log.toggle(true, null)
    assert.deepEqual([log.status().trouble, log.warnings()], [null, []])
    passBy(log, { id: under.nextId() })
    assert.equal((await under.entries()).length, 2)
  })
})

test('a folder that cannot be made is told as soon as logging is switched on', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('logger'), 'a file')
  await using under = await logUnderTest({ filePath: dir.file('logger/payloads.jsonl') })
  await until(() => !under.log.enabled)
  assert.match(
    under.log.status().trouble ?? '',
    /payloads\.jsonl: (?:something has that name|a part of this path is a file)/,
  )
  await assert.rejects(under.log.recent(1))
})

describe('close', () => {
  test('brings to disk what is under way, and then takes nothing', async () => {
    await using under = await logUnderTest({ flushAfterMs: 1_000_000 })
    const id = under.nextId()
    passBy(under.log, { id })
    await under.log.close()
    const { request, answer } = payloadsOf(under.filePath, id)
    assert.ok(request !== null && answer !== null)
    assert.equal(passBy(under.log, { id: under.nextId() }), false)
    await assert.rejects(under.log.recent(1))
  })

  test('does not wait longer than it may for a thread that hangs', async () => {
    await using under = await logUnderTest({
      closeTimeoutMs: 50,
      startWorker: (settings) => {
        const worker = startPayloadWorker(settings)
        worker.postMessage = () => {}
        return worker
      },
    })
    passBy(under.log, { id: under.nextId() })
    const startedAtMs = performance.now()
    await under.log.close()
    assertWithin(1000, performance.now() - startedAtMs, 'closing')
    assert.equal(under.log.status().dropped, 2)
  })
})

/** A program or a test by which figures of `docs/internals/reliability.md` are measured. */
export interface MeasuredFigure {
  /** As the table of `docs/internals/reliability.md` names them: `['R6']`. */
  readonly figures: readonly string[]
  readonly goal: string
  /** What node is given. A program prints `measured: …`, or else its last line counts; of tests their number. */
  readonly run: readonly string[]
  /** In place of `run` where it must be quick; `null` where it is left out then. */
  readonly quick: readonly string[] | null
  readonly limitMs: number
  /** Takes so long that it runs only where it is named. */
  readonly isOnlyNamed?: true
}

const minuteMs = 60_000
const test = (...files: readonly string[]): readonly string[] => [
  '--test',
  '--test-reporter=tap',
  ...files.map((file) => `test/${file}.test.ts`),
]

const crowd = (name: string): string => `test/faults/crowds.ts --crowd ${name}`

/** All that one command measures, the longest last. */
export const figureList: readonly MeasuredFigure[] = [
  of('R1', 'malformed HTTP: none reaches the upstream', test('gateway/malformed-never-passes'), 5),
  of('R2 R3', 'hop-by-hop 0 leaks; every byte equal', test('gateway/bytes-in-bytes-out'), 5),
  of('R5', 'each event with the client before the next is sent', test('gateway/chunk-in-the-turn'), 5),
  of('R5', 'added to each event of 50 streams: p50 ≤ 0.5 ms, p99 ≤ 5 ms', 'test/faults/added-time.ts', 5),
  of('R7', 'who leaves is cancelled upstream, in every phase', test('gateway/you-leave-we-cancel'), 5),
  of('R9', 'stalled readers are cut off, others are served', test('gateway/slow-clients.long'), 5),
  of('R8', '1,000 stalled readers: ≤ +150 MB, /health ≤ 100 ms', crowd('stalled'), 5),
  of('R10', 'strict FIFO, never over the limit', test('gateway/at-most-n-at-once'), 5),
  of('R11', '10,000 refused: 503 in ≤ 5 ms, memory does not grow', crowd('refused'), 5),
  of('R20', '800 slow connections: /health ≤ 200 ms, others served', crowd('slowloris'), 5),
  of('R27', 'bombs pass as they are', test('wire/through-the-gateway.long'), 5),
  of('R28', 'heavy bodies: the event loop stands ≤ 50 ms', 'test/faults/heavy-bodies.ts', 5),
  of('R29', 'upstream is itself: 508, no storm', test('gateway/own-errors'), 5),
  of('R31', 'clock ±1 h: durations ≥ 0, one row each, budget right', test('gateway/clock-steps'), 5),
  of(
    'R38',
    'damaged messages between processes: none ends, nothing changes',
    test('supervisor/messages-between-processes.long'),
    5,
  ),
  of('R43', '100 stops at any moment: nothing left running, no stack printed', test('cli/moments.long'), 10),
  of(
    'R52',
    '20,000 hostile connections, reset, ended or left at each byte: alive, all slots back, no growth, each call one row',
    'test/faults/hostile.ts --connections 20000',
    10,
  ),
  of(
    'R54',
    '20,000 broken answers of an upstream, cut at each byte: alive, all slots back, no growth, each call one row, none looks finished',
    'test/faults/hostile.ts --answers 20000',
    20,
  ),
  of(
    'R53',
    'uploads of 10 MB, refused in 12 ways, by 6 programs: 100 of 100 refusals arrive each',
    'test/faults/hostile.ts --uploads 100',
    30,
  ),
  of('R21', '256 descriptors, 1,000 connects: no crash, well again', 'test/faults/few-descriptors.ts', 5),
  of(
    'R36',
    'proxies, other users, other machines: 0 own routes, key never lent',
    test(
      'gateway/other-users',
      'gateway/raw-log-access',
      'gateway/upstream-key',
      'dashboard/access',
      'deploy/reverse-proxies',
    ),
    5,
  ),
  of(
    'R49',
    'slots shared by gateways, 100,000 random schedules: never over the limit, all are served',
    'test/faults/slot-schedules.ts',
    10,
  ),
  of(
    'R50',
    'four upstreams, each killed, frozen, slowed; 100 edits: only calls fail that a killed one had been sent',
    'test/faults/upstreams-under-load.ts',
    5,
    { quick: 'test/faults/upstreams-under-load.ts --phase-s 1'.split(' ') },
  ),
  of('R18', 'a reader of 60 s: log ≤ 64 MB 10 s after, no record lost', 'test/faults/long-reader.ts', 5),
  of(
    'R39',
    '500 calls, each closed by the upstream: pool back to ≤ 10',
    ['--test', '--test-reporter=tap', 'src/gateway/upstream/undici-transport.test.ts'],
    5,
  ),
  of(
    'R40 R40b',
    'closed 0 to 40 ms after a stream: 0 of 1,000 failed; idle ones dropped after 1 s: ≤ 2% after a minute',
    'test/faults/closing-upstreams.ts',
    20,
  ),
  of(
    'R44',
    '800,000 tiny chunks at once: gaps of 50 streams ≤ +50 ms',
    'test/faults/flood-beside-streams.ts',
    5,
  ),
  of('R17', '19 shapes of damage: serves ≤ 1 s, old file kept', test('store/damaged-files.long'), 5),
  of(
    'R6',
    '0 of 1,000 deaths × 5 clients seen as a clean end',
    test('gateway/unfinished-never-looks-finished.long'),
    20,
  ),
  of(
    'R12 R13',
    '20 restarts, 500 calls/s, and some that fail: 0 failed or cut, no record lost, never over the limit',
    test('supervisor/hand-over.long'),
    10,
  ),
  of('R14', '100 kills: 0 rows lost, ≤ 100 ms of calls, integrity ok', test('gateway/kill-9.long'), 20),
  of('R16', '100% answered, degraded, well again ≤ 5 s, integrity ok', 'test/faults/live-storage.ts', 10, {
    quick:
      'test/faults/live-storage.ts --only refused --hold-ms 300 --slowest-ms 30000 --recover-ms 60000'.split(
        ' ',
      ),
  }),
  of(
    'R48',
    'tests that know how long a thing may take: each within its time',
    [
      '--test',
      '--test-reporter=tap',
      'src/gateway/recorder/stored-text.test.ts',
      'src/payloads/record/body-text.test.ts',
      'src/secrets/key-shapes.test.ts',
      'src/supervisor/log-line.test.ts',
      ...[
        'dashboard/events',
        'dashboard/query-bad-input',
        'demo/demo-traffic.long',
        'gateway/kept-connections',
      ]
        .concat('gateway/orderly-stop', 'payloads/raw-log', 'store/writer-thread')
        .concat('supervisor/log-file', 'wire/coded-answers')
        .map((file) => `test/${file}.test.ts`),
    ],
    10,
  ),
  of(
    'R33 R34 R35',
    '0 calls admitted across 30 kills, a locked database, 10 restarts; left streams: within 10%',
    test('gateway/budget-limits.long'),
    10,
  ),
  of(
    'R37',
    '8 gateways on one folder, one killed each minute: rows = calls, 0 written off that had ended',
    'test/faults/one-folder.ts --seconds 120',
    10,
  ),
  of(
    'R37',
    'the same, half of them in PID namespaces of their own',
    'test/faults/one-folder.ts --seconds 120 --namespaces',
    10,
  ),
  of(
    'R46',
    '8 gateways that share, some killed, stopped, cut off, 10 min at 500 calls/s: never over the limit, each call one row',
    'test/faults/sharing-gateways.ts',
    15,
  ),
  of(
    'R61',
    'limits a minute: 0 refused, no minute over, ≥ 95% used, with restarts and gateways that share',
    'test/faults/minute-limits.ts',
    10,
  ),
  of(
    'R60',
    'chaos for 30 min: strangers, broken answers, hostile files, kills, restarts, pauses beside clients with books',
    'test/faults/chaos.ts --minutes 30',
    40,
    { quick: 'test/faults/chaos.ts --minutes 0.2'.split(' '), isOnlyNamed: true },
  ),
  of(
    'R45',
    'a busy day in an hour: rows, tokens, costs as in the books of clients and upstream; memory and files within bounds',
    'test/faults/soak.ts',
    75,
    { isOnlyNamed: true },
  ),
  of('R30', '6 min of silence in each phase: all succeed', 'test/faults/long-silence.ts', 20),
]

function of(
  figures: string,
  goal: string,
  run: string | readonly string[],
  limitMinutes: number,
  more: Partial<MeasuredFigure> = {},
): MeasuredFigure {
  const words = typeof run === 'string' ? run.split(' ') : run
  return {
    figures: figures.split(' '),
    goal,
    run: words,
    quick: null,
    limitMs: limitMinutes * minuteMs,
    ...more,
  }
}
